"""Whether src/programs/k8s-sd/Containerfile makes an image in which k8s-sd runs.

The tests build no image: they check the copied and installed files, and run this build's program
with only the libraries it names."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import FOLDER, TIMEOUT, environment

ROOT = pathlib.Path(__file__).parents[3]
FILE = ROOT / "src/programs/k8s-sd/Containerfile"
PROGRAM = os.path.join(FOLDER, "k8s-sd")
NOBODY = 65532


def instructions():
    """Each instruction with its text, on one line."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines()
             if not line.lstrip().startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line]


def stages():
    """The instructions of each stage without FROM, and the base image of the stage."""
    found = []
    for name, text in instructions():
        if name == "FROM":
            found.append((text, []))
        else:
            found[-1][1].append((name, text))
    return found


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True,
                          timeout=TIMEOUT).stdout


def libraries():
    """The libraries of the program, with the loader."""
    return re.findall(r"(?:=> |^\s*)(/\S+) \(0x", output("ldd", PROGRAM), re.MULTILINE)


def owner(library):
    """The package that owns the library; the path from ldd may contain a symbolic link."""
    real = os.path.realpath(library)
    for path in dict.fromkeys((library, real, real.removeprefix("/usr"))):
        result = subprocess.run(["dpkg", "-S", path], text=True, capture_output=True, check=False,
                                timeout=TIMEOUT)
        if result.returncode == 0:
            return result.stdout.split(":")[0]
    raise AssertionError(f"no package has {library}")


def installed_packages():
    """The packages named in the second stage."""
    command = next(text for name, text in stages()[-1][1] if name == "RUN")
    match = re.search(r"apt-get install -y --no-install-recommends ([^&]*)&&", command)
    return match[1].split()


def depends(package):
    """The dependencies of this package."""
    text = output("dpkg-query", "-W", "-f", "${Depends}, ${Pre-Depends}\n", package)
    return set(re.findall(r"(?:^|[,|\n])\s*([a-z0-9][a-z0-9.+-]*)", text))


def same_release():
    """Whether this machine runs the Debian release of the image."""
    release = re.search(r"debian:(\d+)", stages()[-1][0])[1]
    try:
        text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return False
    return "\nID=debian\n" in text and f'\nVERSION_ID="{release}"\n' in text


def system_libraries_only():
    return all(path.startswith(("/lib", "/usr/lib")) for path in libraries())


class ContainerFile(unittest.TestCase):
    def test_there_is_a_stage_that_builds_and_one_that_runs(self):
        (build, _), (runtime, steps) = stages()
        self.assertRegex(build, r"/debian:\d+ AS build$")
        # The stages need the same release, or the libraries differ.
        self.assertEqual(build.split()[0] + "-slim", runtime)
        given = dict(steps)
        self.assertEqual(given["COPY"], "--from=build /usr/local/bin/k8s-sd /usr/local/bin/k8s-sd")
        self.assertEqual(given["ENTRYPOINT"], '["/usr/local/bin/k8s-sd"]')
        self.assertEqual(given["USER"], f"{NOBODY}:{NOBODY}")
        self.assertEqual(given["EXPOSE"], "8080")

    def test_what_it_copies_is_in_the_project(self):
        for name, text in stages()[0][1]:
            if name == "COPY":
                *sources, _ = text.split()
                for source in sources:
                    self.assertTrue((ROOT / source).exists(), source)

    def test_it_builds_as_the_project_says(self):
        commands = " ".join(text for name, text in stages()[0][1] if name == "RUN")
        self.assertIn("scripts/install-dependencies", commands)
        self.assertIn("cmake --build --preset release --target k8s-sd", commands)
        self.assertIn("cmake --install build/release --component tools --prefix /usr/local",
                      commands)
        text = (ROOT / "src/programs/CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn("install(TARGETS ${name} COMPONENT tools)", text)
        for name in ("discover", "k8s-sd"):  # a component is installed as a whole
            self.assertRegex(commands, rf"--target [^&]*\b{name}\b")
            self.assertRegex(text, rf"(?m)^k8s_sd_installed_program\({name} ")

    @unittest.skipUnless(shutil.which("apt-cache") and same_release(),
                         "apt-cache of the image's release of Debian is not here")
    def test_apt_knows_every_package(self):
        for package in installed_packages():
            self.assertRegex(output("apt-cache", "policy", package), r"Candidate: \d", package)

    @unittest.skipUnless(shutil.which("dpkg") and same_release(),
                         "dpkg of the image's release of Debian is not here")
    def test_every_library_of_the_program_is_installed(self):
        if not system_libraries_only():
            self.skipTest("this build has shared libraries of its own; that of the image has none")
        named = set(installed_packages())
        owners = {owner(library) for library in libraries()}
        there = named.union(*(depends(package) for package in named))
        self.assertLessEqual(owners, there)
        # No other package is installed.
        self.assertLessEqual(named, owners)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("chroot"), "chroot needs root")
    def test_the_program_runs_among_its_libraries_alone(self):
        if not system_libraries_only():
            self.skipTest("this build has shared libraries of its own; that of the image has none")
        with tempfile.TemporaryDirectory() as root:
            for source in (PROGRAM, *libraries()):
                target = root + ("/usr/local/bin/k8s-sd" if source == PROGRAM else source)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(source, target)
            os.chmod(root, 0o755)
            inside = ["chroot", f"--userspec={NOBODY}:{NOBODY}", root, "/usr/local/bin/k8s-sd"]
            self.assertRegex(output(*inside, "--version"), r"\d")
            with subprocess.Popen([*inside, "--sim", "--listen", "127.0.0.1:0"], text=True,
                                  env=environment(), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as program:
                try:
                    self.assertRegex(program.stdout.readline(), r"^listens at http://127\.0\.0\.1:")
                finally:
                    program.terminate()
                    program.communicate(timeout=TIMEOUT)
                self.assertEqual(program.returncode, 0)


if __name__ == "__main__":
    unittest.main()
