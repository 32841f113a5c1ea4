"""Whether the first steps of docs/guide/operating.md do what the page says."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import harness
from harness import TIMEOUT, file_with, run, running

PAGE = pathlib.Path(__file__).parents[3] / "docs/guide/operating.md"


def blocks():
    """The code blocks of the page."""
    return re.findall(r"^```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"),
                      re.MULTILINE | re.DOTALL)


class FirstSteps(unittest.TestCase):
    def setUp(self):
        first, self.log, *_ = blocks()
        self.jobs = re.search(r"<<'YAML'\n(.*?)^YAML$", first, re.MULTILINE | re.DOTALL)[1]

    def test_the_jobs_pass_the_check(self):
        commands = blocks()[0].rpartition("k8s-sd --sim")[0]
        program = harness.command("k8s-sd", ())[0]
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(["bash", "-euc", commands.replace("k8s-sd", program)],
                                    cwd=folder, env=harness.environment(), capture_output=True,
                                    text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_log_is_that_of_the_page(self):
        def shape(line):
            return re.sub(r"\d+", "N", re.sub(harness.TIME, "", line))
        wanted = list(map(shape, self.log.splitlines()))
        with file_with(self.jobs, "jobs.yml") as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--config", config) as program:
            self.assertEqual([shape(program.log_line()) for _ in wanted], wanted)

    def test_the_question_has_the_answer_of_the_page(self):
        question, answer = next((question, answer) for question, answer
                                in zip(blocks(), blocks()[1:]) if "kubectl sd why" in question)
        with file_with(self.jobs, "jobs.yml") as config:
            words = question.split()[2:]
            words[words.index("jobs.yml")] = config
            result = run("kubectl-sd", *words, "--sim")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line, shown in zip(result.stdout.splitlines(), answer.splitlines(), strict=True):
            self.assertTrue(line.startswith(shown.rstrip("…")), line)

    def test_the_permissions_can_be_printed(self):
        command = next(block for block in blocks() if "--print-rbac" in block).splitlines()[0]
        words = command.partition(" |")[0].split()
        self.assertEqual(run(*words).returncode, 0)


if __name__ == "__main__":
    unittest.main()
