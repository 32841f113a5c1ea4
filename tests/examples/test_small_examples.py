"""The small example programs run and end."""

import re
import signal
import unittest

from harness import run, running, simulated_cluster


class SmallExamples(unittest.TestCase):
    def test_minimal_prints_addresses_and_changes(self):
        with simulated_cluster() as url, running("minimal", url) as program:
            program.line_with(r"^\d+\.\d+\.\d+\.\d+:\d+$")
            program.line_with("^pod/.* removed$")

    def test_minimal_without_a_url_says_where_it_looked(self):
        result = run("minimal")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr,
                         r"^minimal: .* tried \$KUBECONFIG \(not set\), in-cluster .*\n$")

    def test_minimal_says_what_is_wrong_with_the_url(self):
        result = run("minimal", "ftp://127.0.0.1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the scheme must be http or https", result.stderr)

    def ends_after_changes(self, program, *patterns):
        result = run(program, "--diffs", 4)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        for pattern in patterns:
            self.assertRegex(result.stdout, pattern)

    def test_existing_app(self):
        self.ends_after_changes("existing_app", r"(?m)^\d+ groups added or changed, \d+ removed; "
                                r"\d+ groups, \d+ targets$",
                                "k8s_sd_diffs_delivered_total 4", "discovery ended: ")

    def test_coroutine(self):
        self.ends_after_changes("coroutine", r"(?m)^\d+ pods$")

    def test_coroutine_ends_by_a_signal(self):
        with running("coroutine") as program:
            program.line_with(r"^\d+ pods$")
            program.process.send_signal(signal.SIGTERM)
            program.line_with("^discovery ended: ")
            self.assertEqual(program.process.wait(), 0)

    def test_clusters_of_an_inventory_come_and_go(self):
        result = run("clusters")
        self.assertEqual(result.returncode, 0, result.stderr)
        for pattern in (r"(?m)^cluster fleet/green: the green cluster$",
                        r"(?m)^\+ fleet/blue 10\.9\.0\.1:10250$",
                        r"(?m)^  fleet/blue: healthy, \d targets, \d+ requests, \d connections?",
                        r"(?m)^cluster fleet/green is gone$",
                        r"(?m)^- fleet/green 10\.0\.0\.3:10250$"):
            self.assertRegex(result.stdout, pattern)

    def test_watch_url(self):
        self.ends_after_changes("watch_url", r"(?m)^\d+ running pods; changes from now on:$",
                                "(?m)^[-~] shop/|^[-~+] ")

    def test_agent(self):
        self.ends_after_changes("agent", r"(?m)^\S+: \S+/\S+ on \S+ app=")

    def test_balancer(self):
        self.ends_after_changes("balancer", r"(?m)^\+ shop/\S+: \d+\.\d+\.\d+\.\d+")

    def test_crd_watch(self):
        self.ends_after_changes("crd_watch", r"(?m)^\+ shop/blue \{.*\"spec\":\{\"size\":1",
                                "(?m)^~ shop/blue ", "(?m)^- shop/red ")

    def test_crd_watch_prints_chosen_fields_of_any_resource(self):
        with simulated_cluster() as url:
            result = run("crd_watch", "--diffs", 1, "--resource", "apps/Deployment",
                         "--field", "spec.replicas", url)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r'(?m)^\+ shop/\S+ \{"spec":\{"replicas":\d+\}\}$')

    def test_crd_watch_says_what_the_server_does_not_have(self):
        with running("crd_watch", "--resource", "example.com/Gadget") as program:
            self.assertIn('has no "Gadget"; is its CustomResourceDefinition there',
                          program.error_line())
            self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_many_jobs(self):
        result = run("many_jobs", "--steps", 7, "--interval", 0.3)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        steps = re.split(r"(?m)^step \d+: ", result.stdout)[1:]
        self.assertEqual(len(steps), 7)
        lists = [int(re.search(r"\((\d+) new lists", step)[1]) for step in steps]
        self.assertEqual(lists, [4, 0, 0, 1, 0, 0, 1])
        self.assertRegex(steps[0], r"(?m)^  shop, first diff: \d+ groups added or changed, 0 removed")
        renamed = steps[1]
        self.assertLess(renamed.index("webshop, first diff"), renamed.index("shop, last diff"))
        self.assertRegex(steps[3], r"webshop: [1-9]\d* groups added or changed, [1-9]\d* removed")
        self.assertRegex(steps[4], r"webshop: configuration 0 cannot be used: selectors\[0\]")
        self.assertNotRegex(steps[4], r"webshop: .* removed")
        self.assertEqual(len(re.findall("last diff", steps[6])), 2)
        self.assertIn("discovery ended: ", steps[6])

    def test_many_jobs_of_a_server_that_is_not_there(self):
        result = run("many_jobs", "--timeout", 1, "--interval", 0.1, "http://127.0.0.1:1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("diff:", result.stdout)
        self.assertIn("not listed yet: shop: ", result.stdout)
        self.assertIn("onnection refused", result.stdout)
        self.assertIn("discovery ended: ", result.stdout)

    def test_object_cache_follows_rotation(self):
        self.ends_after_changes("object_cache",
                                r"(?m)^read Secret shop/db-credentials: password \(\d bytes\), user ",
                                r"(?m)^Secret shop/db-credentials: ",
                                r"(?m)^ConfigMap shop/settings: log-level \(\d bytes\)$",
                                r"(?m)^Secret shop/db-credentials is present, 3 references$")

    def test_object_cache_reports_removals(self):
        result = run("object_cache", "--diffs", 12)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Secret shop/queue-token: does not exist", result.stdout)

    def test_arguments_that_are_no_urls_are_refused(self):
        for program, argument in (("minimal", "--help"), ("own_targets", "--help"),
                                  ("own_tokens", "--help"), ("own_tokens", "x")):
            result = run(program, argument)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"usage: {program}", result.stderr)

    def test_own_tokens_are_used_one_after_the_other(self):
        result = run("own_tokens")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertEqual(re.findall("(?m)^.*(?:token is|token was).*$", result.stdout),
                         ["a token is needed", "the last token was refused"])
        self.assertRegex(result.stdout, "(?m)^node/a, seen with token 1$")
        self.assertRegex(result.stdout, "(?m)^node/b, seen with token 2$")
        self.assertIn("discovery ended: ", result.stdout)

    def test_own_targets_are_delivered_beside_those_of_the_cluster(self):
        result = run("own_targets")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        lines = result.stdout.splitlines()
        for line in ("all: 0: gateway.example.com:9100", "all: node/a: 10.0.0.1:10250"):
            self.assertIn(line, lines)
        self.assertEqual([line for line in lines if "db-1" in line or "inventory does" in line],
                         ["all: inventory/db: db-1:9104 db-2:9104",
                          "all: inventory/db: db-1:9104 db-2:9104 db-3:9104",
                          "sources: the inventory does not answer"])
        self.assertRegex(lines[-1], "^discovery ended: ")

    def test_signals_end_them(self):
        for program in ("existing_app", "coroutine", "many_jobs", "watch_url", "agent",
                        "balancer", "crd_watch", "object_cache"):
            with self.subTest(program), running(program) as instance:
                instance.line()
                self.assertEqual(instance.signal(signal.SIGTERM), 0)

    def test_trouble_is_no_end(self):
        with running("existing_app", "http://127.0.0.1:1") as program:
            program.line_with("^discovery has trouble: .*connection refused")
            self.assertEqual(program.signal(signal.SIGINT), 0)


if __name__ == "__main__":
    unittest.main()
