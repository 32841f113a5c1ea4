#!/usr/bin/env python3
"""Evaluates examples/monitoring/rules.yaml with promtool: each alert fires in its simulated fault,
at its time and not before, no other one does, and none fires in a quiet week.

usage: check_alerts.py PATH_OF_simulated_faults
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_monitoring
from rule_tests import RULES, Scrapes, evaluate, fired, promtool

PROGRAM = sys.argv.pop() if __name__ == "__main__" else ""
BEGIN = 40  # minutes before a fault
WATCH = "K8sSdWatchFailing"
CLUSTER = "K8sSdClusterFailing"
FORBIDDEN = "K8sSdPermissionRefused"
NO_LIST = "K8sSdJobWithoutList"
NOT_SYNCED = "K8sSdJobNotSynced"

# By fault of simulated_faults.cpp: the minutes until its alert fires, this alert, and further ones
# that have fired by then.
FAULTS = {
    "programs end": (10, "K8sSdAbsent"),
    "clusters are away": (11, WATCH),  # together, so K8sSdClusterFailing does not fire
    "a cluster is away": (11, CLUSTER, WATCH),
    "watches are silent": (27, "K8sSdWatchSilent", WATCH),
    "watches expire": (19, "K8sSdRelistStorm", WATCH),
    "a permission is removed": (11, FORBIDDEN, CLUSTER, WATCH),
    "a token is refused": (11, "K8sSdCredentialsRefused", CLUSTER, WATCH),
    "an object is bad": (11, "K8sSdBadObjects"),
    "a backup is restored": (1, "K8sSdVersionsWentBack"),
    "lists hang": (24, "K8sSdRequestsWait", CLUSTER, WATCH, NO_LIST, NOT_SYNCED),
    "callbacks are late": (16, "K8sSdSlowHost"),
    "a cluster shrinks": (11, "K8sSdClusterTargetsLost"),
    "clusters shrink": (11, "K8sSdTargetsLost", "K8sSdClusterTargetsLost"),
    "a kubeconfig is missing": (11, "K8sSdUnusableConfigs", CLUSTER, NO_LIST),
    "a file of targets is cut": (16, "K8sSdTargetSourcesFail"),
    "snapshots cannot be written": (11, "K8sSdSnapshotsFail"),
    "a program starts without clusters": (12, "K8sSdSnapshotInUse", WATCH),
    "a new job has no permission": (11, NO_LIST, FORBIDDEN, CLUSTER, WATCH),
    "a changed job has no permission": (16, NOT_SYNCED, FORBIDDEN, CLUSTER, WATCH),
    "a configuration has a mistake": (11, "K8sSdConfigRefused"),
    "an address is invalid": (31, "K8sSdTargetsCannotBeScraped"),
    "a list cannot be written": (11, "K8sSdFilesNotWritten"),
    "a certificate is near its end": (61, "K8sSdCertificateNearEnd"),
    "collectors are gone": (11, "K8sSdTargetsUnassigned"),
    "a member has no view": (10, "K8sSdFleetMemberWithoutView", WATCH),
    "no member has a view": (11, "K8sSdFleetMemberWithoutView", FORBIDDEN, WATCH),
    "members vanish": (1, "K8sSdFleetViewHeld"),
    "a member has another view": (15, "K8sSdFleetViewsDiffer"),
}
# Connections and requests of clients are no part of the simulation. tests/programs/k8s-sd has a
# fault of a running program for this alert, as for each other one (test_metrics.py,
# test_alerts.py).
OF_REAL_PROGRAMS = {"K8sSdClientsRefused"}


class Expressions(unittest.TestCase):
    def test_rules_are_valid(self):
        result = promtool("check", "rules", RULES)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        count = len(list(check_monitoring.rules()))
        self.assertIn(f"SUCCESS: {count} rules found", result.stdout)

    def test_queries_of_the_dashboard_are_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "queries.json")  # JSON is YAML
            path.write_text(json.dumps({"groups": [{"name": "queries", "rules": [
                {"record": f"query:number{number}:value", "expr": query}
                for number, query in enumerate(check_monitoring.queries())]}]}), encoding="utf-8")
            result = promtool("check", "rules", path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


def metrics_of_rules():
    used = {name for rule in check_monitoring.rules()
            for name in check_monitoring.METRIC.findall(rule["expr"])}
    return {name for name in used if ":" not in name}  # not recorded by a rule


def fault_case(scrapes, minutes, alert, *others):
    end = BEGIN + minutes
    return {"interval": scrapes.interval, "input_series": scrapes.input_series(),
            "promql_expr_test": [fired(BEGIN, []),
                                 fired(end - 1, [], f',alertname="{alert}"'),
                                 fired(end, [alert, *others])]}


class Alerts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, folder, *sorted(metrics_of_rules())], check=True,
                           timeout=1000)
            cls.scrapes = {path.name: Scrapes(path) for path in pathlib.Path(folder).iterdir()}

    def test_every_alert_has_a_fault(self):
        self.assertEqual(sorted({*OF_REAL_PROGRAMS, *(alert for _, alert, *_ in FAULTS.values())}),
                         sorted(rule["alert"] for rule in check_monitoring.alerts()))
        self.assertEqual(sorted([*FAULTS, "a quiet week"]), sorted(self.scrapes))

    def test_each_fault_raises_its_alert_in_time_and_no_other_one(self):
        errors = evaluate("1m", *(fault_case(self.scrapes[name], *fault)
                                  for name, fault in FAULTS.items()))
        self.assertEqual(errors, "")

    def test_a_quiet_week_raises_none(self):
        week = self.scrapes["a quiet week"]
        errors = evaluate("3m", {"interval": week.interval, "input_series": week.input_series(),
                                 "promql_expr_test": [fired(7 * 24 * 60, [])]})
        self.assertEqual(errors, "")

    def test_the_quiet_week_has_the_series_of_each_alert(self):
        self.assertEqual(metrics_of_rules() - self.scrapes["a quiet week"].metrics(), set())


if __name__ == "__main__":
    if not shutil.which("promtool"):
        print("skipped: promtool is not installed (Debian's package prometheus)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
