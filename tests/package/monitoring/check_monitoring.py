#!/usr/bin/env python3
"""Checks examples/monitoring: each alert has a section in the documents, rules and dashboard use
metrics of the code only, and expressions are valid. With promtool each alert fires in its fault,
no other one does, and none fires in a quiet week.

usage: check_monitoring.py PROJECT_DIRECTORY
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ".").resolve()
sys.path.insert(0, str(ROOT / "tests/package/docs"))
import check_documents  # noqa: E402
import check_metrics  # noqa: E402

FOLDER = ROOT / "examples/monitoring"
RULES = FOLDER / "rules.yaml"
ALERTS_PAGE = ROOT / "docs/guide/alerts.md"
RUNBOOKS = "docs/guide/alerts.md"
# Otherwise promtool evaluates the groups in any order.
GROUPS = ["k8s-sd.records", "k8s-sd.alerts"]
METRIC = re.compile(r"\b((?:k8s_sd|opentelemetry_allocator)_\w+|\w+:k8s_sd_\w+:\w+)")
NEEDS_PROMTOOL = unittest.skipUnless(
    shutil.which("promtool"), "promtool is not installed (Debian's package prometheus)")
DAY = 24 * 60  # minutes


def text_of(path):
    return path.read_text(encoding="utf-8")


def rules():
    """Each rule as a mapping of its keys; the file has a fixed form, so no YAML parser is needed."""
    for text in re.split(r"^  - (?=alert:|record:)", text_of(RULES), flags=re.MULTILINE)[1:]:
        rule = dict(re.findall(r"^ *(alert|record|for|runbook_url): (\S+)$", text, re.MULTILINE))
        expression = re.search(r"^    expr: (>-\n)?(.*?)(?=^    \w+:|^    #|^  #|^- |\Z)", text,
                               re.MULTILINE | re.DOTALL)
        yield {**rule, "expr": " ".join(expression[2].split())}


def alerts():
    return [rule for rule in rules() if "alert" in rule]


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


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=1500)


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
        self.assertNotIn("__inputs", board)
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


@NEEDS_PROMTOOL
class Expressions(unittest.TestCase):
    def test_rules_are_valid(self):
        result = promtool("check", "rules", RULES)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"SUCCESS: {len(list(rules()))} rules found", result.stdout)

    def test_queries_of_the_dashboard_are_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "queries.json")  # JSON is YAML
            path.write_text(json.dumps({"groups": [{"name": "queries", "rules": [
                {"record": f"query:number{number}:value", "expr": query}
                for number, query in enumerate(queries())]}]}), encoding="utf-8")
            result = promtool("check", "rules", path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


def series(name, values, labels="", instance="a:8080"):
    """\\param values: in the notation of promtool, a value a minute"""
    labels = f'job="k8s-sd",instance="{instance}"' + ("," + labels if labels else "")
    return {"series": f"{name}{{{labels}}}", "values": values}


def pods(name, values):
    return series(name, values, 'resource="pods"')


def job(name, values):
    """Prometheus renames the label `job` of the program."""
    return series(name, values, 'exported_job="pods"')


def cluster(name, which, values):
    return series(name, values, f'cluster="{which}",server="https://{which}"')


def latency(fast, slow):
    """Changes a minute with less than 10 ms, and with up to 30 s."""
    name = "k8s_sd_delivery_latency_seconds_bucket"
    return [series(name, f"0+{count}x{8 * DAY}", f'le="{le}"')
            for le, count in (("0.01", fast), ("5", fast), ("30", fast + slow),
                              ("+Inf", fast + slow))]


RUNS = series("k8s_sd_jobs", f"3x{8 * DAY}")
# By alert: the series of its fault, the minutes until it fires, and further alerts of this fault.
FAULTS = {
    "K8sSdAbsent": ([], 10),
    "K8sSdWatchFailing": ([pods("k8s_sd_failing_watchers", "2x120")], 10),
    "K8sSdWatchSilent": ([pods("k8s_sd_silent_watches_total", "0+0.2x120")], 25),
    "K8sSdRelistStorm": ([pods("k8s_sd_relists_total", "0+2x120"),
                          pods("k8s_sd_polls_total", "0x120"),
                          pods("k8s_sd_watchers", "2x120")], 19),
    "K8sSdPermissionRefused": ([pods("k8s_sd_forbidden_total", "0+1x120"),
                                pods("k8s_sd_failing_watchers", "1x120")], 11,
                               "K8sSdWatchFailing"),
    "K8sSdCredentialsRefused": ([pods("k8s_sd_unauthorized_total", "0+1x120"),
                                 pods("k8s_sd_failing_watchers", "1x120")], 11,
                                "K8sSdWatchFailing"),
    "K8sSdBadObjects": ([pods("k8s_sd_bad_objects_total", "0x5 3x120")], 16),
    "K8sSdVersionsWentBack": ([pods("k8s_sd_version_regressions_total", "0x5 1x120")], 6),
    "K8sSdRequestsWait": ([series("k8s_sd_lists_waiting", "4x120"),
                           series("k8s_sd_connects_waiting", "0x120")], 15),
    "K8sSdSlowHost": (latency(90, 10), 16),
    "K8sSdClusterFailing": ([cluster("k8s_sd_server_failing", "blue", "0x120"),
                             cluster("k8s_sd_server_failing", "green", "1x120")], 10),
    "K8sSdClusterTargetsLost": ([cluster("k8s_sd_server_targets", "blue", "1000x120"),
                                 cluster("k8s_sd_server_targets", "green", "100x40 40x80")], 51),
    "K8sSdUnusableConfigs": ([series("k8s_sd_failed_configs", "1x120")], 10),
    "K8sSdTargetSourcesFail": ([series("k8s_sd_target_file_failures_total", "0+1x120"),
                                series("k8s_sd_target_list_failures_total", "0x120")], 16),
    "K8sSdSnapshotsFail": ([series("k8s_sd_snapshot_failures_total", "0+1x120")], 11),
    "K8sSdSnapshotInUse": ([job("k8s_sd_bridge_job_unconfirmed", "1x120")], 10),
    "K8sSdJobWithoutList": ([job("k8s_sd_bridge_job_complete", "0x120")], 10),
    "K8sSdJobNotSynced": ([series("k8s_sd_bridge_oldest_unsynced_job_seconds", "0+60x120")], 16),
    "K8sSdConfigRefused": ([series("k8s_sd_bridge_config_last_reload_successful", "0x120")], 10),
    "K8sSdTargetsCannotBeScraped": ([job('k8s_sd_bridge_targets', "7x120")], 30),
    "K8sSdTargetsLost": ([job("k8s_sd_bridge_targets", "100x40 40x120")], 51),
    "K8sSdClientsRefused": ([series("k8s_sd_bridge_refused_connections_total", "0+1x120")], 11),
    "K8sSdFilesNotWritten": ([series("k8s_sd_bridge_file_errors_total", "0+1x120")], 11),
    "K8sSdCertificateNearEnd": ([series("k8s_sd_bridge_certificate_end_timestamp_seconds",
                                        f"{6 * 24 * 3600}x120")], 60),
    "K8sSdTargetsUnassigned": ([series("opentelemetry_allocator_targets_unassigned", "3x120")], 10),
    "K8sSdFleetMemberWithoutView": ([series("k8s_sd_fleet_members", "3x120", instance="b:8080"),
                                     series("k8s_sd_fleet_memberships", "1x120",
                                            instance="b:8080"),
                                     series("k8s_sd_fleet_members", "0x120"),
                                     series("k8s_sd_fleet_memberships", "1x120")], 10),
    "K8sSdFleetViewHeld": ([series("k8s_sd_fleet_alarms", "0x5 1x1 0x120")], 6),
    "K8sSdFleetViewsDiffer": ([series("k8s_sd_fleet_epoch", "77x120", instance="b:8080"),
                               series("k8s_sd_fleet_epoch", "78x120")], 15),
}
for alert, state in (("K8sSdTargetsCannotBeScraped", "failed"), ("K8sSdTargetsLost", "active")):
    for entry in FAULTS[alert][0]:
        entry["series"] = entry["series"].replace("}", f',state="{state}"}}')

WEEK = f"x{7 * DAY}"
# A week with restarts, an update, a renewed token, a compacted version an hour, a busy minute now
# and then, and a deployment that grows and shrinks.
QUIET = [
    RUNS,
    pods("k8s_sd_failing_watchers", "0x500 1x6 0x3000 1x3 0" + WEEK),
    pods("k8s_sd_watchers", "2" + WEEK),
    pods("k8s_sd_relists_total", "0+0.034" + WEEK),
    pods("k8s_sd_polls_total", "0" + WEEK),
    pods("k8s_sd_silent_watches_total", "0+0.01" + WEEK),
    pods("k8s_sd_forbidden_total", "0" + WEEK),
    pods("k8s_sd_unauthorized_total", "0x500 1x3000 2" + WEEK),
    pods("k8s_sd_bad_objects_total", "0" + WEEK),
    pods("k8s_sd_version_regressions_total", "0" + WEEK),
    # A poor server that refuses watches: polls are no storm.
    series("k8s_sd_relists_total", "0+1" + WEEK, 'resource="nodes"'),
    series("k8s_sd_polls_total", "0+1" + WEEK, 'resource="nodes"'),
    series("k8s_sd_watchers", "1" + WEEK, 'resource="nodes"'),
    *latency(50, 0),
    series("k8s_sd_lists_waiting", "0x100 3x2 0" + WEEK),
    series("k8s_sd_connects_waiting", "0x100 8x1 0" + WEEK),
    series("k8s_sd_failed_configs", "0x2000 1x5 0" + WEEK),
    # One of two clusters is updated. A program with a single cluster has alerts of its watches.
    cluster("k8s_sd_server_failing", "blue", "0" + WEEK),
    cluster("k8s_sd_server_failing", "green", "0x2000 1x7 0" + WEEK),
    series("k8s_sd_server_failing", "0x2000 1x60 0" + WEEK, 'server="https://one"', "b:8080"),
    cluster("k8s_sd_server_targets", "blue", "200" + WEEK),
    cluster("k8s_sd_server_targets", "green", "100x2000 60x7 100" + WEEK),
    series("k8s_sd_target_file_failures_total", "0" + WEEK),
    series("k8s_sd_target_list_failures_total", "0x1000 1" + WEEK),
    series("k8s_sd_snapshot_failures_total", "0" + WEEK),
    job("k8s_sd_bridge_job_unconfirmed", "0x4000 1x3 0" + WEEK),
    job("k8s_sd_bridge_job_complete", "1x4000 0x1 1" + WEEK),
    series("k8s_sd_bridge_oldest_unsynced_job_seconds", "0x4000 60 120 0" + WEEK),
    series("k8s_sd_bridge_config_last_reload_successful", "1x900 0x5 1" + WEEK),
    series("k8s_sd_bridge_targets", "100x1000 100+1x60 160x300 160-1x60 100" + WEEK,
           'exported_job="pods",state="active"'),
    series("k8s_sd_bridge_targets", "0x1000 2x10 0" + WEEK, 'exported_job="pods",state="failed"'),
    series("k8s_sd_bridge_refused_connections_total", "0" + WEEK),
    series("k8s_sd_bridge_refused_requests_total", "0+0.01" + WEEK, 'code="401"'),
    series("k8s_sd_bridge_file_errors_total", "0" + WEEK),
    series("k8s_sd_bridge_certificate_end_timestamp_seconds", f"{60 * 24 * 3600}" + WEEK),
    series("opentelemetry_allocator_targets_unassigned", "0x1000 40x3 0" + WEEK),
    *(series("k8s_sd_fleet_members", "0x7 3x5000 2x2 3" + WEEK, instance=name) for name in "abc"),
    *(series("k8s_sd_fleet_memberships", "1" + WEEK, instance=name) for name in "abc"),
    # A program without a fleet.
    series("k8s_sd_fleet_members", "0" + WEEK),
    series("k8s_sd_fleet_memberships", "0" + WEEK),
    *(series("k8s_sd_fleet_epoch", f"5x{5000 + late} 6x2 7" + WEEK, instance=name)
      for late, name in enumerate("abc")),
    *(series("k8s_sd_fleet_alarms", "0" + WEEK, instance=name) for name in "abc"),
]


def fired(minutes, expected, only=""):
    """The alerts fired by then are the expected ones. \\param only: among these"""
    return {"expr": f'group by (alertname) (last_over_time(ALERTS{{alertstate="firing"{only}}}'
                    f"[{minutes + 1}m]))",
            "eval_time": f"{minutes}m",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1}
                            for name in sorted(expected)]}


def fault_case(alert, inputs, minutes, *others):
    if alert != "K8sSdAbsent":
        inputs = [*inputs, RUNS]
    return {"interval": "1m", "input_series": inputs, "promql_expr_test": [
        fired(minutes - 2, [], f',alertname="{alert}"'), fired(minutes, [alert, *others])]}


@NEEDS_PROMTOOL
class Alerts(unittest.TestCase):
    def check(self, interval, *tests):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "test.json")  # JSON is YAML
            path.write_text(json.dumps({"rule_files": [str(RULES)], "tests": tests,
                                        "group_eval_order": GROUPS,
                                        "evaluation_interval": interval}), encoding="utf-8")
            result = promtool("test", "rules", path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_every_alert_has_a_fault(self):
        self.assertEqual(sorted(FAULTS), sorted(rule["alert"] for rule in alerts()))

    def test_each_fault_raises_its_alert_and_no_other_one(self):
        self.check("1m", *(fault_case(alert, *fault) for alert, fault in FAULTS.items()))

    def test_each_member_of_a_fleet_without_any_view_is_reported(self):
        fleet = [series(f"k8s_sd_fleet_{name}", values, instance=instance)
                 for instance in ("a:8080", "b:8080")
                 for name, values in (("members", "0x120"), ("memberships", "1x120"))]
        alone = [series(f"k8s_sd_fleet_{name}", "0x120", instance="c:8080")
                 for name in ("members", "memberships")]
        firing = 'count by (instance) (ALERTS{alertstate="firing"})'
        self.check("1m", {"interval": "1m", "input_series": [*fleet, *alone, RUNS],
                          "promql_expr_test": [
                              fired(8, []), fired(12, ["K8sSdFleetMemberWithoutView"]),
                              {"expr": firing, "eval_time": "12m", "exp_samples": [
                                  {"labels": f'{{instance="{instance}"}}', "value": 1}
                                  for instance in ("a:8080", "b:8080")]}]})

    def test_clusters_that_fail_together_are_not_called_failing(self):
        both = [cluster("k8s_sd_server_failing", name, "1x120") for name in ("blue", "green")]
        self.check("1m", {"interval": "1m", "input_series": [*both, RUNS],
                          "promql_expr_test": [fired(60, [])]})

    def test_a_quiet_week_raises_none(self):
        self.check("3m", {"interval": "1m", "input_series": QUIET,
                          "promql_expr_test": [fired(7 * DAY, [])]})

    def test_the_quiet_week_has_the_series_of_each_alert(self):
        names = {entry["series"].partition("{")[0] for entry in QUIET}
        for alert, (inputs, *_) in FAULTS.items():
            for entry in inputs:
                with self.subTest(alert=alert):
                    self.assertIn(entry["series"].partition("{")[0], names)


if __name__ == "__main__":
    unittest.main()
