"""The metrics of a running program, and the alerts of examples/monitoring for them."""

import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request

from harness import TIMEOUT

ROOT = pathlib.Path(__file__).parents[3]
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """Those of the program that listens there."""

    def __init__(self, program):
        self.url = program.line_with(r"^listens at (http://.*)$").group(1)

    def text(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=TIMEOUT) as answer:
            return answer.read().decode()

    def samples(self):
        """Name, labels, and value of each sample."""
        for line in self.text().splitlines():
            if not line.startswith("#"):
                name, labels, value = SAMPLE.match(line).groups()
                yield name, dict(LABEL.findall(labels or "")), float(value)

    def wait_for(self, wanted, value):
        end = time.monotonic() + TIMEOUT
        while True:
            samples = list(self.samples())
            if any(name == wanted and found == value for name, _, found in samples):
                return samples
            if time.monotonic() > end:
                raise AssertionError(f"{wanted} does not become {value}")
            time.sleep(0.05)


def series_of(samples):
    """An hour of these metrics as Prometheus stores them: gauges stay, and a counter above 0 grows
    by one a minute."""
    for name, labels, value in samples:
        if "job" in labels:
            labels["exported_job"] = labels.pop("job")
        labels |= {"job": "k8s-sd", "instance": "a:8080"}
        is_counter = re.search("_(total|bucket|sum|count)$", name)
        text = ",".join(f"{key}={json.dumps(text)}" for key, text in labels.items())
        yield {"series": f"{name}{{{text}}}",
               "values": f"0+{int(value > 0)}x60" if is_counter else f"{value:.0f}x60"}


class Rules(unittest.TestCase):
    """Base of tests that evaluate the rules; they need promtool."""

    def assert_fire(self, samples, names):
        self.assert_samples(samples, [{
            "expr": 'group by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "60m",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1}
                            for name in sorted(names)]}])

    def assert_samples(self, samples, expressions):
        test = {"rule_files": [str(ROOT / "examples/monitoring/rules.yaml")],
                "evaluation_interval": "1m",
                "group_eval_order": ["k8s-sd.records", "k8s-sd.alerts"], "tests": [{
                    "interval": "1m", "input_series": list(series_of(samples)),
                    "promql_expr_test": expressions}]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "test.json")  # JSON is YAML
            path.write_text(json.dumps(test), encoding="utf-8")
            result = subprocess.run(["promtool", "test", "rules", path], capture_output=True,
                                    text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
