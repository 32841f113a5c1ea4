#!/usr/bin/env python3
"""`cmake --install` of each component, and an archive of CPack: together the components are the
whole installation, each has its files only, and no file contains a path of the build.

usage: test_components.py CMAKE BUILD
"""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parents[3]
LICENCE = "share/doc/k8s_sd/LICENSE"
# The files of a component match one of its patterns.
CONTENT = {
    "lib": r"lib(64)?/(.*/)?libk8s_sd(_scrape|_sim)?\.so\.[\d.]+",
    "dev": r"include/k8s_sd/.*\.[hi]pp|lib(64)?/(.*/)?(libk8s_sd(_scrape|_sim)?\.(a|so)"
           r"|cmake/k8s_sd/.*\.cmake|pkgconfig/k8s_sd[\w-]*\.pc)",
    "tools": r"bin/[\w-]+",
    "c": r"include/k8s_sd_c\.h|lib(64)?/(.*/)?(libk8s_sd_c\.(a|so(\.[\d.]+)?)"
         r"|pkgconfig/k8s_sd_c\.pc|cmake/k8s_sd_c/.*\.cmake)",
}
TEXT = (".cmake", ".pc", ".hpp", ".ipp", ".h")


def install(folder, *options):
    result = subprocess.run([CMAKE, "--install", BUILD, "--prefix", folder, *options], text=True,
                            capture_output=True, check=False)
    if result.returncode:
        raise AssertionError(result.stdout + result.stderr)
    root = pathlib.Path(folder)
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def components():
    """The components of the installation, by its own script."""
    text = "".join(path.read_text(encoding="utf-8")
                   for path in BUILD.rglob("cmake_install.cmake"))
    return set(re.findall(r'CMAKE_INSTALL_COMPONENT STREQUAL "([\w-]+)"', text))


class Components(unittest.TestCase):
    def test_together_they_are_the_installation(self):
        with tempfile.TemporaryDirectory() as scratch:
            found = {name: install(f"{scratch}/{name}", "--component", name)
                     for name in components()}
            self.assertLessEqual(set(found), set(CONTENT))
            for name, files in found.items():
                self.assertIn(LICENCE, files)
                for file in files - {LICENCE}:
                    self.assertRegex(file, rf"^({CONTENT[name]})$", name)
            self.assertEqual(set().union(*found.values()), install(f"{scratch}/whole"))
            self.assertIn("include/k8s_sd/discoverer.hpp", found["dev"])
            self.check_paths(pathlib.Path(scratch, "whole"))

    def check_paths(self, whole):
        for file in whole.rglob("*"):
            if file.suffix in TEXT and file.is_file():
                text = file.read_text(encoding="utf-8")
                for folder in (str(BUILD), str(ROOT), str(whole)):
                    self.assertNotIn(folder + os.sep, text, file)

    def test_an_archive_has_the_files_of_its_component(self):
        if "tools" not in components():
            self.skipTest("this build has no programs")
        with tempfile.TemporaryDirectory() as scratch:
            result = subprocess.run(
                [pathlib.Path(CMAKE).with_name("cpack"), "-G", "TGZ", "-B", scratch,
                 "-D", "CPACK_COMPONENTS_ALL=tools", "--config", BUILD / "CPackConfig.cmake"],
                text=True, capture_output=True, check=False, cwd=scratch)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            archives = list(pathlib.Path(scratch).glob("*.tar.gz"))
            self.assertEqual([path.name.endswith("-tools.tar.gz") for path in archives], [True])
            with tarfile.open(archives[0]) as archive:
                names = [entry.name for entry in archive.getmembers() if entry.isfile()]
        self.assertTrue(any(name.endswith("/bin/k8s-sd") for name in names), names)
        self.assertTrue(any(name.endswith(LICENCE) for name in names), names)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
