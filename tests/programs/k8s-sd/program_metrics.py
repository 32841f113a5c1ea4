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


BEFORE = 40  # minutes


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
        self.url = self.url_of(program)
        self.context = ssl.create_default_context(cafile=ca) if ca else None

    @staticmethod
    def url_of(program):
        return program.line_with(r"^listens at (https?://.*)$").group(1)

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


def series_of(samples, *, before=None, instance="a"):
    """An hour of these metrics as Prometheus stores them. Gauges stay. A counter above 0, or above
    its value before, grows by one a minute, and a histogram by as much as it has grown.
    \\param before: the metrics of an earlier scrape, for the minutes BEFORE this hour
    """
    def by_key(found):
        return {(name, *sorted(labels.items())): (name, labels, value)
                for name, labels, value in found}

    now, then = by_key(samples), by_key(before or [])
    for key in {**then, **now}:
        name, labels, _ = now.get(key) or then[key]
        former = then[key][2] if key in then else 0
        parts = []
        if before is not None:
            parts.append(f"{former:.0f}x{BEFORE - 1}" if key in then else f"_x{BEFORE}")
        parts.append(hour_of(name, now[key][2], former) if key in now else "stale")
        yield rule_tests.series(name, labels, instance, " ".join(parts))


def hour_of(name, value, former):
    if re.search("_(bucket|sum|count)$", name):  # the distribution stays
        return f"{former:.0f}+{value - former:.0f}x60"
    if name.endswith("_total"):
        return f"{former:.0f}+{int(value > former)}x60"
    if name.endswith("_timestamp_seconds"):
        return f"{value - time.time():.0f}x60"  # the time of promtool begins with 0
    return f"{value:.0f}x60"


class Rules(unittest.TestCase):
    """Base of tests that evaluate the rules; they need promtool."""

    def assert_fire(self, samples, names):
        self.assert_samples(samples, [rule_tests.fired(60, names)])

    def assert_fires(self, samples, name):
        """This alert fires, for metrics scraped at any time of a fault with others."""
        self.assert_samples(samples, [rule_tests.fired(60, [name], f',alertname="{name}"')])

    def assert_fire_after(self, before, samples, names):
        """These alerts fire, and for the metrics of the earlier scrape none."""
        self.assert_series(list(series_of(samples, before=before)),
                           [rule_tests.fired(BEFORE - 1, []),
                            rule_tests.fired(BEFORE + 60, names)])

    def assert_samples(self, samples, expressions):
        self.assert_series(list(series_of(samples)), expressions)

    def assert_series(self, series, expressions):
        self.assertEqual("", rule_tests.evaluate("1m", {
            "interval": "1m", "input_series": series, "promql_expr_test": expressions}))
