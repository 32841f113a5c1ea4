"""Whether systemd accepts the units of examples/systemd, and how it rates them. ctest reports the
test as skipped where systemd-analyze is missing or does not work."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import TIMEOUT

FOLDER = pathlib.Path(__file__).parents[3] / "examples/systemd"


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
class Units(unittest.TestCase):
    def analyze(self, name, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            program = harness.command("k8s-sd", ())[0]
            text = (FOLDER / name).read_text(encoding="utf-8")
            path = pathlib.Path(folder, name)
            path.write_text(text.replace("/usr/bin/k8s-sd", program), encoding="utf-8")
            return subprocess.run(["systemd-analyze", *arguments, str(path)], text=True,
                                  capture_output=True, timeout=TIMEOUT, check=False)

    def assert_accepted(self, name):
        result = self.analyze(name, "verify", "--man=no")
        if "Failed to initialize manager" in result.stderr:
            self.skipTest("systemd-analyze does not work here")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn(name.partition(".")[0] + ".service:", result.stderr)

    def test_systemd_accepts_the_unit(self):
        self.assert_accepted("k8s-sd.service")

    def test_systemd_accepts_the_unit_that_follows(self):
        self.assert_accepted("k8s-sd-follow@.service")

    def test_systemd_finds_little_exposure(self):
        result = self.analyze("k8s-sd.service", "security", "--offline=true", "--threshold=20")
        if "unrecognized option" in result.stderr or "Overall" not in result.stdout:
            self.skipTest("an old systemd")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    harness.main()
