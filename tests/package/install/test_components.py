#!/usr/bin/env python3
"""`cmake --install` of each component, and its archive and Debian package by CPack: together the
components are the whole installation, each has its files only, and no file contains a path of the
build. Hosts in C and C++ are built with the unpacked archives, and programs run from theirs.

usage: test_components.py CMAKE BUILD CXX
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

CMAKE, BUILD, CXX = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
ROOT = pathlib.Path(__file__).resolve().parents[3]
LICENCE = "share/doc/k8s_sd/LICENSE"
# The files of a component match one of its patterns.
CONTENT = {
    "lib": r"lib(64)?/(.*/)?libk8s_sd(_scrape|_sim)?\.so\.[\d.]+",
    "dev": r"include/k8s_sd/.*\.[hi]pp|lib(64)?/(.*/)?(libk8s_sd(_scrape|_sim)?\.(a|so)"
           r"|cmake/k8s_sd/.*\.cmake|pkgconfig/k8s_sd[\w-]*\.pc)",
    "tools": r"bin/[\w-]+|share/(man/man1/[\w-]+\.1|bash-completion/completions/[\w-]+"
             r"|fish/vendor_completions\.d/[\w-]+\.fish|zsh/site-functions/_[\w-]+)",
    "c": r"include/k8s_sd_c\.h|lib(64)?/(.*/)?(libk8s_sd_c\.(a|so(\.[\d.]+)?)"
         r"|pkgconfig/k8s_sd_c\.pc|cmake/k8s_sd_c/.*\.cmake)",
}
TEXT = (".cmake", ".pc", ".hpp", ".ipp", ".h")


def files_below(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def install(folder, *options, **environment):
    result = subprocess.run([CMAKE, "--install", BUILD, "--prefix", folder, *options], text=True,
                            capture_output=True, check=False, env={**os.environ, **environment})
    if result.returncode:
        raise AssertionError(result.stdout + result.stderr)
    return files_below(pathlib.Path(folder))


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
            if "bin/kubectl-sd" in found.get("tools", ()):
                self.assertLessEqual({"share/man/man1/k8s-sd.1", "bin/kubectl_complete-sd",
                                      "share/bash-completion/completions/kubectl-sd"},
                                     found["tools"])
            self.check_paths(pathlib.Path(scratch, "whole"))

    def test_with_destdir_nothing_is_written_elsewhere(self):
        if "tools" not in components():
            self.skipTest("this build has no programs")
        before = files_below(BUILD)
        with tempfile.TemporaryDirectory() as scratch:
            install("/nonexistent/prefix", "--component", "tools", DESTDIR=scratch)
            found = files_below(pathlib.Path(scratch))
            self.assertTrue(all(file.startswith("nonexistent/prefix/") for file in found), found)
            self.assertEqual({file.removeprefix("nonexistent/prefix/") for file in found},
                             install(f"{scratch}/whole", "--component", "tools"))
        self.assertFalse(pathlib.Path("/nonexistent").exists())
        manifests = {f"install_manifest{part}.txt" for part in ("", "_tools")}
        self.assertEqual(files_below(BUILD) - manifests, before - manifests)

    def check_paths(self, whole):
        for file in whole.rglob("*"):
            if file.suffix in TEXT and file.is_file():
                text = file.read_text(encoding="utf-8")
                for folder in (str(BUILD), str(ROOT), str(whole)):
                    self.assertNotIn(folder + os.sep, text, file)


HOST = """cmake_minimum_required(VERSION 3.23)
project(host LANGUAGES CXX)
find_package(k8s_sd CONFIG REQUIRED)
add_executable(host host.cpp)
target_link_libraries(host PRIVATE k8s_sd::k8s_sd)
"""
HOST_SOURCE = """#include <iostream>
#include <k8s_sd/error.hpp>
int main() { std::cout << make_error_code(k8s_sd::errc::ping_timeout).message() << '\\n'; }
"""
C_HOST = """cmake_minimum_required(VERSION 3.23)
project(host LANGUAGES CXX)
find_package(k8s_sd_c CONFIG REQUIRED)
add_executable(host host.cpp)
target_link_libraries(host PRIVATE k8s_sd::c)
"""
C_HOST_SOURCE = """#include <iostream>
#include <k8s_sd_c.h>
int main() { std::cout << k8s_sd_version() << '\\n'; }
"""


class Archives(unittest.TestCase):
    """The archives and packages of all components that have one."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        text = (BUILD / "CPackConfig.cmake").read_text(encoding="utf-8")
        cls.names = re.search(r'CPACK_COMPONENTS_ALL "([\w;]+)"', text)[1].split(";")
        cls.pack("TGZ")
        for name in cls.names:
            with tarfile.open(next(cls.folder.glob(f"*-{name}.tar.gz"))) as archive:
                archive.extractall(cls.folder / "unpacked" / name)

    @classmethod
    def pack(cls, generator):
        result = subprocess.run(
            [pathlib.Path(CMAKE).with_name("cpack"), "-G", generator, "-B", cls.folder,
             "--config", BUILD / "CPackConfig.cmake"],
            text=True, capture_output=True, check=False, cwd=cls.folder)
        if result.returncode:
            raise AssertionError(result.stdout + result.stderr)

    def root(self, name):
        """The only folder of the archive, a prefix of its own."""
        (folder,) = (self.folder / "unpacked" / name).iterdir()
        return folder

    def output(self, *command, **environment):
        environment = {**os.environ, **environment, "LD_LIBRARY_PATH": ":".join(
            {str(path.parent) for path in (self.folder / "unpacked").rglob("*.so.*")})}
        result = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                                check=False, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def build_and_run(self, project, source, *prefixes):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "CMakeLists.txt").write_text(project, encoding="utf-8")
            (folder / "host.cpp").write_text(source, encoding="utf-8")
            self.output(CMAKE, "-S", folder, "-B", folder / "build",
                        f"-DCMAKE_CXX_COMPILER={CXX}",
                        f"-DCMAKE_PREFIX_PATH={';'.join(map(str, prefixes))}")
            self.output(CMAKE, "--build", folder / "build")
            return self.output(folder / "build/host")

    def test_each_has_the_files_of_its_component(self):
        for name in self.names:
            with tempfile.TemporaryDirectory() as scratch:
                self.assertEqual(files_below(self.root(name)),
                                 install(scratch, "--component", name), name)

    def test_hosts_use_the_unpacked_libraries(self):
        if "lib" not in self.names:  # the archive of shared libraries is a second prefix
            text = self.build_and_run(HOST, HOST_SOURCE, self.root("dev"))
            self.assertIn("PING", text)
        if "c" in self.names:
            version = self.build_and_run(C_HOST, C_HOST_SOURCE, self.root("c"))
            self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_programs_run_where_they_are(self):
        if "tools" not in self.names:
            self.skipTest("this build has no programs")
        programs = sorted((self.root("tools") / "bin").iterdir())
        self.assertIn("k8s-sd", [path.name for path in programs])
        for program in programs:
            if program.name == "kubectl_complete-sd":
                self.assertIn("why\n", self.output(program, ""))
            else:
                self.assertRegex(self.output(program, "--version"), r"\d+\.\d+\.\d+\n$")

    def test_each_program_has_a_manual_page_with_its_options(self):
        pages = self.root("tools") / "share/man/man1" if "tools" in self.names else None
        if not pages or not pages.is_dir():
            self.skipTest("this build has no manual pages")
        for command in (["discover"], ["k8s-sd"], ["k8s-sd", "follow"], ["kubectl-sd", "why"],
                        ["kubectl-sd", "targets"]):
            page = (pages / f"{command[0]}.1").read_text(encoding="utf-8").replace("\\-", "-")
            self.assertRegex(page, "^\\.TH ")
            text = self.output(self.root("tools") / "bin" / command[0], *command[1:], "--help")
            options = re.findall(r"^  (--[\w-]+)", text, re.MULTILINE)
            self.assertGreater(len(options), 5, command)
            for option in set(options) - {"--help"}:
                self.assertIn(option, page, command)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl_runs_the_plugin_and_completes_its_words(self):
        if "tools" not in self.names:
            self.skipTest("this build has no programs")
        path = f"{self.root('tools') / 'bin'}:{os.environ['PATH']}"
        with tempfile.TemporaryDirectory() as scratch:
            jobs = pathlib.Path(scratch, "jobs.yml")
            jobs.write_text("scrape_configs: [{job_name: pods, "
                            "kubernetes_sd_configs: [{role: pod}]}]\n", encoding="utf-8")
            answer = self.output("kubectl", "sd", "why", "orders-db-0", "-n", "shop", "--sim",
                                 "--config", jobs, PATH=path)
            self.assertRegex(answer, r"(?m)^JOB +OBJECT +TARGET +SCRAPED +REASON$")
            self.assertRegex(answer, r"(?m)^pods +pod/shop/orders-db-0 .* yes\b")
            table = self.output("kubectl", "sd", "targets", "--sim", "--config", jobs, PATH=path)
            self.assertIn("10.", table)
            self.assertIn("endpointslices", self.output(
                "kubectl", "sd", "rbac", "--role", "endpointslice", "--service-account", "a/b",
                PATH=path))
        if (self.root("tools") / "bin/kubectl_complete-sd").exists():
            self.assertIn("why\n", self.output("kubectl", "__complete", "sd", "", PATH=path))

    @unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
    def test_packages_have_the_same_files_and_their_dependencies(self):
        self.pack("DEB")
        for name in self.names:
            package = next(self.folder.glob(f"k8s-sd-local-{name}_*.deb"))
            target = self.folder / "debian" / name
            target.mkdir(parents=True)
            self.output("dpkg-deb", "--extract", package, target)
            # The folder of libraries is Debian's in one of them.
            self.assertEqual(
                {re.sub(r"lib/[\w-]+-linux-gnu\w*/", "lib/", file)
                 for file in files_below(target / "usr")},
                {re.sub(r"lib/[\w-]+-linux-gnu\w*/", "lib/", file)
                 for file in files_below(self.root(name)) - {LICENCE}} |
                {f"share/doc/k8s-sd-local-{name}/copyright"})
            depends = self.output("dpkg-deb", "--field", package, "Depends")
            if name == "dev":
                self.assertIn("libboost1.81-dev", depends)
            elif shutil.which("dpkg-shlibdeps"):
                self.assertIn("libssl3", depends)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
