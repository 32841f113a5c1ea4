"""scripts/manual: manual pages and completions have every option of the programs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness
from harness import TIMEOUT, run

SCRIPT = pathlib.Path(__file__).parents[3] / "scripts/manual"
COMMANDS = (("discover",), ("k8s-sd",), ("k8s-sd", "follow"), ("kubectl-sd", "why"),
            ("kubectl-sd", "targets"), ("kubectl-sd", "check"), ("kubectl-sd", "rbac"))


@unittest.skipUnless(os.path.exists(harness.command("kubectl-sd", ())[0]),
                     "built without k8s_sd::scrape")
class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([sys.executable, str(SCRIPT), harness.FOLDER, folder.name], check=True,
                       env=harness.environment(), timeout=TIMEOUT)

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def options(self, command):
        text = run(*command, "--help").stdout
        found = set(re.findall(r"^  (--[a-z0-9-]+)", text, re.MULTILINE)) - {"--help"}
        # `kubectl sd check` is `discover --check`.
        return found - {"--check", "--print-rbac"} if command[0] == "kubectl-sd" else found

    def zsh_of(self, command):
        """The part for this command in the completion for zsh."""
        text = self.text(f"zsh/site-functions/_{command[0]}")
        parts = re.findall(r"^if ([^\n]*); then\n  options=\((.*?)^  \)", text,
                           re.MULTILINE | re.DOTALL)
        return next(part for test, part in parts
                    if re.search(rf"\b{command[1]}\b" if command[1:] else "true", test))

    def test_every_option_is_in_each_file(self):
        for command in COMMANDS:
            program = command[0]
            page = self.text(f"man/man1/{program}.1").replace("\\-", "-")
            zsh = self.zsh_of(command)
            fish = [line for line in self.text(f"fish/vendor_completions.d/{program}.fish")
                    .splitlines() if " ".join(command[1:]) in line]
            options = self.options(command)
            self.assertGreater(len(options), 8)
            for option in options:
                with self.subTest(command=command, option=option):
                    self.assertIn(f"\\fB{option}\\fR", page)
                    self.assertIn(f"'*{option}[", zsh)
                    self.assertTrue(any(f" -l {option[2:]} " in line for line in fish))
            self.assertEqual(set(self.complete(*command, "--")), options | {"--help"})

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_have_no_mistakes(self):
        for page in sorted((self.folder / "man/man1").iterdir()):
            result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(page)],
                                    capture_output=True, text=True, timeout=TIMEOUT, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("NAME", re.sub("\x1b.*?m|.\b", "", result.stdout))

    def test_the_same_programs_give_the_same_page_under_another_name(self):
        name, environment = "k8s-sd-discover", {**harness.environment(), "SOURCE_DATE_EPOCH": "0"}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, str(SCRIPT), "--rename", f"discover={name}",
                            harness.FOLDER, folder], check=True, env=environment, timeout=TIMEOUT)
            page = pathlib.Path(folder, f"man/man1/{name}.1").read_text(encoding="utf-8")
            completion = pathlib.Path(folder, f"bash-completion/completions/{name}")
            self.assertIn(f" _k8s_sd_discover {name}\n", completion.read_text(encoding="utf-8"))
        version = run("discover", "--version").stdout.split()[-1]
        self.assertIn(f'.TH K8S\\-SD\\-DISCOVER 1 "1970-01-01" "k8s_sd {version}" ', page)
        self.assertRegex(page, r"\.SH SYNOPSIS\n\.nf\nk8s\\-sd\\-discover \[OPTION\]")

    def complete(self, *words):
        """The proposals of bash for the last word."""
        program = words[0]
        script = (f"source {self.folder}/bash-completion/completions/{program}\n"
                  f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}\n"
                  f"_{program.replace('-', '_')}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                                timeout=TIMEOUT, check=True)
        return result.stdout.split()

    def test_bash_completes_options_commands_and_files(self):
        self.assertEqual(self.complete("discover", "--own-"), ["--own-namespace"])
        self.assertEqual(self.complete("k8s-sd", "fo"), ["follow"])
        self.assertEqual(self.complete("k8s-sd", "follow", "--write-"), ["--write-dir"])
        self.assertNotIn("--threads", self.complete("k8s-sd", "follow", "--"))
        self.assertIn("--threads", self.complete("k8s-sd", "--"))
        self.assertEqual(self.complete("kubectl-sd", "w"), ["why"])
        self.assertEqual(self.complete("kubectl-sd", "rbac", "--mon"), ["--monitors"])
        file = str(self.folder / "man")
        self.assertEqual(self.complete("k8s-sd", "--config", file), [file])

    def test_kubectl_completes_the_plugin(self):
        program = str(self.folder / "kubectl_complete-sd")
        commands = subprocess.run([program], capture_output=True, text=True, timeout=TIMEOUT,
                                  check=True).stdout.split()
        self.assertEqual(commands, ["why", "targets", "check", "rbac", ":0"])
        for command in ("why", "targets", "check", "rbac"):
            options = subprocess.run([program, command, "--"], capture_output=True, text=True,
                                     timeout=TIMEOUT, check=True).stdout.split()
            self.assertEqual(self.options(("kubectl-sd", command)), set(options) - {":0"})

    def check_syntax(self, shell, pattern):
        paths = sorted(self.folder.glob(pattern))
        self.assertEqual(len(paths), 3)
        for path in paths:
            subprocess.run([shell, "-n", str(path)], timeout=TIMEOUT, check=True)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_accepts_its_files(self):
        self.check_syntax("zsh", "zsh/site-functions/*")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_accepts_its_files(self):
        self.check_syntax("fish", "fish/vendor_completions.d/*")


if __name__ == "__main__":
    unittest.main()
