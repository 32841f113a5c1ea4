#!/usr/bin/env python3
"""Targets that Prometheus makes of a configuration, from servers that the test runs.

    discover_with_prometheus.py PROGRAM CONFIG EXPECTED ANSWER

EXPECTED is a JSON object with a sorted list for each job: "<number> dropped", and URL and labels of
each target. ANSWER becomes the like of it: as soon as it equals EXPECTED, otherwise the last one in
time.
"""

import collections
import contextlib
import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from prometheus_process import Prometheus  # noqa: E402

WITHOUT = "is built without kubernetes_sd"  # as Debian's 2.42 is; the test looks for these words
SECONDS = 30  # Prometheus hands over targets every 5 seconds


def line(target):
    labels = (f" {name}={value}" for name, value in sorted(target["labels"].items()))
    return target["scrapeUrl"] + "".join(labels)


def dropped_counts(data):
    if (counts := data.get("droppedTargetCounts")) is not None:  # of 2.48 and later
        return counts
    return collections.Counter(target["discoveredLabels"]["job"]
                               for target in data["droppedTargets"])


def answer_of(data, jobs):
    """By job, also those without targets, which Prometheus does not list."""
    lines = {job: [] for job in jobs}
    for target in data["activeTargets"]:
        lines.setdefault(target["scrapePool"], []).append(line(target))
    counts = dropped_counts(data)
    return {job: sorted([f"{counts.get(job, 0)} dropped", *of_job])
            for job, of_job in lines.items()}


def main(program, config, expected_file, answer_file):
    expected = json.loads(pathlib.Path(expected_file).read_text("utf-8"))
    last = None

    def is_expected(data):
        nonlocal last
        last = answer_of(data, expected)
        return last == expected

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(config, folder / "prometheus.yml")
        with contextlib.closing(Prometheus(program, folder, SECONDS)) as prometheus:
            try:
                prometheus.wait_for("targets", is_expected, state="any")
            except AssertionError as error:
                if "field kubernetes_sd_configs not found" in str(error):
                    sys.exit(f"{program} {WITHOUT}")
                if last is None:
                    raise
    pathlib.Path(answer_file).write_text(json.dumps(last), "utf-8")


main(*sys.argv[1:])
