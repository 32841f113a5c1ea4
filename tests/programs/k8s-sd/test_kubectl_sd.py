"""kubectl-sd, the plugin of kubectl, with a simulated cluster."""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import harness
from config_maps import ConfigMaps, server_of_config_map
from harness import (TIMEOUT, JsonHandler, SilentHandler, file_with, run, running, server_with,
                     simulated_cluster)

try:
    import yaml
except ImportError:
    yaml = None

JOBS = """
scrape_configs:
- job_name: pods
  kubernetes_sd_configs:
  - role: pod
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scrape]
    regex: "true"
    action: keep
- job_name: nodes
  kubernetes_sd_configs:
  - role: node
"""
RULE = "rule 0: keep if __meta_kubernetes_pod_annotation_prometheus_io_scrape matches true"
# Further roles, each with a rule that drops one object: "%s" is for a server.
DROPPING = """
scrape_configs:
- job_name: pods
  kubernetes_sd_configs: [{role: pod%s}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_name], regex: orders-.*, action: drop}
- job_name: services
  kubernetes_sd_configs: [{role: service%s}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_service_name], regex: orders-.*, action: drop}
- job_name: ingresses
  kubernetes_sd_configs: [{role: ingress%s}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_ingress_host], regex: pay.*, action: drop}
"""
SHORT = {"pod": "po", "service": "svc", "ingress": "ing"}
# An object, its job, the beginning of its target, and the reason.
DROPPED = (("pod/shop/orders-db-0", "pods", "10.",
            "rule 0: drop if __meta_kubernetes_pod_name matches orders-.*"),
           ("service/shop/orders-db", "services", "orders-db.shop.svc:5432",
            "rule 0: drop if __meta_kubernetes_service_name matches orders-.*"),
           ("ingress/payments/checkout", "ingresses", "pay.example.com",
            "rule 0: drop if __meta_kubernetes_ingress_host matches pay.*"))


class YoungK8sSd(JsonHandler):
    """A k8s-sd that knows the object web from the second question on."""
    questions = 0

    def do_GET(self):
        YoungK8sSd.questions += 1
        found = self.questions > 1
        self.reply(200, {
            "found": found, "complete": True,
            "jobs": [{"job": "pods", "complete": found, "not": [], "not_total": 0, "text": "",
                      "in": [{"job": "pods", "state": "active"}] * found}]})


class NeverComplete(JsonHandler):
    """A k8s-sd whose job never lists everything."""
    def do_GET(self):
        self.reply(200, {"found": False, "complete": True, "jobs": [
            {"job": "pods", "complete": False, "not": [], "not_total": 0, "text": "", "in": []}]})


class OddK8sSd(JsonHandler):
    """Answers by the first part of the path."""
    page = {"complete": True, "rows": [{"job": "a", "state": "active"}]}

    def do_GET(self):
        kind = self.path.split("/")[1]
        after = self.path.rpartition("&after=")[2]
        answers = {"refusing": (403, b"not here\nsecond line"), "page": (502, b"<html>"),
                   "empty": (503, b""), "list": (200, b"[]"), "text": (200, b"hello"),
                   "no-rows": (200, b"{\"complete\": true}"),
                   "wrong-rows": (200, b"{\"complete\": true, \"rows\": 1}")}
        nexts = {"same": "a", "circle": "b" if after == "a" else "a"}
        if kind in nexts:
            return self.reply(200, {**self.page, "next": nexts[kind]})
        self.reply_bytes(*answers[kind], "text/plain")


def url_of(server):
    return server.line_with(r"http://\S+")[0]


def columns(line):
    return re.split(" {3,}", line)


AWAY = "http://127.0.0.1:1"


@contextlib.contextmanager
def clusters(**servers):
    """Options for a kubeconfig with a context for each name, and the URLs. "sim": a simulated
    cluster."""
    with contextlib.ExitStack() as stack:
        urls = {name: stack.enter_context(simulated_cluster()) if url == "sim" else url
                for name, url in servers.items()}
        text = json.dumps({
            "clusters": [{"name": name, "cluster": {"server": url}} for name, url in urls.items()],
            "contexts": [{"name": name, "context": {"cluster": name}} for name in urls]})
        yield ("--kubeconfig", stack.enter_context(file_with(text, "kc"))), urls


class SeveralClusters(unittest.TestCase):
    """Contexts of one kubeconfig."""

    def ask(self, *arguments, status=0, jobs=JOBS):
        with file_with(jobs) as config:
            result = run("kubectl-sd", *arguments, "--config", config)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_each_cluster_has_rows(self):
        with clusters(blue="sim", green="sim") as (kc, _):
            both = (*kc, "--context", "green", "--context", "blue")
            why = self.ask("why", "orders-db-0", "-n", "shop", *both)
            wide = self.ask("why", "node/node-a1", *both, "-o", "wide")
            targets = self.ask("targets", "nodes", *kc, "--all-contexts")
            one = self.ask("targets", "nodes", *kc, "--context", "blue")
        rows = list(map(columns, why.stdout.splitlines()))
        self.assertEqual(rows[0], ["CLUSTER", "JOB", "OBJECT", "TARGET", "SCRAPED", "REASON"])
        self.assertEqual([row[:3] for row in rows[1:] if row[1] == "pods"],
                         [["green", "pods", "pod/shop/orders-db-0"],
                          ["blue", "pods", "pod/shop/orders-db-0"]])
        self.assertEqual((why.stderr, len(rows)), ("", 5))
        self.assertEqual(columns(wide.stdout.splitlines()[0])[5], "NODE")
        found = [columns(line)[0] for line in targets.stdout.splitlines()[1:]]
        self.assertEqual(found.count("blue"), found.count("green"))
        self.assertEqual(found.count("blue"), len(one.stdout.splitlines()) - 1)
        self.assertEqual(columns(one.stdout.splitlines()[0])[0], "JOB")

    def test_a_cluster_that_is_away_does_not_hide_the_others(self):
        with clusters(away=AWAY, blue="sim") as (kc, _):
            result = self.ask("why", "node/node-a1", *kc, "--all-contexts", "--timeout", 30,
                              "-o", "json", status=1)
        self.assertTrue(result.stderr.startswith(
            "kubectl-sd: away: not everything has been listed in time:\n"), result.stderr)
        away, blue = json.loads(result.stdout)["clusters"]
        self.assertEqual((away["cluster"], set(away)), ("away", {"cluster", "error"}))
        self.assertEqual((blue["cluster"], blue["found"]), ("blue", True))

    def test_a_context_that_cannot_be_used_is_an_error(self):
        with clusters(blue="sim", broken="") as (kc, _):
            why = self.ask("why", "node/node-a1", *kc, "--all-contexts", "-o", "json", status=1)
            targets = self.ask("targets", "nodes", *kc, "--all-contexts", status=1)
        broken, blue = json.loads(why.stdout)["clusters"]
        self.assertEqual((broken["cluster"], set(broken)), ("broken", {"cluster", "error"}))
        self.assertEqual((blue["cluster"], blue["found"]), ("blue", True))
        self.assertRegex(targets.stderr, r"^kubectl-sd: broken: .*is missing\n$")
        self.assertIn("node/node-a1", targets.stdout)

    def test_without_an_answer_json_has_the_errors(self):
        with clusters(a=AWAY, b=AWAY) as (kc, _):
            result = self.ask("why", "web", *kc, "--all-contexts", "--timeout", 0.1, "-o", "json",
                              status=1)
        self.assertEqual([set(one) for one in json.loads(result.stdout)["clusters"]],
                         [{"cluster", "error"}] * 2)

    def test_more_clusters_than_are_asked_at_a_time(self):
        with clusters(blue="sim") as (_, urls), clusters(
                **{f"c{i}": urls["blue"] for i in range(10)}) as (kc, _):
            jobs = "scrape_configs: [{job_name: n, kubernetes_sd_configs: [{role: node}]}]"
            found = self.ask("why", "node/node-a1", *kc, "--all-contexts", "--timeout", 50, "-o",
                             "json", jobs=jobs)
        answers = json.loads(found.stdout)["clusters"]
        self.assertEqual([(one["cluster"], one["found"]) for one in answers],
                         [(f"c{i}", True) for i in range(10)])

    def test_a_server_of_the_configuration_keeps_its_name(self):
        with clusters(blue="sim", green="sim") as (kc, urls):
            jobs = ("scrape_configs: [{job_name: nodes, kubernetes_sd_configs: [{role: node, "
                    "api_server: '%s', cluster: prod}]}]" % urls["blue"])
            why = self.ask("why", "node/node-a1", *kc, "--all-contexts", jobs=jobs)
            rows = json.loads(self.ask("targets", *kc, "--all-contexts", "-o", "json",
                                       jobs=jobs).stdout)
        self.assertEqual([columns(line)[0] for line in why.stdout.splitlines()],
                         ["CLUSTER", "prod", "prod"])
        self.assertEqual({row["cluster"] for row in rows}, {"prod"})

    def test_a_running_k8s_sd_says_the_cluster_of_each_target(self):
        with clusters(blue="sim", green="sim") as (kc, _), file_with(JOBS) as config, running(
                "k8s-sd", "--config", config, *kc, "--all-contexts", "--listen",
                "127.0.0.1:0") as server:
            server.wait_for_list("nodes")
            url = url_of(server)
            why = run("kubectl-sd", "why", "node/node-a1", "--from", url, "-o", "wide")
            rows = json.loads(run("kubectl-sd", "targets", "nodes", "--from", url, "-o",
                                  "json").stdout)
        heading, *lines = map(columns, why.stdout.splitlines())
        self.assertEqual(heading[:2], ["CLUSTER", "JOB"], why.stderr)
        self.assertEqual(sorted(line[:2] for line in lines if line[1] == "nodes"),
                         [["blue", "nodes"], ["green", "nodes"]])
        self.assertEqual({row["cluster"] for row in rows}, {"blue", "green"})

    def test_rules_see_the_name_of_the_cluster(self):
        jobs = """
scrape_configs:
- job_name: nodes
  kubernetes_sd_configs: [{role: node}]
  relabel_configs:
  - {source_labels: [region], regex: green, action: keep}
"""
        with clusters(blue="sim", green="sim") as (kc, _):
            rows = json.loads(self.ask("targets", *kc, "--all-contexts", "--cluster-label",
                                       "region", "-o", "json", jobs=jobs).stdout)
        states = {(row["cluster"], row["state"]) for row in rows}
        self.assertEqual(states, {("blue", "dropped"), ("green", "active")})

    def test_each_cluster_has_its_own_config_map(self):
        jobs = "scrape_configs: [{job_name: x, static_configs: [{targets: ['192.0.2.1:80']}]}]"
        error = "kubectl-sd: other: the ConfigMap sd in the namespace monitoring: "
        with server_of_config_map({"sd.yml": jobs}) as url, \
                clusters(other=url + "/other", blue=url, bad=url + "/bad") as (kc, _):
            def ask(*words):
                result = run("kubectl-sd", *words, "--configmap", "monitoring/sd", *kc,
                             "--all-contexts")
                self.assertEqual(result.returncode, 1)
                self.assertIn(error, result.stderr)
                self.assertRegex(result.stderr, r"(?m)^kubectl-sd: bad: monitoring/sd/sd\.yml:1: ")
                return result
            targets = ask("targets")
            rows = ask("targets", "-o", "json")
            found = ask("why", "192.0.2.1:80")
            none = ask("why", "192.0.2.2:80")
        self.assertRegex(targets.stdout, r"(?m)^blue +x .* http://192\.0\.2\.1:80/metrics")
        self.assertEqual({row["cluster"] for row in json.loads(rows.stdout)}, {"blue"})
        self.assertEqual([columns(line)[0] for line in found.stdout.splitlines()],
                         ["CLUSTER", "blue"])
        self.assertTrue(none.stderr.endswith(
            "kubectl-sd: no job discovers 192.0.2.2:80 in the other clusters\n"), none.stderr)

    def test_mistakes(self):
        with clusters(blue=AWAY, green=AWAY) as (kc, _):
            both = (*kc, "--context", "blue", "--context", "green")
            bad = self.ask("targets", *both, status=2, jobs="scrape_configs: {")
            self.assertEqual(bad.stderr.count("sd.yaml"), 1, bad.stderr)
            for arguments, text in (
                    (("--all-contexts", "--sim"), "--sim: is one cluster"),
                    ((*both, "--cluster", "x"), "--cluster: names one server"),
                    ((*kc, "--context", "blue", "--context", "x"), 'there is no context "x"')):
                self.assertIn(text, self.ask("targets", *arguments, status=2).stderr)
            result = run("kubectl-sd", "targets", "--from", AWAY, *both)
        self.assertEqual(result.returncode, 2)
        self.assertIn("of its own; leave out --kubeconfig; ", result.stderr)


class Plugin(unittest.TestCase):
    def ask(self, *arguments, status=0, jobs=JOBS):
        with file_with(jobs) as config:
            result = run("kubectl-sd", *arguments, "--sim", "--config", config)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def assert_dropped(self, result, source, job, target, reason):
        """The rule drops all targets of this object, and the other jobs do not discover it."""
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = [columns(line) for line in result.stdout.splitlines()[1:]]
        found = [row for row in rows if row[0] == job]
        self.assertTrue(found, rows)
        for row in found:
            self.assertEqual((row[1], row[3], row[4]), (source, "no", reason))
            self.assertTrue(row[2].startswith(target), row)
        for row in rows:
            if row[0] != job:
                self.assertEqual(row[1:4], ["<none>", "<none>", "no"])
                self.assertRegex(row[4], f"^looks at {row[0]} in ")
        self.assertEqual({row[0] for row in rows}, {"pods", "services", "ingresses"})

    def test_a_dropped_pod_is_explained_for_each_job(self):
        for words in (("pod/shop/orders-db-0",), ("orders-db-0", "-n", "shop"),
                      ("pod", "orders-db-0", "--namespace=shop"), ("orders-db-0",),
                      ("shop/orders-db-0", "-n", "shop")):
            with self.subTest(words=words):
                heading, pods, nodes = map(columns, self.ask("why", *words).stdout.splitlines())
                self.assertEqual(heading, ["JOB", "OBJECT", "TARGET", "SCRAPED", "REASON"])
                self.assertEqual(pods[:2], ["pods", "pod/shop/orders-db-0"])
                self.assertRegex(pods[2], r"^[\d.]+:5432$")
                self.assertEqual(pods[3:], ["no", RULE])
                self.assertEqual(nodes[:4], ["nodes", "<none>", "<none>", "no"])
                self.assertRegex(nodes[4], "^looks at nodes")

    def test_an_address_is_in_no_namespace(self):
        pods = columns(self.ask("why", "orders-db-0").stdout.splitlines()[1])
        address = pods[2].removesuffix(":5432")
        for words in ((address,), (address, "-n", "shop"), (pods[2], "-n", "shop")):
            with self.subTest(words=words):
                self.assertEqual(columns(self.ask("why", *words).stdout.splitlines()[1]), pods)

    def test_dropped_pods_services_and_ingresses_are_explained(self):
        for source, *wanted in DROPPED:
            kind, ns, name = source.split("/")
            for words in ((source,), (f"{kind}/{name}",), (SHORT[kind], name, "-n", ns), (name,)):
                with self.subTest(words=words):
                    result = self.ask("why", *words, jobs=DROPPING % ("", "", ""))
                    self.assert_dropped(result, source, *wanted)

    def test_a_scraped_service_and_ingress_have_their_urls(self):
        for source, url in (
                ("service/monitoring/grafana", "http://grafana.monitoring.svc:3000/metrics"),
                ("ingress/shop/storefront", "http://shop.example.com/metrics")):
            lines = self.ask("why", source, jobs=DROPPING % ("", "", "")).stdout.splitlines()
            self.assertIn([source, url, "yes"], [columns(line)[1:4] for line in lines])

    def test_a_scraped_object_has_its_url(self):
        lines = self.ask("why", "node/node-a1", "-owide").stdout.splitlines()
        self.assertEqual(columns(lines[0])[4], "NODE")
        rows = [columns(line) for line in lines if line.startswith("nodes ")]
        self.assertEqual((rows[0][1], rows[0][3]), ("node/node-a1", "yes"))
        self.assertRegex(rows[0][2], "^http://.*/metrics$")

    def test_an_object_that_there_is_not(self):
        result = self.ask("why", "nothing", status=1)
        self.assertEqual(result.stderr, "kubectl-sd: no job discovers nothing\n")
        self.assertEqual(len(result.stdout.splitlines()), 3)

    def test_targets_of_a_namespace_and_of_a_job(self):
        shop = self.ask("targets", "pods", "-n", "shop").stdout.splitlines()
        self.assertGreater(len(shop), 5)
        for line in shop[1:]:
            self.assertRegex(line, r"^pods +pod/shop/")
        every = self.ask("targets").stdout.splitlines()
        self.assertGreater(len(every), len(shop))
        self.assertTrue(any(line.startswith("nodes ") for line in every))

    def test_answers_as_json_and_yaml(self):
        answer = json.loads(self.ask("why", "orders-db-0", "-o", "json").stdout)
        self.assertEqual(answer["jobs"][0]["not"][0]["reason"], RULE)
        rows = json.loads(self.ask("targets", "nodes", "-o=json").stdout)
        self.assertEqual({row["job"] for row in rows}, {"nodes"})
        if yaml:
            answer = yaml.safe_load(self.ask("why", "orders-db-0", "-o", "yaml").stdout)
            self.assertEqual(answer["jobs"][0]["not"][0]["reason"], RULE)
            self.assertIs(answer["found"], True)

    def test_a_running_k8s_sd_is_asked(self):
        with file_with(JOBS) as config, running(
                "k8s-sd", "--sim", "--config", config, "--listen", "127.0.0.1:0") as server:
            url = url_of(server)
            heading, pods, _ = map(columns, run("kubectl-sd", "why", "orders-db-0", "-n", "shop",
                                                "--from", url).stdout.splitlines())
            self.assertEqual(heading, ["JOB", "OBJECT", "TARGET", "SCRAPED", "REASON"])
            self.assertEqual((pods[0], pods[1], pods[3]), ("pods", "pod/shop/orders-db-0", "no"))
            self.assertEqual(pods[4], RULE)
            rows = run("kubectl-sd", "targets", "nodes", "--from", url + "/").stdout.splitlines()
            self.assertGreater(len(rows), 2)
            for row in rows[1:]:
                self.assertRegex(row, "^nodes +node/")
            missing = run("kubectl-sd", "why", "nothing", "--from", url)
            self.assertEqual((missing.returncode, missing.stderr),
                             (1, "kubectl-sd: no job discovers nothing\n"))

    def test_a_running_k8s_sd_that_asks_for_a_token(self):
        with file_with("a-secret") as token, running(
                "k8s-sd", "--sim", "--role", "pod", "--listen", "127.0.0.1:0",
                "--page-token-file", token) as server:
            url = url_of(server)
            refused = run("kubectl-sd", "targets", "--from", url)
            self.assertEqual(refused.returncode, 1)
            self.assertRegex(refused.stderr, f"^kubectl-sd: {re.escape(url)}: status 401: a token "
                                             "is needed here, .*; --token-file FILE has the "
                                             "token\n$")
            allowed = run("kubectl-sd", "targets", "--from", url, "--token-file", token)
            self.assertEqual((allowed.returncode, allowed.stderr), (0, ""))

    def test_what_is_no_k8s_sd_is_said(self):
        with server_with(OddK8sSd) as url:
            for command, kind, text in (
                    ("targets", "refusing", ": status 403: not here"),
                    ("targets", "page", " is no k8s-sd: it answers with status 502"),
                    ("targets", "empty", " is no k8s-sd: it answers with status 503"),
                    ("targets", "list", " is no k8s-sd: its answer is no JSON object"),
                    ("targets", "text", " is no k8s-sd: its answer is no JSON object"),
                    ("targets", "no-rows", " is no k8s-sd: its answer has no rows"),
                    ("targets", "wrong-rows", " is no k8s-sd: its answer has no rows"),
                    ("why", "no-rows", " is no k8s-sd: its answer has no jobs"),
                    ("targets", "same", " is no k8s-sd: it repeats a page of its answer")):
                with self.subTest(command=command, kind=kind):
                    result = run("kubectl-sd", command, "web", "--from", f"{url}/{kind}")
                    self.assertEqual((result.returncode, result.stdout, result.stderr),
                                     (1, "", f"kubectl-sd: {url}/{kind}{text}\n"))

    def test_pages_do_not_come_for_longer_than_the_timeout(self):
        with server_with(OddK8sSd) as url:
            result = run("kubectl-sd", "targets", "--from", url + "/circle", "--timeout", "0.5")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, "", f"kubectl-sd: {url}/circle has not answered in time\n"))

    def test_nothing_answers_at_the_url(self):
        for url, text in (("http://127.0.0.1:1", "http://127.0.0.1:1: connection refused"),
                          ("127.0.0.1:1", "must begin with http")):
            result = run("kubectl-sd", "targets", "--from", url)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(text, result.stderr.lower())

    def test_the_configuration_is_in_a_config_map(self):
        jobs = """
scrape_configs:
- job_name: fixed
  static_configs:
  - targets: ["192.0.2.1:80"]
"""
        with server_of_config_map({"prometheus.yml": jobs, "other": "x"}) as url:
            for name in ("monitoring/sd", "monitoring/sd/prometheus.yml"):
                result = run("kubectl-sd", "targets", "--api-server", url, "--configmap", name)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertRegex(result.stdout, r"(?m)^fixed .* http://192\.0\.2\.1:80/metrics")
            bad = run("kubectl-sd", "targets", "--api-server", url + "/bad", "--configmap",
                      "monitoring/sd")
            self.assertEqual(bad.returncode, 2)
            self.assertIn(": monitoring/sd/sd.yml:1: ", bad.stderr)
            for name, text in (
                    ("monitoring/sd/x", "has no key x; its keys are "),
                    ("monitoring/none", "the ConfigMap none in the namespace monitoring: ")):
                result = run("kubectl-sd", "targets", "--api-server", url, "--configmap", name)
                self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
                self.assertIn(text, result.stderr)

    def test_a_rule_of_a_config_map_drops_the_object(self):
        with simulated_cluster() as cluster, server_of_config_map(
                {"sd.yml": DROPPING % ((f", api_server: '{cluster}'",) * 3)}) as url:
            for source, *wanted in DROPPED:
                with self.subTest(source=source):
                    result = run("kubectl-sd", "why", source, "--api-server", url, "--configmap",
                                 "monitoring/sd")
                    self.assert_dropped(result, source, *wanted)

    def test_rights_and_checks_are_those_of_discover(self):
        plugin = run("kubectl-sd", "rbac", "--role", "node")
        self.assertEqual((plugin.returncode, plugin.stdout),
                         (0, run("discover", "--print-rbac", "--role", "node").stdout))
        self.assertEqual(run("kubectl-sd", "check", "--role", "pod", "-o", "json").returncode, 2)

    def test_mistakes(self):
        for arguments, text in (((), "needs a command"), (("wy",), "unknown command wy"),
                                (("why", "--sim", "x"), "--config FILE is missing"),
                                (("why", "--sim", "--config", __file__), "needs one object"),
                                (("why", "a", "-o", "xml", "--config", __file__), "--output"),
                                (("why", "a", "--configmap", "x"), "must be NAMESPACE/NAME"),
                                (("targets", "--config", __file__, "--from", "http://a"),
                                 "only one of them"),
                                *((("targets", "--from", "http://a", *more),
                                   "of its own; leave out " + more[0])
                                  for more in (("--sim",), ("--context", "a"),
                                               ("--cluster", "a"), ("--cluster-label", "a"),
                                               ("--dialect", "victoriametrics"),
                                               ("--insecure-skip-tls-verify",),
                                               ("--username", "u"), ("--header", "a: b")))):
            result = run("kubectl-sd", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stdout, "")
        helped = run("kubectl-sd", "--help")
        self.assertEqual((helped.returncode, helped.stderr), (0, ""))
        self.assertTrue(helped.stdout.startswith("Usage: kubectl sd COMMAND"))
        for form in ("-h", "help"):
            self.assertEqual(run("kubectl-sd", form).stdout, helped.stdout)
        self.assertEqual(run("kubectl-sd", "why", "-h").stdout,
                         run("kubectl-sd", "why", "--help").stdout)
        self.assertRegex(run("kubectl-sd", "--version").stdout,
                         r"^kubectl-sd \(k8s_sd\) \d+\.\d+\.\d+\n$")
        self.assertIn("Usage: kubectl-sd why", run("kubectl-sd", "why", "--help").stdout)

    def test_without_an_api_server_it_says_what_is_missing(self):
        with file_with(JOBS) as config:
            result = run("kubectl-sd", "why", "web", "--config", config, "--api-server",
                         "http://127.0.0.1:1", "--timeout", "0.1")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "not everything has been listed in time:\n")

    def test_the_time_for_lists_begins_after_the_configuration(self):
        jobs = "scrape_configs:\n" + "".join(
            f"- {{job_name: j{i}, kubernetes_sd_configs: [{{role: node}}]}}\n" for i in range(1000))
        with file_with(jobs) as config:
            result = run("kubectl-sd", "targets", "--config", config, "--api-server", AWAY,
                         "--timeout", "0.001")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "not everything has been listed in time:\n")

    def test_a_young_k8s_sd_is_asked_again(self):
        YoungK8sSd.questions = 0
        with server_with(YoungK8sSd) as url:
            result = run("kubectl-sd", "why", "web", "--from", url)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(YoungK8sSd.questions, 2)

    def test_what_is_not_known_in_time_is_said(self):
        with server_with(NeverComplete) as url:
            result = run("kubectl-sd", "why", "web", "--from", url, "--timeout", "0.7")
        self.assertEqual(result.returncode, 1)
        self.assertIn("pods", result.stdout)
        self.assertIn("no job discovers web", result.stderr)

    def test_a_silent_k8s_sd_is_not_waited_for_longer_than_the_timeout(self):
        with server_with(SilentHandler) as url:
            result = run("kubectl-sd", "targets", "--from", url, "--timeout", "0.5")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, "", f"kubectl-sd: {url} has not answered in time\n"))

    def test_output_that_cannot_be_written_is_an_error(self):
        with file_with(JOBS) as config, open("/dev/full", "w") as full:
            for name, *words in (("kubectl-sd", "targets", "--sim", "--config", config),
                                 ("k8s-sd", "--config", config, "--check"),
                                 ("kubectl-sd", "--help"), ("kubectl-sd", "--version"),
                                 ("kubectl-sd", "why", "--help"), ("k8s-sd", "--help"),
                                 ("k8s-sd", "--version"), ("discover", "--help")):
                with self.subTest(name, words=words):
                    result = subprocess.run(harness.command(name, words), stdout=full,
                                            stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
                    self.assertEqual(result.returncode, 1)
                    self.assertRegex(result.stderr,
                                     rf"\A{name}.*: cannot write to standard output\n\Z")

    def test_a_configuration_without_room_is_an_error(self):
        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

        with server_of_config_map({"sd.yml": JOBS}) as url, tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                harness.command("kubectl-sd", ["targets", "--api-server", url, "--configmap",
                                               "monitoring/sd"]),
                capture_output=True, text=True, timeout=TIMEOUT, preexec_fn=limit_files,
                env={**os.environ, "TMPDIR": folder})
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "/sd.yml: cannot be written: File too large")

    def test_a_signal_leaves_no_configuration_behind(self):
        with server_of_config_map({"sd.yml": JOBS}) as maps, socket.create_server(
                ("127.0.0.1", 0)) as silent, tempfile.TemporaryDirectory() as folder, clusters(
                    blue=maps, silent=f"http://127.0.0.1:{silent.getsockname()[1]}") as (kc, _):
            def interrupted(wait, *options):
                with running("kubectl-sd", "targets", "--configmap", "monitoring/sd", *kc,
                             *options, variables={"TMPDIR": folder}) as program:
                    with wait():  # a connection stays open
                        self.assertEqual(program.signal(signal.SIGINT), 1)
                self.assertEqual(os.listdir(folder), [])
            silent.settimeout(TIMEOUT)
            interrupted(lambda: silent.accept()[0], "--all-contexts")

            def wait_for_lists():
                self.assertTrue(ConfigMaps.asked_for_nodes.wait(TIMEOUT))
                return contextlib.nullcontext()
            interrupted(wait_for_lists, "--context", "blue")

    def test_rights_are_checked_in_each_cluster(self):
        with clusters(blue="sim", away=AWAY) as (kc, _):
            result = run("kubectl-sd", "check", "--role", "node", *kc, "--all-contexts",
                         "--timeout", 30)
        self.assertEqual(result.returncode, 1)
        for cluster, step in (("blue", "ok "), ("away", "FAILED ")):
            self.assertRegex(result.stdout, rf"(?m)^\[{cluster}\] {step}")
        self.assertNotIn("[blue] FAILED", result.stdout)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl_finds_it(self):
        folder = os.path.dirname(harness.command("kubectl-sd", ())[0])
        environment = {**harness.environment(),
                       "PATH": folder + os.pathsep + os.environ["PATH"]}
        with file_with(JOBS) as config:
            result = subprocess.run(["kubectl", "sd", "why", "orders-db-0", "-n", "shop", "--sim",
                                     "--config", config], env=environment, capture_output=True,
                                    text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(RULE, result.stdout)


if __name__ == "__main__":
    unittest.main()
