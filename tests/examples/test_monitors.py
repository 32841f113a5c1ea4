"""monitors makes the configurations of recorded and of simulated clusters."""

import json
import unittest

from harness import file_with, run

CASE = {
    "name": "mine/case",
    "owner": {"kind": "Prometheus", "metadata": {"namespace": "mon", "name": "main"},
              "spec": {"serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {}}},
    "ownerNamespace": "mon",
    "namespaces": [{"name": "alpha", "labels": {}}],
    "objects": [
        {"kind": "ServiceMonitor", "metadata": {"namespace": "alpha", "name": "sound"},
         "spec": {"selector": {}, "endpoints": [{"port": "web"}]}},
        {"kind": "ServiceMonitor", "metadata": {"namespace": "alpha", "name": "faulty"},
         "spec": {"selector": {}, "endpoints": [{"bearerTokenSecret": {"name": "x", "key": "y"}}]}},
        {"kind": "ServiceMonitor", "metadata": {"namespace": "other", "name": "unseen"},
         "spec": {"selector": {}, "endpoints": [{}]}},
    ],
    "secrets": [], "configMaps": [], "options": {"endpointSlice": True},
}


def play(*cases):
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    with file_with(lines, "cases.jsonl") as path:
        return run("monitors", "--recorded", path)


class Recorded(unittest.TestCase):
    def test_a_line_for_each_case(self):
        result = play(CASE, {**CASE, "name": "mine/other", "objects": []})
        self.assertEqual(result.returncode, 0, result.stderr)
        first, second = map(json.loads, result.stdout.splitlines())
        self.assertEqual(first["name"], "mine/case")
        self.assertEqual(first["accepted"], ["ServiceMonitor alpha/sound"])
        self.assertEqual([entry["object"] for entry in first["refused"]],
                         ["ServiceMonitor alpha/faulty"])
        self.assertEqual(first["refused"][0]["reason"],
                         "endpoints[0].bearerTokenSecret: the Secret alpha/x does not exist")
        jobs = first["config"]["scrape_configs"]
        self.assertEqual([job["job_name"] for job in jobs], ["serviceMonitor/alpha/sound/0"])
        self.assertEqual(second["config"]["scrape_configs"], [])

    def test_a_refused_owner(self):
        owner = {**CASE["owner"], "spec": {"version": "x"}}
        result = play({**CASE, "owner": owner})
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["error"], "spec.version: is no version")
        self.assertNotIn("config", answer)

    def test_unusable_input(self):
        with file_with("{}\nno json\n", "cases.jsonl") as path:
            result = run("monitors", "--recorded", path)
            self.assertEqual(result.returncode, 2)
            self.assertIn(path + ":2: no JSON object", result.stderr)
        result = run("monitors", "--recorded", "/nonexistent/file")
        self.assertEqual(result.returncode, 2)
        for owner in ("main", "Other/monitoring/main"):
            result = run("monitors", "--owner", owner, "--once")
            self.assertEqual(result.returncode, 2)


class Cluster(unittest.TestCase):
    """The simulated shop."""

    def test_targets_are_printed(self):
        result = run("monitors", "--owner", "monitoring/main", "--once")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertIn("6 jobs", lines)
        self.assertTrue(any(line.startswith("+ serviceMonitor/shop/shop/0 ") for line in lines))
        self.assertIn("# ServiceMonitor payments/ledger is refused: "
                      "endpoints[0].authorization.credentials: the Secret payments/ledger-token "
                      "does not exist", lines)

    def test_a_configuration_is_printed(self):
        for owner in ([], ["--owner", "monitoring/main"]):
            result = run("monitors", "--print", "payments/api", *owner)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("serviceMonitor/payments/api/0", result.stdout)
            self.assertIn("<secret>", result.stdout)

    def test_jobs_from_a_secret_of_the_owner_are_not_printed(self):
        owner = """
            kind: Prometheus
            metadata: {namespace: payments, name: main}
            spec:
              serviceMonitorSelector: {}
              additionalScrapeConfigs: {name: metrics-login, key: password}
        """
        with file_with(owner) as path:
            result = run("monitors", "--print", "payments/api", "--owner-file", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertIn("<secret>", result.stdout)

    def test_a_refused_or_absent_monitor_is_an_error(self):
        refused = run("monitors", "--print", "payments/ledger")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("ledger-token", refused.stderr)
        self.assertEqual(run("monitors", "--print", "payments/none").returncode, 2)


if __name__ == "__main__":
    unittest.main()
