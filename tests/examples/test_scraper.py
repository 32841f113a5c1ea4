"""The scraper scrapes its discovered targets, follows its configuration and reports errors."""

import os
import re
import signal
import unittest

from harness import file_with, run, running

PODS = """
scrape_configs:
- job_name: JOB
  scrape_interval: 200ms
  scrape_timeout: 100ms
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs: [{source_labels: [__meta_kubernetes_pod_name], target_label: pod}]
"""


def replace(path, text):
    """Replaces the file atomically, as an editor does."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


class Scraper(unittest.TestCase):
    def test_scrapes_the_simulated_pods(self):
        result = run("scraper", "--sim", "--scrapes", 6)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertRegex(result.stdout,
                         r'(?m)^pods: start http://127\.0\.0\.1:\d+/metrics \{app="web", '
                         r'instance="127\.0\.0\.1:\d+", job="pods", namespace="shop", '
                         r'pod="web-0"\}$')
        self.assertRegex(result.stdout,
                         r"(?m)^pods: \d+ targets, [1-9]\d* up, [1-9]\d* samples; "
                         r"\d+ dropped, 0 failed$")

    def test_targets_come_and_go_with_their_pods(self):
        with running("scraper", "--sim") as program:
            program.line_with(r'^pods: start .*pod="cart-3"')
            program.line_with(r'^pods: stop .*pod="web-0"')
            self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        with running("scraper", "--sim", "--report-interval", "100ms") as program:
            program.line()
            program.process.stdout.close()
            self.assertEqual(program.process.stderr.read(), "")
            self.assertEqual(program.process.wait(), 0)

    def test_takes_tokens_from_a_secret_that_is_rotated(self):
        secret = ("{source_labels: [__meta_kubernetes_namespace, "
                  "__meta_kubernetes_pod_annotation_metrics_token], separator: /, "
                  "regex: .+/.+/.+, replacement: $0, target_label: __token_secret__}")
        text = PODS.replace("target_label: pod}", "target_label: pod}, " + secret)
        reports = ("--report-interval", "300ms", "--timeout", "3500ms")
        with file_with(text, "p.yml") as path:
            good = run("scraper", "--sim", "--config", path, *reports)
        self.assertRegex(good.stdout, r'start .*pod="cart-2"')
        self.assertNotIn("down: ", good.stdout)
        with file_with(PODS, "p.yml") as path:
            bad = run("scraper", "--sim", "--config", path, *reports)
        self.assertRegex(bad.stdout, "(?m)^JOB: down: .*: HTTP status 401$")

    def test_reports_what_is_wrong_with_a_token(self):
        for secret, error in (
                ("shop/missing/token", "credentials: there is no object of this name"),
                ("shop/metrics/missing", "credentials: the Secret has no key missing"),
                ("shop/UPPER/token", "credentials: .*UPPER")):
            text = PODS.replace("target_label: pod}", "target_label: pod}, {target_label: "
                                f"__token_secret__, replacement: '{secret}'}}")
            with self.subTest(secret=secret), file_with(text, "p.yml") as path:
                result = run("scraper", "--sim", "--config", path, "--scrapes", 3)
                self.assertRegex(result.stdout, "(?m)^JOB: down: .*: " + error)

    def test_follows_its_configuration(self):
        with file_with(PODS.replace("JOB", "one"), "p.yml") as path, \
                running("scraper", "--sim", "--config", path, "--check-interval", "1h") as program:
            program.line_with(r'^one: start .*job="one", pod="web-0"')
            replace(path, PODS.replace("JOB", "two"))
            program.process.send_signal(signal.SIGHUP)
            program.line_with(r'^two: start .*job="two"')
            program.line_with(r'^one: stop .*job="one"')
            self.assertEqual(program.error_line(),
                             f"scraper: the previous configuration stays in use: {path}: job one "
                             "is missing; it is removed when a second read of the file finds the "
                             "same")
            replace(path, "scrape_configs: nothing\n")
            program.process.send_signal(signal.SIGHUP)
            self.assertEqual(program.error_line(),
                             "scraper: the previous configuration stays in use: "
                             f"{path}:1: scrape_configs: must be a list")
            self.assertEqual(program.signal(signal.SIGINT), 0)

    def test_scrapes_static_targets_and_those_of_files(self):
        text = """
scrape_configs:
- job_name: outside
  static_configs: [{targets: ['127.0.0.1:1'], labels: {env: office}}]
  file_sd_configs: [{files: ['t*.json'], refresh_interval: 1s}]
"""
        with file_with(text, "p.yml") as path:
            targets = os.path.join(os.path.dirname(path), "targets.json")
            replace(targets, '[{"targets": ["127.0.0.1:2"]}]')
            with running("scraper", "--config", path) as program:
                program.line_with(r'^outside: start http://127\.0\.0\.1:[12]/metrics ')
                program.line_with(r'^outside: start http://127\.0\.0\.1:[12]/metrics ')
                replace(targets, "[{")
                replace(targets, '[{"targets": ["127.0.0.1:3"]}]')
                program.line_with(r'^outside: stop http://127\.0\.0\.1:2/metrics ')
                program.line_with(r'^outside: start http://127\.0\.0\.1:3/metrics ')
                self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_several_threads_do_what_one_does(self):
        names = [f"job-{i}" for i in range(8)]
        jobs = "".join(PODS.split("scrape_configs:\n")[1].replace("JOB", name) for name in names)
        with file_with("scrape_configs:\n" + jobs, "p.yml") as path:
            result = run("scraper", "--sim", "--config", path, "--threads", 4,
                         "--timeout", "2500ms", "--report-interval", "2s")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for name in names:
            self.assertRegex(result.stdout, f'(?m)^{name}: start .*pod="web-0"')
            self.assertRegex(result.stdout, f"(?m)^{name}: \d+ targets, [1-9]\d* up")

    def test_another_discovery_with_other_rules_takes_nothing_away_until_it_is_listed(self):
        other = PODS.replace("role: pod", "role: node, api_server: 'http://127.0.0.1:1'").replace(
            "target_label: pod}", "action: keep, regex: nothing}")
        with file_with(PODS, "p.yml") as path, \
                running("scraper", "--sim", "--config", path, "--check-interval", "1h",
                        "--report-interval", "300ms") as program:
            program.line_with(r'^JOB: start .*pod="web-1"')
            replace(path, other)
            program.process.send_signal(signal.SIGHUP)
            program.line_with("^JOB: .*onnection refused")
            # A pod that appears now passed the old rules.
            program.line_with(r'^JOB: start .*pod="web-4"')
            self.assertEqual(program.signal(signal.SIGINT), 0)

    def test_forgets_a_job_that_goes_before_its_first_diff(self):
        jobs = PODS.split("scrape_configs:\n")[1]
        unreachable = jobs.replace("JOB", "gone").replace(
            "role: pod", "role: pod, api_server: 'http://127.0.0.1:1'")
        with file_with(PODS + unreachable, "p.yml") as path, \
                running("scraper", "--sim", "--config", path, "--check-interval", "1h",
                        "--report-interval", "300ms") as program:
            program.line_with("^gone: 0 targets")
            replace(path, PODS.replace("JOB", "other"))
            program.process.send_signal(signal.SIGHUP)
            report = r"^other: \d+ targets"
            program.line_with(report)
            lines = [program.line()]
            while not re.search(report, lines[-1]):
                lines.append(program.line())
            self.assertEqual([line for line in lines if line.startswith("gone: ")], [])
            self.assertEqual(program.signal(signal.SIGINT), 0)

    def test_fails_all_scrapes_above_the_limit_of_targets(self):
        text = PODS + "  target_limit: 1\n"
        with file_with(text, "p.yml") as path:
            result = run("scraper", "--sim", "--config", path, "--scrapes", 3)
        self.assertRegex(result.stdout,
                         "(?m)^JOB: down: .*: there are more targets than target_lim")
        self.assertRegex(result.stdout, "(?m)^JOB: job JOB has 3 targets, more than its target_lim")

    def test_shards_share_the_targets(self):
        # Pods are identified by name only, as the ports differ from run to run.
        text = PODS.replace("target_label: pod}", "target_label: pod}, {target_label: __address__, "
                            "replacement: '127.0.0.1:1'}")
        started = []
        for member in ("agent-0/2", "1/2"):
            with file_with(text, "p.yml") as path:
                result = run("scraper", "--sim", "--config", path, "--shard", member, "--timeout",
                             "400ms")
            self.assertEqual(result.returncode, 0, result.stderr)
            started += re.findall(r'start .*pod="([^"]*)"', result.stdout)
        self.assertEqual(sorted(started), ["cart-2", "web-0", "web-1"])

    def test_explains_the_rules(self):
        result = run("scraper", "--sim", "--explain")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^pods: first target of pod/shop/")
        self.assertRegex(result.stdout, r"(?m)^pods:   rule 0: ")
        self.assertRegex(result.stdout, r'(?m)^pods:     pod: "" -> "(cart|web)-\d"$')

    def test_explains_nothing_where_there_is_nothing(self):
        with file_with("scrape_configs: []\n", "p.yml") as path:
            self.assertEqual(run("scraper", "--sim", "--config", path, "--explain").returncode, 0)

    def test_explain_ends_where_the_server_does_not_answer(self):
        text = PODS.replace("role: pod", "role: pod, api_server: 'http://127.0.0.1:1'")
        with file_with(text, "p.yml") as path:
            result = run("scraper", "--config", path, "--explain", "--timeout=200ms")
        self.assertEqual(result.returncode, 1)
        self.assertIn("not everything has been listed in time", result.stderr)
        self.assertIn("connection refused", result.stdout.lower())

    def test_reports_what_it_ignores_and_strict_refuses_it(self):
        text = PODS + "  honor_labels: true\n"
        with file_with(text, "p.yml") as path:
            lax = run("scraper", "--sim", "--config", path, "--scrapes", 1)
            strict = run("scraper", "--sim", "--config", path, "--strict")
        where = f"scraper: {path}:8: scrape_configs[0].honor_labels: "
        about = "is about how to scrape: left to the program"
        self.assertEqual(lax.stderr, f"{where}{about}\n")
        self.assertEqual(lax.returncode, 0)
        self.assertEqual(strict.stderr, f"{where}{about}, which strict mode refuses\n")
        self.assertEqual(strict.returncode, 2)

    def test_leaves_out_a_job_with_a_mistake(self):
        text = PODS + "- job_name: bad\n  target_limit: x\n"
        with file_with(text, "p.yml") as path:
            lax = run("scraper", "--sim", "--config", path, "--scrapes", 1)
            strict = run("scraper", "--sim", "--config", path, "--strict")
        self.assertIn(f"scraper: left out: {path}:9: scrape_configs[1].target_limit: must be a "
                      "whole number", lax.stderr)
        self.assertEqual(lax.returncode, 0)
        self.assertRegex(lax.stdout, "(?m)^JOB: start ")
        self.assertEqual(strict.returncode, 2)

    def test_takes_variables_of_the_environment_in_the_dialect_of_vmagent(self):
        text = PODS.replace("job_name: JOB", "job_name: 'of-%{K8S_SD_TEST_NAME}'")
        with file_with(text, "p.yml") as path:
            result = run("scraper", "--sim", "--config", path, "--scrapes", 1, "--dialect",
                         "victoriametrics", variables={"K8S_SD_TEST_NAME": "it"})
        self.assertRegex(result.stdout, "(?m)^of-it: start ", result.stderr)

    def test_reports_targets_that_are_down(self):
        text = PODS.replace("target_label: pod}", "target_label: pod}, {target_label: __address__, "
                            "replacement: '127.0.0.1:1'}")
        with file_with(text, "p.yml") as path:
            result = run("scraper", "--sim", "--config", path, "--scrapes", 2)
        self.assertRegex(result.stdout,
                         r"(?m)^JOB: down: http://127\.0\.0\.1:1/metrics: connect: ")

    def test_unusable_arguments(self):
        table = {
            (): "needs --sim, --config FILE or both",
            ("--what",): "unknown option --what",
            ("--config",): "--config needs a value",
            ("--sim", "--scrapes", "x"):
                '--scrapes: "x" is not allowed; allowed is a whole number from 0',
            ("--sim", "--threads", "0"): "--threads: must be at least 1",
            ("--sim", "--timeout", "1x"): "--timeout: has an unknown unit",
            ("--sim", "--shard", "3"): "--shard: must be MEMBER/MEMBERS, e.g. 0/3",
            ("--sim", "--shard", "3/3"): "sharding.member: must be less than members (3)",
            ("--sim", "--strict"): "--strict: needs --config FILE",
            ("--sim", "--replication", "2"): "--replication: needs --shard MEMBER/MEMBERS",
            ("--sim", "--scrape-unconfirmed", "on"):
                "--scrape-unconfirmed: needs --snapshot-dir DIRECTORY",
            ("--sim", "--dialect", "x"): '--dialect: "x" is not allowed; allowed are prometheus',
            ("--config", "/nonexistent/p.yml"): "/nonexistent/p.yml: cannot be read: No such file",
        }
        for arguments, message in table.items():
            with self.subTest(arguments=arguments):
                result = run("scraper", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)

    def test_help_and_version(self):
        result = run("scraper", "--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Usage: scraper", result.stdout)
        self.assertRegex(run("scraper", "--version").stdout, r"^scraper \(k8s_sd\) \d")


if __name__ == "__main__":
    unittest.main()
