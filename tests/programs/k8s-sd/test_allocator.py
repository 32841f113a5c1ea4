"""k8s-sd replaces OpenTelemetry's Target Allocator: the test requests its API as a collector's
receiver does."""

import gzip
import contextlib
import http.client
import json
import socket
import time
import unittest
import urllib.parse

from cluster_profiles import simulated_hub
from consistent_hashing import Allocation
from harness import TIMEOUT, file_with, replace_file, run
from test_serving import serving, serving_file

try:
    import yaml
except ImportError:
    yaml = None

JOBS = """
scrape_configs:
- job_name: serviceMonitor/shop/a b/0
  basic_auth: {username: u, password: hush}
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: metrics, action: keep}
- job_name: nodes
  kubernetes_sd_configs: [{role: node}]
- job_name: nothing
  static_configs: []
"""
SMALL = """
scrape_configs:
- job_name: a b/0
  scrape_interval: 15s
  honor_labels: true
  basic_auth: {username: u, password: hush}
  static_configs: [{targets: ['c:1', 'd:1'], labels: {team: red}}]
  relabel_configs:
  - {source_labels: [__address__], regex: '(.+)', target_label: host}
  - {source_labels: [a], target_label: b, action: keepequal}
- job_name: nothing
  static_configs: []
"""
# Several addresses become one target: two ports of one service.
SAME = """
scrape_configs:
- job_name: one
  static_configs: [{targets: ['b:1', 'a:1', 'c:2']}]
  relabel_configs: [{source_labels: [__address__], regex: '.*:1', target_label: __address__,
                     replacement: 'x:1'}]
"""


def receiver_path(job, collector):
    """As the receiver builds it, with Go's url.QueryEscape."""
    return f"/jobs/{urllib.parse.quote_plus(job)}/targets?collector_id={collector}"


def is_mapping(text):
    """Whether a receiver accepts the text as a configuration, regardless of the status."""
    try:
        return isinstance(yaml.safe_load(text), dict) or not text.strip()
    except yaml.YAMLError:
        return False


class Collectors(unittest.TestCase):
    def addresses(self, server, job, collector):
        """The list, as a receiver reads it."""
        status, headers, body = server.ask(receiver_path(job, collector))
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"), body)
        addresses = []
        for group in json.loads(body):
            self.assertEqual(set(group), {"targets", "labels"})
            self.assertEqual(group["targets"], [group["labels"]["__address__"]])
            addresses += group["targets"]
        return addresses

    def test_all_collectors_together_have_each_target_once(self):
        with serving_file(JOBS, "--sim", "--collectors", 3, "--collector-prefix", "c-") \
                as (server, _):
            configs = json.loads(server.ask("/scrape_configs")[2])
            self.assertEqual(set(configs), {"serviceMonitor/shop/a b/0", "nodes", "nothing"})
            allocation = Allocation(["c-0", "c-1", "c-2"])
            for job in configs:
                for _ in range(20):  # the cluster changes now and then
                    before = [target for target, _ in server.targets(
                        f"/sd/{urllib.parse.quote(job, safe='')}/targets")]
                    lists = {name: self.addresses(server, job, name)
                             for name in ("c-0", "c-1", "c-2")}
                    if sorted(sum(lists.values(), [])) == sorted(before):
                        break
                self.assertEqual(sorted(sum(lists.values(), [])), sorted(before))
                for name, addresses in lists.items():
                    self.assertEqual({allocation.owner(address) for address in addresses} - {name},
                                     set())

    def test_labels_are_those_before_relabelling(self):
        with serving_file(JOBS, "--sim", "--collectors", 1) as (server, _):
            path = receiver_path("serviceMonitor/shop/a b/0", "collector-0")
            groups = json.loads(server.ask(path)[2])
            self.assertTrue(groups)
            for group in groups:
                self.assertIn("__meta_kubernetes_pod_uid", group["labels"])
                self.assertEqual(
                    group["labels"]["__meta_kubernetes_pod_container_port_name"], "metrics")
                self.assertNotIn("job", group["labels"])

    def test_jobs_with_targets_are_linked_as_the_allocator_does(self):
        with serving_file(JOBS, "--sim", "--collectors", 2) as (server, _):
            server.targets("/sd/nodes")
            server.wait_for("/readyz", "ok\n")
            jobs = json.loads(server.ask("/jobs")[2])
            link = "/jobs/serviceMonitor%2Fshop%2Fa+b%2F0/targets"
            self.assertEqual(jobs, {"nodes": {"_link": "/jobs/nodes/targets"},
                                    "serviceMonitor/shop/a b/0": {"_link": link}})
            everybody = json.loads(server.ask(link)[2])
            self.assertEqual(list(everybody), ["collector-0", "collector-1"])
            self.assertEqual(everybody["collector-1"]["_link"],
                             f"/debug{link}?collector_id=collector-1")
            self.assertEqual(everybody["collector-1"]["targets"],
                             json.loads(server.ask(link + "?collector_id=collector-1")[2]))

    def test_equal_targets_are_one_the_same_in_every_replica(self):
        shown = set()
        for order in (SAME, SAME.replace("'b:1', 'a:1'", "'a:1', 'b:1'")):
            with serving_file(order, "--collectors", 1) as (server, path):
                first, last = self.addresses(server, "one", "collector-0")
                self.assertEqual(last, "c:2")
                shown.add(first)
                # The shown target disappears, and the other one replaces it.
                replace_file(path, order.replace(f"'{first}'", "'d:2'"))
                self.assertEqual(server.text("/-/reload", method="POST")[0], 200)
                wanted = sorted({"a:1", "b:1", "c:2", "d:2"} - {first})
                end = time.monotonic() + TIMEOUT
                while self.addresses(server, "one", "collector-0") != wanted:
                    self.assertLess(time.monotonic(), end)
        self.assertEqual(len(shown), 1, shown)

    def test_secrets_are_masked_unless_everybody_may_see_them(self):
        with serving_file(JOBS, "--sim", "--collectors", 1) as (server, _):
            text = server.text("/scrape_configs")[1]
            self.assertNotIn("hush", text)
            self.assertIn('"password":"<secret>"', text)
        with serving_file(JOBS, "--sim", "--collectors", 1, "--allow-insecure-auth-secrets") \
                as (server, _):
            self.assertIn('"password":"hush"', server.text("/scrape_configs")[1])

    def test_other_rules_make_other_configurations(self):
        with serving_file(SAME, "--collectors", 1) as (server, path):
            _, headers, before = server.ask("/scrape_configs")
            self.assertEqual(
                server.ask("/scrape_configs", If_None_Match=headers["ETag"])[0], 304)
            replace_file(path, SAME.replace("x:1", "y:1"))
            self.assertEqual(server.text("/-/reload", method="POST")[0], 200)
            self.assertEqual(server.ask("/scrape_configs")[2], before.replace(b"x:1", b"y:1"))

    def test_pods_of_a_selector_are_the_collectors(self):
        with serving("--sim", "--role", "node",
                     "--collector-selector", "app.kubernetes.io/name=cart",
                     "--collector-namespace", "shop", "--allocation", "per-node",
                     "--allocation-fallback") as server:
            server.wait_for("/jobs/node/targets", 200)
            lists = json.loads(server.ask("/jobs/node/targets")[2])
            self.assertTrue(lists, server.text("/readyz"))
            self.assertTrue(all(name.startswith("cart-") for name in lists))
            nodes = [group["targets"][0] for of_one in lists.values()
                     for group in of_one["targets"]]
            self.assertEqual(sorted(nodes),
                             sorted(target for target, _ in server.targets("/sd/node/targets")))

    def test_a_collector_that_has_gone_counts_until_its_targets_are_handed_over(self):
        pod = {"spec": {"nodeName": "node-1"},
               "status": {"podIP": "10.0.0.1", "phase": "Running",
                          "conditions": [{"type": "Ready", "status": "True"}]}}
        targets = [f"10.0.1.{i}:80" for i in range(100)]
        jobs = ("scrape_configs:\n- job_name: one\n"
                f"  static_configs: [{{targets: {json.dumps(targets)}}}]\n")

        def counts(server, total):
            end = time.monotonic() + TIMEOUT
            while True:
                found = {one["name"]: (one["targets"], one["ready"]) for one in json.loads(
                    server.text("/api/ui/collectors")[1])["collectors"]}
                if sum(count for count, _ in found.values()) == total:
                    return found
                self.assertLess(time.monotonic(), end, found)
                time.sleep(0.01)

        with simulated_hub({"pods": ("v1", "Pod")}) as (hub, url):
            for name in ("a", "b"):
                hub.put("pods", name, pod, {"app": "collector"})
            with serving_file(jobs, "--api-server", url, "--collector-selector", "app=collector",
                              "--collector-namespace", "fleet", "--handover", 3600) as (server, _):
                server.wait_for("/jobs/one/targets", 200)
                before = counts(server, 100)
                of_a = before["a"][0]
                hub.remove("pods", "a")
                # The successor has its targets, too.
                after = counts(server, 100 + of_a)
        self.assertEqual(before, {"a": (of_a, True), "b": (100 - of_a, True)})
        self.assertEqual(after, {"a": (of_a, False), "b": (100, True)})

    def test_no_empty_list_is_served_before_the_state_is_known(self):
        unreachable = ("--role", "node", "--api-server", "http://127.0.0.1:1", "--hold", "0.1")
        with serving(*unreachable, "--collectors", 1) as server:
            status, text = server.text("/jobs/node/targets?collector_id=collector-0")
            self.assertEqual(status, 503)
            self.assertIn("job node has not been discovered completely yet", text)
        with serving(*unreachable, "--collector-selector", "app=x", "--collector-namespace", "x") \
                as server:
            status, text = server.text("/jobs/node/targets?collector_id=collector-0")
            self.assertEqual(status, 503)
            self.assertIn("the pods of the collectors have not been listed yet", text)
        # Also if everything else is known.
        with serving_file(SAME, "--api-server", "http://127.0.0.1:1", "--collector-selector",
                          "app=x", "--collector-namespace", "x") as (server, _):
            server.wait_for("/sd/one/targets", 200)
            status, text = server.text("/readyz")
            self.assertEqual(status, 503)
            self.assertRegex(text, r"\Athe pods of the collectors have not been listed yet.*\n\Z")
        with serving_file(SAME, "--collectors", 1) as (server, _):
            table = {"/jobs/one/targets?collector_id=x": (503, "there is no collector x"),
                     "/jobs/one/targets?collector_id=": (400, "must be the name of a collector"),
                     "/jobs/one/targets?member=x": (400, "there is no parameter member"),
                     "/jobs/two/targets": (404, "there is no job two")}
            for path, (status, words) in table.items():
                with self.subTest(path=path):
                    got, text = server.text(path)
                    self.assertEqual(got, status)
                    self.assertIn(words, text)

    def test_answers_have_the_shapes_of_the_target_allocator(self):
        # Shapes: cmd/otel-allocator/internal/server/server.go
        table = {
            "/jobs": '{"a b/0":{"_link":"/jobs/a+b%2F0/targets"}}\n',
            "/jobs/a+b%2F0/targets":
                '{"c-0":{"_link":"/debug/jobs/a+b%2F0/targets?collector_id=c-0","targets":[\n'
                '{"targets":["c:1"],"labels":{"__address__":"c:1","team":"red"}}\n]\n},\n'
                '"c-1":{"_link":"/debug/jobs/a+b%2F0/targets?collector_id=c-1","targets":[\n'
                '{"targets":["d:1"],"labels":{"__address__":"d:1","team":"red"}}\n]\n}}\n',
            "/jobs/a+b%2F0/targets?collector_id=c-1":
                '[\n{"targets":["d:1"],"labels":{"__address__":"d:1","team":"red"}}\n]\n',
            "/scrape_configs":
                '{"a b/0":{"basic_auth":{"password":"<secret>","username":"u"},'
                '"enable_http2":true,"follow_redirects":true,"honor_labels":true,'
                '"job_name":"a b/0","metrics_path":"/metrics","relabel_configs":['
                '{"action":"replace","regex":"(.+)","replacement":"$1","separator":";",'
                '"source_labels":["__address__"],"target_label":"host"},'
                '{"action":"keepequal","source_labels":["a"],"target_label":"b"}],'
                '"scheme":"http","scrape_interval":"15s","scrape_timeout":"10s"},'
                '"nothing":{"enable_http2":true,"follow_redirects":true,"job_name":"nothing",'
                '"metrics_path":"/metrics","scheme":"http","scrape_interval":"1m",'
                '"scrape_timeout":"10s"}}',
        }
        with serving_file(SMALL, "--collectors", 2, "--collector-prefix", "c-") as (server, _):
            server.wait_for("/readyz", 200)
            for path, wanted in table.items():
                with self.subTest(path=path):
                    status, headers, body = server.ask(path)
                    self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
                    self.assertEqual(body.decode(), wanted)

    def test_a_list_of_all_collectors_that_is_known_is_not_sent_again(self):
        with serving_file(SMALL, "--collectors", 2) as (server, _):
            path = "/jobs/a+b%2F0/targets"
            _, headers, plain = server.ask(path)
            self.assertEqual(server.ask(path, If_None_Match=headers["ETag"])[0], 304)
            _, headers, body = server.ask(path, Accept_Encoding="gzip")
            self.assertEqual(headers["Content-Encoding"], "gzip")
            self.assertEqual(gzip.decompress(body), plain)

    @unittest.skipUnless(yaml, "needs python3-yaml")
    def test_no_answer_but_the_configuration_can_be_taken_for_one(self):
        get = "GET /scrape_configs HTTP/1.1\r\nHost: {}\r\n\r\n"
        # Requests as raw bytes, by the status of the response.
        table = [(400, "no request\r\n\r\n"), (400, "GET /\r\n\r\n"),
                 (400, get.replace("1.1", "x")), (400, get.replace("/scrape", "scrape")),
                 (400, get.replace("configs", "configs?%").format("localhost")),
                 (403, get.format("evil.example")), (400, get.format("a: b")),
                 (400, get.format("{a: b}")), (400, get.format("x:y: ")),
                 (400, get.format('"a": b')), (400, get.format(":80")),
                 (400, get.format("a\r\nHost: a")),
                 (400, get.replace("/scrape", "http://a@b/scrape").format("localhost")),
                 (400, get.format("localhost\r\nX: a\r\n b: c")),
                 (400, get.format("localhost\r\nContent-Length: 1, 1")),
                 (400, get.format("localhost\r\nTransfer-Encoding: xchunked")),
                 (400, get.replace("1.1", "1.0").format("a\r\nTransfer-Encoding: chunked")),
                 (501, get.format("localhost\r\nTransfer-Encoding: gzip, chunked")),
                 (417, get.format("localhost\r\nExpect: a")),
                 (405, get.replace("GET", "POST").format("localhost")),
                 (413, get.replace("GET", "POST").format("localhost\r\nContent-Length: 99999999")),
                 (431, get.format("localhost\r\nX: " + "x" * 20000)),
                 (404, get.replace("configs", "configs%2F").format("localhost"))]
        with serving_file(SAME, "--collectors", 1) as (server, _):
            self.assertTrue(is_mapping(server.text("/scrape_configs")[1]))
            for wanted, request in table:
                self.check_refusal(server, wanted, request)
        with serving_file(SAME) as (server, _):
            self.check_refusal(server, 404, get.format("localhost"))
        with file_with("token", "tokens") as tokens, \
                serving_file(SAME, "--collectors", 1, "--list-token-file", tokens) as (server, _):
            self.check_refusal(server, 401, get.format("localhost"))
        with serving_file(SAME, "--collectors", 1, "--max-connections", 1) as (server, _), \
                socket.create_connection(("127.0.0.1", server.port)) as only:
            only.sendall(b"GET /v1/watch?job=one HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(only.recv(1))
            self.check_refusal(server, 503, get.format("localhost"))

    def check_refusal(self, server, wanted, request):
        with self.subTest(request=request[:100]), \
                socket.create_connection(("127.0.0.1", server.port), TIMEOUT) as connection:
            connection.sendall(request.encode())
            # the server may have responded and closed the connection
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            text = answer.read().decode()
            self.assertEqual(answer.status, wanted, text)
            self.assertFalse(is_mapping(text), text)


class CommandLine(unittest.TestCase):
    def test_what_does_not_go_together_is_refused(self):
        table = {("--collectors", 2, "--collector-selector", "a=b"): "--collectors: the pods",
                 ("--collectors", 2, "--allocation", "per-node"): "--allocation: per-node needs",
                 ("--collector-selector", "a=b", "--collector-namespace", "x",
                  "--allocation-fallback"): "--allocation-fallback: needs --allocation per-node",
                 ("--collectors", 0): "--collectors: "}
        for arguments, message in table.items():
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", "--sim", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)

    def test_a_job_that_only_vmagent_can_scrape_is_reported(self):
        rules = "relabel_configs: [{if: '{a=\"b\"}', action: drop}]"
        with file_with(SAME + "- job_name: two\n  " + rules, "p.yml") as path, \
                serving("--config", path, "--dialect", "victoriametrics", "--collectors", 1) \
                as server:
            self.assertEqual(server.program.error_line(),
                             "k8s-sd: two is not for collectors: a rule is one that only vmagent "
                             "knows (if)")


if __name__ == "__main__":
    unittest.main()
