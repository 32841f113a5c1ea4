"""Evaluates the rules of examples/monitoring with promtool, for series of scraped programs."""

import json
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[3]
RULES = ROOT / "examples/monitoring/rules.yaml"
# Otherwise promtool evaluates the groups in any order.
GROUPS = ["k8s-sd.records", "k8s-sd.alerts"]
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=1500)


def evaluate(interval, *tests):
    """The errors of `promtool test rules`; "" if all is as expected."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "test.json")  # JSON is YAML
        path.write_text(json.dumps({"rule_files": [str(RULES)], "tests": tests,
                                    "group_eval_order": GROUPS,
                                    "evaluation_interval": interval}), encoding="utf-8")
        result = promtool("test", "rules", path)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def sample_of(line):
    """Name, labels, and text of the value of a sample of a metrics page."""
    name, labels, value = SAMPLE.match(line).groups()
    return name, dict(LABEL.findall(labels or "")), value


def series(name, labels, instance, values):
    """A series as Prometheus stores it. \\param values: in the notation of promtool"""
    labels = dict(labels)
    if "job" in labels:
        labels["exported_job"] = labels.pop("job")
    labels |= {"job": "k8s-sd", "instance": f"{instance}:8080"}
    text = ",".join(f"{key}={json.dumps(value)}" for key, value in labels.items())
    return {"series": f"{name}{{{text}}}", "values": values}


def fired(minutes, expected, only=""):
    """The alerts fired by then are the expected ones. \\param only: among these"""
    return {"expr": f'group by (alertname) (last_over_time(ALERTS{{alertstate="firing"{only}}}'
                    f"[{minutes + 1}m]))",
            "eval_time": f"{minutes}m",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1}
                            for name in sorted(expected)]}


class Scrapes:
    """A file of simulated_faults."""

    def __init__(self, path):
        self.changes = {}  # of each series: pairs of number of the scrape and value
        self.count = 0
        times = []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                first, rest = line.rstrip("\n").split(" ", 1)
                if first == "@":
                    times.append(int(rest))
                else:
                    key, _, value = line.rstrip("\n").rpartition(" ")
                    self.changes.setdefault(key, []).append((len(times) - 1, value))
        self.count = len(times)
        self.interval = f"{times[1] - times[0]}s"

    def input_series(self):
        return [series(*self.parts(key), self.values(key)) for key in self.changes]

    def metrics(self):
        return {self.parts(key)[0] for key in self.changes}

    @staticmethod
    def parts(key):
        instance, _, text = key.partition(" ")
        name, labels, _ = sample_of(text + " 0")
        return name, labels, instance

    def values(self, key):
        changes = self.changes[key]
        is_time = "_timestamp_seconds" in key
        runs = [f"_x{changes[0][0]}"] if changes[0][0] > 0 else []
        for (begin, value), (end, _) in zip(changes, [*changes[1:], (self.count, "")]):
            times = end - begin
            if value == "stale":
                runs += ["stale"] + ([f"_x{times - 1}"] if times > 1 else [])
            else:
                # The time of promtool begins with 0.
                value = f"{float(value) - time.time():.0f}" if is_time else value
                runs.append(value if times == 1 else f"{value}x{times - 1}")
        return " ".join(runs)
