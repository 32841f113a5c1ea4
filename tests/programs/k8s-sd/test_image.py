"""Whether scripts/image makes a root file system in which k8s-sd runs, and whether
src/programs/k8s-sd/Containerfile makes the same image.

The tests build no image with a container engine: they check the copied files, and run this build's
program in the root file system, read-only and as an unprivileged user."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from containerfile import FILE, ROOT, stages
from harness import FOLDER, TIMEOUT, environment

SCRIPT = ROOT / "scripts/image"
PROGRAM = os.path.join(FOLDER, "k8s-sd")
USER = 65532
# Enters the root file system $0, read-only, and runs the other arguments there: as root, or in user
# namespaces.
AS_ROOT = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
           'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && '
           f'exec chroot --userspec={USER}:{USER} "$0" "$@"']
AS_USER = ["unshare", "--map-root-user", "--mount", "--propagation", "private", "sh", "-c",
           'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && '
           f'exec unshare --user --map-user={USER} --map-group={USER} --root="$0" --wd=/ "$@"']
ENTER = AS_ROOT if os.geteuid() == 0 else AS_USER


def copy(words, folder):
    """COPY SOURCE... TARGET, from the project."""
    *sources, target = words
    for source in sources:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, folder / target)
        else:
            (folder / target).mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, folder / target)


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True,
                          timeout=TIMEOUT).stdout


def make(folder, *options):
    """The root file system of this build's program, below the folder."""
    root = folder / "root"
    subprocess.run([sys.executable, SCRIPT, *options, PROGRAM, root], check=True,
                   capture_output=True, timeout=2 * TIMEOUT)
    folder.chmod(0o755)
    return root


def files_of(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def has_own_libraries():
    return not all(path.startswith(("/lib", "/usr/lib"))
                   for path in re.findall(r"=> (/\S+) \(0x", output("ldd", PROGRAM)))


class ContainerFile(unittest.TestCase):
    def test_there_is_a_stage_that_builds_and_one_that_runs(self):
        (build, _), (runtime, steps) = stages()
        self.assertRegex(build, r"/debian:\d+ AS build$")
        self.assertEqual(runtime, "scratch")
        given = dict(steps)
        self.assertEqual(given["COPY"], "--from=build /image /")
        self.assertEqual(given["ENTRYPOINT"], '["/usr/local/bin/k8s-sd"]')
        self.assertEqual(given["USER"], f"{USER}:{USER}")
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
        self.assertIn("cmake --build --preset release --target k8s-sd ", commands)
        self.assertIn("scripts/image --strip build/release/examples/k8s-sd /image", commands)

    def test_it_copies_all_that_its_commands_read(self):
        """`cmake` configures the copied files alone, as in the first stage."""
        with tempfile.TemporaryDirectory() as scratch:
            for name, text in stages()[0][1]:
                if name == "COPY":
                    copy(text.split(), pathlib.Path(scratch))
            for script in re.findall(r"scripts/[\w-]+", FILE.read_text(encoding="utf-8")):
                self.assertTrue(pathlib.Path(scratch, script).exists(), script)
            command = next(re.search(r"cmake --preset release[^&]*", text)[0]
                           for name, text in stages()[0][1] if "cmake --preset" in text)
            # Neither compilers nor dependencies are those of the image.
            options = [word for word in command.split() if word.startswith("-D")]
            result = subprocess.run(["cmake", "--preset", "release", *options], cwd=scratch,
                                    text=True, capture_output=True, check=False,
                                    timeout=2 * TIMEOUT)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


@unittest.skipUnless(shutil.which("ldd"), "ldd is not here")
class RootFileSystem(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_it_contains_only_what_runs(self):
        for file in sorted(files_of(make(self.folder))):
            self.assertRegex(
                file, r"^(usr/local/bin/k8s-sd|etc/(passwd|group|nsswitch\.conf)"
                      r"|etc/ssl/certs/ca-certificates\.crt|var/lib/dpkg/status\.d/[\w.+-]+"
                      r"|.*/(lib[\w.+-]+\.so(\.[\d.]+)?|ld-[\w.-]+\.so\.\d+))$")

    def test_the_archive_has_the_same_files_under_their_digests(self):
        archive = self.folder / "image.tar"
        root = make(self.folder, "--oci", archive)
        with tarfile.open(archive) as outer:
            def blob(described):
                name = described["digest"].replace(":", "/")
                content = outer.extractfile(f"blobs/{name}").read()
                self.assertEqual(hashlib.sha256(content).hexdigest(), pathlib.Path(name).name)
                self.assertEqual(len(content), described["size"])
                return content

            index = json.load(outer.extractfile("index.json"))
            manifest = json.loads(blob(index["manifests"][0]))
            configuration = json.loads(blob(manifest["config"]))
            layer = self.folder / "layer.tar.gz"
            layer.write_bytes(blob(manifest["layers"][0]))
        self.assertEqual(configuration["config"]["Entrypoint"], ["/usr/local/bin/k8s-sd"])
        self.assertEqual(configuration["config"]["User"], f"{USER}:{USER}")
        with tarfile.open(layer) as inner:
            entries = inner.getmembers()
        self.assertEqual({entry.name for entry in entries if entry.isfile()}, files_of(root))
        self.assertEqual({(entry.uid, entry.gid) for entry in entries}, {(0, 0)})

    def test_a_used_folder_is_refused(self):
        (self.folder / "file").touch()
        result = subprocess.run([sys.executable, SCRIPT, PROGRAM, self.folder], text=True,
                                capture_output=True, check=False, timeout=TIMEOUT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("is not empty", result.stderr)

    def test_the_program_runs_read_only_as_an_unprivileged_user(self):
        if has_own_libraries():
            self.skipTest("this build has shared libraries of its own; that of the image has none")
        root = make(self.folder)
        inside = [*ENTER, root]
        entered = subprocess.run([*inside, "/usr/local/bin/k8s-sd", "--version"], text=True,
                                 capture_output=True, check=False, timeout=TIMEOUT)
        if "unshare: " in entered.stderr or "mount: " in entered.stderr:
            self.skipTest(f"this kernel permits no namespace: {entered.stderr.strip()}")
        self.assertRegex(entered.stdout, r"\d", entered.stderr)
        shell = subprocess.run([*inside, "/bin/sh", "-c", "true"], text=True, capture_output=True,
                               check=False, timeout=TIMEOUT)
        self.assertNotEqual(shell.returncode, 0)
        with subprocess.Popen([*inside, "/usr/local/bin/k8s-sd", "--sim", "--listen",
                               "127.0.0.1:0"], text=True, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            try:
                self.assertRegex(program.stdout.readline(), r"^listens at http://127\.0\.0\.1:")
            finally:
                program.terminate()
                program.communicate(timeout=TIMEOUT)
            self.assertEqual(program.returncode, 0)


if __name__ == "__main__":
    unittest.main()
