"""Whether the first steps of docs/guide/operating.md do what the page says."""

import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request

import harness
from harness import TIMEOUT, file_with, run, running, simulated_cluster

PAGE = pathlib.Path(__file__).parents[3] / "docs/guide/operating.md"
KUBECONFIG = """
clusters: [{name: k, cluster: {server: '%s'}}]
contexts: [{name: c, context: {cluster: k}}]
current-context: c
"""


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

    def test_the_permissions_can_be_checked(self):
        command = next(block for block in blocks() if "--check --role" in block).splitlines()[1]
        with simulated_cluster() as url, file_with(KUBECONFIG % url, "config") as path:
            result = run(*command.replace("~/.kube/config", path).split())
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("list pods in all namespaces: allowed", result.stdout)

    def test_a_mended_rule_makes_the_pod_a_target(self):
        with file_with(self.jobs, "jobs.yml") as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--config", config,
                "--check-interval", "0.1") as program:
            url = program.line_with(r"^listens at (http://.*)$").group(1)
            program.wait_for_list("pods")

            def scraped():
                table = run("kubectl-sd", "why", "orders-db-0", "-n", "shop", "--from", url)
                self.assertEqual(table.returncode, 0, table.stderr)
                return re.split(" {3,}", table.stdout.splitlines()[1])[3]
            self.assertEqual(scraped(), "no")
            question = re.search(r"`curl -s 'localhost:8080(\S+)'`", PAGE.read_text("utf-8"))[1]
            with urllib.request.urlopen(url + question, timeout=TIMEOUT) as answer:
                self.assertTrue(json.load(answer)["found"])
            pathlib.Path(config).write_text(self.jobs.replace('"true"', '".*"'), "utf-8")
            self.assertEqual(run("k8s-sd", "--check", "--config", config).returncode, 0)
            end = time.monotonic() + TIMEOUT
            while scraped() != "yes":
                self.assertLess(time.monotonic(), end)

    def test_the_reasons_are_those_of_the_page(self):
        page = " ".join(PAGE.read_text("utf-8").split())
        with file_with(self.jobs, "jobs.yml") as config:
            def why(*words):
                return run("kubectl-sd", "why", *words, "--config", config)
            other = why("orders-db-0", "-n", "other", "--sim").stdout
            away = why("orders-db-0", "--api-server", "http://127.0.0.1:1", "--timeout", "0.1")
        self.assertRegex(other, r"looks at pods in .*; none of its \d+ targets has this name")
        self.assertIn("`looks at pods in …; none of its … targets has this name`", page)
        self.assertIn("not everything has been listed in time", away.stderr)
        self.assertIn("`not everything has been listed in time`", page)

    def test_an_object_is_explained(self):
        command = re.search(r"`(discover --explain \S+)`", PAGE.read_text("utf-8"))[1]
        result = run(*command.split(), "--sim", "--once")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r'__meta_kubernetes_pod_ip = "\S+" +Pod shop/orders-db-0')


if __name__ == "__main__":
    unittest.main()
