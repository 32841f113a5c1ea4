#!/usr/bin/env python3
"""Checks examples/monitoring: each alert has a section in the documents, and rules and dashboard
use metrics of the code only. check_alerts.py evaluates the rules.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from rule_tests import ROOT, RULES

sys.path.insert(0, str(ROOT / "tests/package/docs"))
import check_documents  # noqa: E402
import check_metrics  # noqa: E402

FOLDER = ROOT / "examples/monitoring"
ALERTS_PAGE = ROOT / "docs/guide/alerts.md"
RUNBOOKS = "docs/guide/alerts.md"
METRIC = re.compile(r"\b((?:k8s_sd|opentelemetry_allocator)_\w+|\w+:k8s_sd_\w+:\w+)")


def text_of(path):
    return path.read_text(encoding="utf-8")


def rules(path=RULES):
    """Each rule as a mapping of its keys; the file has a fixed form, so no YAML parser is needed."""
    for text in re.split(r"^  - (?=alert:|record:)", text_of(path), flags=re.MULTILINE)[1:]:
        rule = dict(re.findall(r"^ *(alert|record|for|runbook_url): (\S+)$", text, re.MULTILINE))
        expression = re.search(r"^    expr: (>-\n)?(.*?)(?=^    \w+:|^    #|^  #|^- |\Z)", text,
                               re.MULTILINE | re.DOTALL)
        yield {**rule, "expr": " ".join(expression[2].split())}


def alerts():
    return [rule for rule in rules() if "alert" in rule]


def command_for_runbooks(place):
    """The command of a page that makes the links of rules.yaml absolute."""
    return re.search(r"\bsed -i '[^']*' rules\.yaml$", text_of(place), re.MULTILINE)[0]


def rules_with_absolute_runbooks(folder):
    """A copy of the rules in the folder, after the command of the page, which may be repeated."""
    path = pathlib.Path(shutil.copy(RULES, folder))
    for _ in range(2):
        subprocess.run(["sh", "-c", command_for_runbooks(ALERTS_PAGE)], cwd=folder, check=True)
    return path


def dashboard():
    return json.loads(text_of(FOLDER / "dashboard.json"))


def queries():
    """The expressions of all panels, with values for the variables."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield (target["expr"].replace("$job", ".*").replace("$instance", ".*")
                   .replace("$__rate_interval", "5m"))


def known_names():
    """The metrics of the code with their types, the parts of histograms, and recorded series."""
    names = {}
    for rows in check_metrics.tables(ROOT).values():
        for name, kind, _, _ in rows:
            if kind == "histogram":
                names |= {name + suffix: "counter" for suffix in ("_bucket", "_sum", "_count")}
            else:
                names[name] = kind
    return names | {rule["record"]: "gauge" for rule in rules() if "record" in rule}


class Files(unittest.TestCase):
    def test_each_alert_has_a_section_and_a_link_to_it(self):
        for rule in alerts():
            self.assertEqual(rule["runbook_url"], f"{RUNBOOKS}#{rule['alert'].lower()}")
        names = [rule["alert"] for rule in alerts()]
        headings = re.findall(r"^### (\w+)$", text_of(ALERTS_PAGE), re.MULTILINE)
        self.assertEqual(sorted(headings), sorted(names))
        self.assertEqual(len(set(names)), len(names))
        for name in names:
            self.assertIn("#" + name.lower(), check_documents.anchors(ALERTS_PAGE))

    def test_the_command_of_the_pages_makes_links_absolute(self):
        command = command_for_runbooks(ALERTS_PAGE)
        for place in (FOLDER / "README.md", RULES):
            self.assertEqual(command_for_runbooks(place), command)
        prefix = re.search(r"https://[^|]*/(?=docs)", command)[0]
        with tempfile.TemporaryDirectory() as folder:
            changed = list(rules(rules_with_absolute_runbooks(folder)))
        for rule, before in zip(changed, rules(), strict=True):
            if "alert" in rule:
                before["runbook_url"] = prefix + before["runbook_url"]
            self.assertEqual(rule, before)

    def test_metrics_of_rules_queries_and_pages_exist(self):
        known = known_names()
        used = [(RULES.name, rule["expr"]) for rule in rules()]
        used += [("dashboard.json", query) for query in queries()]
        used += [("alerts.md", name) for name in
                 re.findall(r"`(\w+)(?:\{[^`]*)?`", text_of(ALERTS_PAGE))]
        for place, expression in used:
            for name in METRIC.findall(expression):
                with self.subTest(place=place, name=name):
                    self.assertIn(name, known)

    def test_counters_are_read_as_rates_and_gauges_are_not(self):
        known = known_names()
        for expression in [*(rule["expr"] for rule in rules()), *queries()]:
            rates = set(re.findall(r"(?:rate|increase)\(([\w:]+)", expression))
            for name in METRIC.findall(expression):
                with self.subTest(expression=expression, name=name):
                    self.assertEqual(known[name] == "counter", name in rates)

    def test_the_dashboard_is_ready_for_an_import(self):
        board = dashboard()
        # Either would ask questions, or need the identifiers of another Grafana.
        for key in ("__inputs", "__requires"):
            self.assertNotIn(key, board)
        self.assertIsNone(board.get("id"))
        variables = {variable["name"]: variable for variable in board["templating"]["list"]}
        self.assertEqual((variables["datasource"]["type"], variables["datasource"]["query"]),
                         ("datasource", "prometheus"))
        uids = set(re.findall(r'"uid": "([^"]*)"', text_of(FOLDER / "dashboard.json")))
        self.assertEqual(uids, {board["uid"], "${datasource}"})
        numbers = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(set(numbers)), len(numbers))
        cells = set()
        for panel in board["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            mine = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                    for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & mine, panel["title"])
            cells |= mine
            for target in panel.get("targets", []):
                self.assertEqual(target["datasource"]["uid"], "${datasource}")
                self.assertIn('job=~"$job",instance=~"$instance"', target["expr"])
        self.assertEqual([variable["name"] for variable in board["templating"]["list"]],
                         ["datasource", "job", "instance"])

    def test_alerts_of_the_dashboard_exist(self):
        names = {rule["alert"] for rule in alerts()}
        said = set(re.findall(r"\bK8sSd\w+", text_of(FOLDER / "dashboard.json")))
        self.assertLessEqual(said, names)


if __name__ == "__main__":
    unittest.main()
