"""kubectl-sd, the plugin of kubectl, with a simulated cluster."""

import json
import os
import re
import shutil
import subprocess
import unittest

import harness
from harness import TIMEOUT, file_with, run

try:
    import yaml
except ImportError:
    yaml = None

JOBS = """
scrape_configs:
- job_name: pods
  kubernetes_sd_configs:
  - role: pod
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scrape]
    regex: "true"
    action: keep
- job_name: nodes
  kubernetes_sd_configs:
  - role: node
"""
RULE = "rule 0: keep if __meta_kubernetes_pod_annotation_prometheus_io_scrape matches true"


def columns(line):
    return re.split(" {3,}", line)


class Plugin(unittest.TestCase):
    def ask(self, *arguments, status=0):
        with file_with(JOBS) as config:
            result = run("kubectl-sd", *arguments, "--sim", "--config", config)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_a_dropped_pod_is_explained_for_each_job(self):
        for words in (("pod/shop/orders-db-0",), ("orders-db-0", "-n", "shop"),
                      ("pod", "orders-db-0", "--namespace=shop"), ("orders-db-0",)):
            with self.subTest(words=words):
                heading, pods, nodes = map(columns, self.ask("why", *words).stdout.splitlines())
                self.assertEqual(heading, ["JOB", "OBJECT", "TARGET", "SCRAPED", "REASON"])
                self.assertEqual(pods[:2], ["pods", "pod/shop/orders-db-0"])
                self.assertRegex(pods[2], r"^[\d.]+:5432$")
                self.assertEqual(pods[3:], ["no", RULE])
                self.assertEqual(nodes[:4], ["nodes", "<none>", "<none>", "no"])
                self.assertRegex(nodes[4], "^looks at nodes")

    def test_a_scraped_object_has_its_url(self):
        lines = self.ask("why", "node/node-a1", "-owide").stdout.splitlines()
        self.assertEqual(columns(lines[0])[4], "NODE")
        rows = [columns(line) for line in lines if line.startswith("nodes ")]
        self.assertEqual((rows[0][1], rows[0][3]), ("node/node-a1", "yes"))
        self.assertRegex(rows[0][2], "^http://.*/metrics$")

    def test_an_object_that_there_is_not(self):
        result = self.ask("why", "nothing", status=1)
        self.assertEqual(result.stderr, "kubectl-sd: no job discovers nothing\n")
        self.assertEqual(len(result.stdout.splitlines()), 3)

    def test_targets_of_a_namespace_and_of_a_job(self):
        shop = self.ask("targets", "pods", "-n", "shop").stdout.splitlines()
        self.assertGreater(len(shop), 5)
        for line in shop[1:]:
            self.assertRegex(line, r"^pods +pod/shop/")
        every = self.ask("targets").stdout.splitlines()
        self.assertGreater(len(every), len(shop))
        self.assertTrue(any(line.startswith("nodes ") for line in every))

    def test_answers_as_json_and_yaml(self):
        answer = json.loads(self.ask("why", "orders-db-0", "-o", "json").stdout)
        self.assertEqual(answer["jobs"][0]["not"][0]["reason"], RULE)
        rows = json.loads(self.ask("targets", "nodes", "-o=json").stdout)
        self.assertEqual({row["job"] for row in rows}, {"nodes"})
        if yaml:
            answer = yaml.safe_load(self.ask("why", "orders-db-0", "-o", "yaml").stdout)
            self.assertEqual(answer["jobs"][0]["not"][0]["reason"], RULE)
            self.assertIs(answer["found"], True)

    def test_rights_and_checks_are_those_of_discover(self):
        plugin = run("kubectl-sd", "rbac", "--role", "node")
        self.assertEqual((plugin.returncode, plugin.stdout),
                         (0, run("discover", "--print-rbac", "--role", "node").stdout))
        self.assertEqual(run("kubectl-sd", "check", "--role", "pod", "-o", "json").returncode, 2)

    def test_mistakes(self):
        for arguments, text in (((), "needs a command"), (("wy",), "unknown command wy"),
                                (("why", "--sim", "x"), "--config FILE is missing"),
                                (("why", "--sim", "--config", __file__), "needs one object"),
                                (("why", "a", "-o", "xml", "--config", __file__), "--output")):
            result = run("kubectl-sd", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertEqual(run("kubectl-sd", "--help").returncode, 0)
        self.assertRegex(run("kubectl-sd", "--version").stdout,
                         r"^kubectl-sd \(k8s_sd\) \d+\.\d+\.\d+\n$")
        self.assertIn("Usage: kubectl-sd why", run("kubectl-sd", "why", "--help").stdout)

    def test_without_an_api_server_it_says_what_is_missing(self):
        with file_with(JOBS) as config:
            result = run("kubectl-sd", "why", "web", "--config", config, "--api-server",
                         "http://127.0.0.1:1", "--timeout", "0.1")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "not everything has been listed in time:\n")

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl_finds_it(self):
        folder = os.path.dirname(harness.command("kubectl-sd", ())[0])
        environment = {**harness.environment(),
                       "PATH": folder + os.pathsep + os.environ["PATH"]}
        with file_with(JOBS) as config:
            result = subprocess.run(["kubectl", "sd", "why", "orders-db-0", "-n", "shop", "--sim",
                                     "--config", config], env=environment, capture_output=True,
                                    text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(RULE, result.stdout)


if __name__ == "__main__":
    unittest.main()
