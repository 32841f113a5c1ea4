"""Prometheus loads the rules of examples/monitoring and evaluates them for running programs."""

import contextlib
import pathlib
import sys
import tempfile
import unittest

import harness
from harness import TIMEOUT, file_with, running, simulated_cluster
from program_metrics import ROOT, Metrics, two_clusters
from test_peers import program as path_of

sys.path[:0] = [str(ROOT / "tests/package/monitoring"), str(ROOT / "tests/support")]
import check_monitoring  # noqa: E402
from prometheus_process import Prometheus  # noqa: E402

PROMETHEUS = path_of("prometheus")
LONG = 4 * TIMEOUT  # of a wait
CONFIG = """
global: {scrape_interval: 10s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
- job_name: k8s-sd
  static_configs: [{targets: ['ADDRESS']}]
"""


@contextlib.contextmanager
def prometheus_for(metrics):
    """Prometheus that scrapes these and has the rules, with absolute links to the pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_monitoring.rules_with_absolute_runbooks(folder)
        address = metrics.url.removeprefix("http://")
        (folder / "prometheus.yml").write_text(CONFIG.replace("ADDRESS", address), "utf-8")
        started = Prometheus(PROMETHEUS, folder, LONG, harness.environment())
        with contextlib.closing(started) as prometheus:
            yield prometheus


def rules_of(data):
    return [rule for group in data["groups"] for rule in group["rules"]]


@unittest.skipUnless(PROMETHEUS, "there is no prometheus, neither installed nor in $K8S_SD_PEERS")
class RulesInPrometheus(unittest.TestCase):
    # Their expressions are true. They fire after ten minutes: check_alerts.py simulates these.
    EXPECTED = {"K8sSdClusterFailing", "K8sSdWatchFailing", "K8sSdJobWithoutList",
                "K8sSdConfigRefused"}

    @contextlib.contextmanager
    def prometheus(self):
        """For a k8s-sd with one cluster of two that is away, and with a mistake in its file."""
        with simulated_cluster(2 * LONG) as blue, file_with(two_clusters("pod", blue)) as config, \
                running("k8s-sd", "--listen", "127.0.0.1:0", "--check-interval", "0.05",
                        "--config", config, timeout=2 * LONG) as program:
            metrics = Metrics(program)
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            metrics.wait_for("k8s_sd_server_failing", 1)
            pathlib.Path(config).write_text("scrape_configs: {", encoding="utf-8")
            metrics.wait_for("k8s_sd_program_config_last_reload_successful", 0)
            with prometheus_for(metrics) as prometheus:
                yield prometheus

    def active(self, data):
        return {rule["name"]: rule for rule in rules_of(data) if rule.get("alerts")}

    def is_evaluated(self, data):
        """For a scrape, or with an error."""
        names = set(self.active(data))
        health = {rule["health"] for rule in rules_of(data)}
        return "err" in health or ("unknown" not in health and "K8sSdAbsent" not in names and
                                   self.EXPECTED <= names)

    def test_rules_and_queries_have_no_errors(self):
        with self.prometheus() as prometheus:
            data = prometheus.wait_for("rules", self.is_evaluated)
            answers = {query: prometheus.ask("query", query=query)
                       for query in check_monitoring.queries()}
        names = [rule.get("record") or rule["alert"] for rule in check_monitoring.rules()]
        self.assertEqual(sorted(rule["name"] for rule in rules_of(data)), sorted(names))
        self.assertEqual([(rule["name"], rule["lastError"]) for rule in rules_of(data)
                          if rule["health"] != "ok" or rule.get("lastError")], [])
        for query, answer in answers.items():
            self.assertEqual((answer["status"], answer.get("warnings")), ("success", None), query)
        for name, rule in self.active(data).items():
            for alert in rule["alerts"]:
                # A template that fails leaves its error in the text.
                self.assertNotIn("<error", " ".join(alert["annotations"].values()))
                self.assertRegex(alert["annotations"]["runbook_url"],
                                 f"^https://.*/docs/guide/alerts.md#{name.lower()}$")
        alert, = self.active(data)["K8sSdClusterFailing"]["alerts"]
        self.assertIn("cluster green ", alert["annotations"]["summary"])


if __name__ == "__main__":
    harness.main()
