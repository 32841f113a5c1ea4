"""The output of discover in each format, and its exit status."""

import json
import re
import signal
import subprocess
import unittest

import harness
from harness import file_with, run, running, simulated_cluster


class Once(unittest.TestCase):
    def targets(self, *arguments):
        result = run("discover", "--sim", "--once", "--output", "targets", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("\n"), 1)
        return json.loads(result.stdout)

    def test_targets_is_one_array_of_merged_label_maps(self):
        targets = self.targets()
        self.assertGreater(len(targets), 10)
        for target in targets:
            self.assertIn("__address__", target)
            self.assertIn("__meta_kubernetes_namespace", target)
            self.assertIn("__meta_kubernetes_pod_name", target)
            self.assertNotIn("", target.values())

    def test_targets_of_all_jobs_are_printed(self):
        self.assertEqual(len(self.targets("--jobs", 3)), 3 * len(self.targets()))

    def test_every_role_has_targets(self):
        for role in ("node", "pod", "service", "endpoints", "endpointslice", "ingress",
                     "gateway", "httproute", "grpcroute", "tlsroute"):
            with self.subTest(role=role):
                self.assertTrue(self.targets("--role", role))

    def test_namespaces_choose_targets(self):
        found = {t["__meta_kubernetes_namespace"]
                 for t in self.targets("--namespace", "shop", "--namespace", "payments")}
        self.assertEqual(found, {"shop", "payments"})

    def test_an_empty_namespace_means_all(self):
        self.assertEqual(len(self.targets("--namespace=")), len(self.targets()))

    def test_selectors_of_one_role_must_all_hold(self):
        node = self.targets("--selector", "pod:field:spec.nodeName=node-a1")
        self.assertEqual({t["__meta_kubernetes_pod_node_name"] for t in node}, {"node-a1"})
        both = self.targets("--selector", "pod:field:spec.nodeName=node-a1",
                            "--selector", "pod:field:metadata.namespace=shop")
        self.assertTrue(both)
        self.assertLess(len(both), len(node))

    def test_attach_adds_labels(self):
        label = "__meta_kubernetes_node_name"
        self.assertFalse([t for t in self.targets() if label in t])
        self.assertTrue(all(label in t for t in self.targets("--attach", "node,namespace")))

    def test_options_add_to_the_file(self):
        with file_with("role: pod\nnamespaces:\n  names: [shop]\n") as path:
            only = self.targets("--sd-config", path)
            more = self.targets("--sd-config", path, "--namespace", "payments")
            other = self.targets("--role", "service", "--sd-config", path)
        self.assertEqual({t["__meta_kubernetes_namespace"] for t in only}, {"shop"})
        self.assertEqual({t["__meta_kubernetes_namespace"] for t in more}, {"shop", "payments"})
        self.assertTrue(all("__meta_kubernetes_service_name" in t for t in other))

    def test_the_dialect_counts_wherever_it_stands(self):
        with file_with("role: endpointslices\n") as path:
            for arguments in (["--sd-config", path, "--dialect", "victoriametrics"],
                              ["--dialect", "victoriametrics", "--sd-config", path]):
                self.assertTrue(self.targets(*arguments))
            result = run("discover", "--sim", "--once", "--sd-config", path)
        self.assertEqual(result.returncode, 2)

    def test_the_dialect_may_have_a_version(self):
        condition = "__meta_kubernetes_node_condition_ready"
        with file_with("role: node\n") as path:
            for options in (["--role", "node"], ["--sd-config", path]):
                def values(version):
                    targets = self.targets("--dialect", "prometheus" + version, *options)
                    return {target.get(condition) for target in targets}
                self.assertEqual(values(""), {None})
                self.assertEqual(values("@3.5"), {None})
                self.assertEqual(values("@3.11"), {None})
                self.assertEqual(values("@3.12"), {"true"})

    def test_quiet_counts_all_jobs(self):
        one = run("discover", "--sim", "--once", "--output", "quiet").stdout
        three = run("discover", "--sim", "--once", "--output=quiet", "--jobs=3").stdout
        targets, groups = map(int, re.fullmatch(r"synced targets=(\d+) groups=(\d+) jobs=1\n",
                                                one).groups())
        self.assertEqual(targets, len(self.targets()))
        self.assertEqual(three, f"synced targets={3 * targets} groups={3 * groups} jobs=3\n")

    def test_text_reports_what_is_watched_and_found(self):
        result = run("discover", "--sim", "--once", "--namespace", "shop", "--role", "service")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout,
                         r"^Discovering targets of role service at http://127\.0\.0\.1"
                         r":\d+ \(a simulated cluster\), namespaces: shop\.\n")
        self.assertRegex(result.stdout, r"\d\d:\d\d:\d\d\.\d{3}  \d+ targets of \d+ objects now:\n")
        self.assertIn("\n  svc/shop/", result.stdout)
        self.assertNotIn("From now on", result.stdout)


class Changes(unittest.TestCase):
    def test_json_diffs_lead_from_state_to_state(self):
        with running("discover", "--sim", "--output", "json") as program:
            groups = {}
            first = json.loads(program.line())
            self.assertTrue(first["full"])
            self.assertEqual(first["removed"], [])
            self.apply(groups, first)
            for _ in range(8):
                diff = json.loads(program.line())
                self.assertFalse(diff["full"])
                self.assertTrue(diff["updated"] or diff["removed"])
                self.apply(groups, diff)
            self.assertEqual(program.signal(signal.SIGTERM), 0)

    def apply(self, groups, diff):
        self.assertEqual(set(diff), {"job", "full", "updated", "removed"})
        self.assertEqual(diff["job"], 0)
        for source in diff["removed"]:
            self.assertIn(source, groups)
            del groups[source]
        for group in diff["updated"]:
            self.assertEqual(set(group),
                             {"source", "labels", "targets", "added", "removed", "kept"})
            before = groups.get(group["source"], [])
            self.assertEqual(group["added"] + group["kept"], len(group["targets"]))
            self.assertEqual(group["removed"] + group["kept"], len(before))
            self.assertTrue(all(target["__address__"] for target in group["targets"]))
            groups[group["source"]] = group["targets"]

    def test_json_numbers_the_jobs(self):
        with running("discover", "--sim", "--output", "json", "--jobs", 2) as program:
            jobs = [json.loads(program.line())["job"] for _ in range(2)]
        self.assertEqual(sorted(jobs), [0, 1])

    def test_quiet_totals_follow_the_changes(self):
        with running("discover", "--sim", "--output", "quiet") as program:
            total = int(re.match(r"synced targets=(\d+)", program.line())[1])
            for _ in range(8):
                match = re.fullmatch(
                    r"changed targets=(\d+) added=(\d+) updated=(\d+) removed=(\d+)",
                    program.line())
                now, added, updated, removed = map(int, match.groups())
                self.assertEqual(now, total + added - removed)
                self.assertGreater(added + updated + removed, 0)
                total = now

    def test_text_shows_cause_and_effect(self):
        with running("discover", "--sim") as program:
            program.line_with("^From now on: ")
            program.line_with(r"^\d\d:\d\d:\d\d\.\d{3}  # ")
            program.line_with(r"^\d\d:\d\d:\d\d\.\d{3}  \+ pod/[^ ]+ [0-9.:]+  phase=")
            program.line_with(
                r"^\d\d:\d\d:\d\d\.\d{3}  ~ pod/[^ ]+ \(\d+ targets?\)  .*pod_\w+: .+ -> ")
            program.line_with(r"^\d\d:\d\d:\d\d\.\d{3}  - pod/[^ ]+ [0-9.:]+$")

    def test_another_process_is_discovered_over_tcp(self):
        with simulated_cluster() as url:
            with running("discover", "--api-server", url, "--output", "quiet") as program:
                self.assertRegex(program.line(), "^synced targets=[1-9]")
                self.assertRegex(program.line(), "^changed ")


class Ending(unittest.TestCase):
    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number), running("discover", "--sim", "--output", "quiet") as program:
                program.line()
                self.assertEqual(program.signal(number), 0)

    def test_a_signal_ends_it_before_it_is_synced(self):
        with running("discover", "--api-server", "http://127.0.0.1:1") as program:
            program.error_line()
            self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_a_signal_ends_it_without_a_reader(self):
        with running("discover", "--sim", "--output", "json", "--jobs", 20) as program:
            program.process.stdout.read(1)
            self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        with running("discover", "--sim", "--output", "quiet") as program:
            program.line()
            program.process.stdout.close()
            errors = program.process.stderr.read()
            self.assertEqual(program.process.wait(), 0)
        for line in errors.splitlines():
            self.assertRegex(line, r"^\d\d:\d\d:\d\d\.\d{3}  # ")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run(harness.command("discover", ["--sim", "--once"]), stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=harness.TIMEOUT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)

    def test_the_timeout_of_a_synced_run_is_no_error(self):
        result = run("discover", "--sim", "--output", "quiet", "--timeout", "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "^synced ")


if __name__ == "__main__":
    unittest.main()
