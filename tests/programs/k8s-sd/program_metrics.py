"""The metrics of a running program, and the alerts of examples/monitoring for them."""

import pathlib
import re
import ssl
import sys
import time
import unittest
import urllib.request

from harness import TIMEOUT

ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests/package/monitoring"))
import rule_tests  # noqa: E402


def two_clusters(role, url):
    """A configuration of a cluster that is there, and one that is away."""
    return f"""
scrape_configs:
- job_name: blue
  kubernetes_sd_configs: [{{role: {role}, api_server: {url}, cluster: blue}}]
- job_name: green
  kubernetes_sd_configs: [{{role: {role}, api_server: 'http://127.0.0.1:1', cluster: green}}]
"""


class Metrics:
    """Those of the program that listens there. \\param ca: the file of its authority, with TLS"""

    def __init__(self, program, ca=None):
        self.url = program.line_with(r"^listens at (https?://.*)$").group(1)
        self.context = ssl.create_default_context(cafile=ca) if ca else None

    def text(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=TIMEOUT,
                                    context=self.context) as answer:
            return answer.read().decode()

    def samples(self):
        """Name, labels, and value of each sample."""
        for line in self.text().splitlines():
            if not line.startswith("#"):
                name, labels, value = rule_tests.sample_of(line)
                yield name, labels, float(value)

    def wait_for(self, wanted, value=None):
        """The samples, as soon as one has this name, and the value, if any."""
        return self.wait_until(lambda name, _, found: name == wanted and value in (None, found))

    def wait_until(self, is_wanted):
        """The samples, as soon as one is as wanted."""
        end = time.monotonic() + TIMEOUT
        while True:
            samples = list(self.samples())
            if any(is_wanted(*sample) for sample in samples):
                return samples
            if time.monotonic() > end:
                raise AssertionError(f"no sample is as wanted: {samples}")
            time.sleep(0.05)


def series_of(samples):
    """An hour of these metrics as Prometheus stores them: gauges stay, and a counter above 0 grows
    by one a minute."""
    for name, labels, value in samples:
        is_counter = re.search("_(total|bucket|sum|count)$", name)
        yield rule_tests.series(name, labels, "a", f"0+{int(value > 0)}x60" if is_counter
                                else f"{value:.0f}x60")


class Rules(unittest.TestCase):
    """Base of tests that evaluate the rules; they need promtool."""

    def assert_fire(self, samples, names):
        self.assert_samples(samples, [rule_tests.fired(60, names)])

    def assert_samples(self, samples, expressions):
        self.assertEqual("", rule_tests.evaluate("1m", {
            "interval": "1m", "input_series": list(series_of(samples)),
            "promql_expr_test": expressions}))
