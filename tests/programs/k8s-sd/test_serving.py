"""k8s-sd serves lists of targets to agents: complete ones, or none with the reason."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from harness import (TIMEOUT, TIME, file_with, replace_file, run, running,
                     simulated_cluster)

JOBS = """
scrape_configs:
- job_name: pods
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: metrics, action: keep}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
- job_name: serviceMonitor/shop/a b/0
  kubernetes_sd_configs: [{role: service}]
"""
UNREACHABLE = JOBS.replace("role: pod", "role: pod, api_server: 'http://127.0.0.1:1'")
# A cluster without changes.
STATIC = """
scrape_configs:
- job_name: one
  static_configs: [{targets: ['10.0.0.2:80', '10.0.0.1:80'], labels: {team: red}}]
"""


class Server:
    """A running k8s-sd."""

    def __init__(self, program):
        url = program.line_with(r"^listens at (http://.*)$").group(1)
        self.program = program
        self.port = urllib.parse.urlsplit(url).port

    def ask(self, path, method="GET", **headers):
        """Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, path, headers={
                name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def text(self, path, **options):
        status, _, body = self.ask(path, **options)
        return status, body.decode()

    def targets(self, path):
        """All targets of a list, with their labels."""
        status, headers, body = self.ask(path)
        assert (status, headers["Content-Type"]) == (200, "application/json"), (status, body)
        return [(target, group["labels"]) for group in json.loads(body)
                for target in group["targets"]]

    def metric(self, line):
        text = self.text("/metrics")[1]
        return int(text.split(f"\nk8s_sd_program_{line} ")[1].split("\n")[0])

    def cpu_seconds(self):
        """The CPU time of the program so far, on all its threads."""
        with open(f"/proc/{self.program.process.pid}/stat", encoding="utf-8") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def wait_for(self, path, wanted):
        """Waits for this status or text."""
        end = time.monotonic() + TIMEOUT
        while wanted not in self.text(path):
            assert time.monotonic() < end, self.text(path)
            time.sleep(0.02)


@contextlib.contextmanager
def serving(*options):
    with running("k8s-sd", "--listen", "127.0.0.1:0", *options) as program:
        yield Server(program)


@contextlib.contextmanager
def serving_file(text, *options):
    """Also returns the path of the configuration."""
    with file_with(text, "p.yml") as path, \
            serving("--config", path, "--check-interval", 3600, *options) as server:
        yield server, path


class Lists(unittest.TestCase):
    def test_one_command_serves_a_simulated_cluster(self):
        with serving("--sim") as server:
            discovered = server.targets("/sd/pods")
            self.assertTrue(all(labels["__meta_kubernetes_pod_name"] for _, labels in discovered))
            relabelled = server.targets("/sd/pods/targets")
            self.assertTrue(relabelled)
            for target, labels in relabelled:
                self.assertRegex(target, r"^[0-9.]+:\d+$")
                self.assertEqual(set(labels), {"__metrics_path__", "__scheme__", "job", "namespace",
                                               "pod"})
                self.assertEqual(labels["job"], "pods")
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)

    def test_the_dialect_may_have_a_version(self):
        condition = "__meta_kubernetes_node_condition_ready"
        for dialect, wanted in (("prometheus", None), ("prometheus@3.11", None),
                                ("prometheus@3.12", "true")):
            with self.subTest(dialect):
                with serving("--sim", "--role", "node", "--dialect", dialect) as server:
                    self.assertEqual({labels.get(condition)
                                      for _, labels in server.targets("/sd/node")}, {wanted})
                jobs = JOBS.replace("role: pod", "role: node")
                with serving_file(jobs, "--sim", "--dialect", dialect) as (server, _):
                    self.assertEqual({labels.get(condition)
                                      for _, labels in server.targets("/sd/pods")}, {wanted})
        result = run("k8s-sd", "--sim", "--dialect", "victoriametrics@1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("only prometheus has versions", result.stderr)

    def test_the_bytes_are_the_same_in_every_process(self):
        texts, tags = set(), set()
        for threads in (1, 3):
            with serving_file(STATIC, "--threads", threads) as (server, _):
                _, headers, body = server.ask("/sd/one")
                texts.add(body)
                tags.add(headers["ETag"])
        self.assertEqual(texts, {b'[\n{"targets":["10.0.0.1:80","10.0.0.2:80"],'
                                 b'"labels":{"team":"red"}}\n]\n'})
        self.assertEqual(len(tags), 1)

    def test_a_list_that_is_known_is_not_sent_again(self):
        with serving_file(STATIC) as (server, path):
            tag = server.ask("/sd/one")[1]["ETag"]
            for given in (tag, "W/" + tag, f'"x", {tag}', "*"):
                status, headers, body = server.ask("/sd/one", If_None_Match=given)
                self.assertEqual((status, body, headers["ETag"]), (304, b"", tag))
            self.assertEqual(server.ask("/sd/one", If_None_Match='"x"')[0], 200)
            self.assertEqual(server.metric("list_bodies_total"), 1)
            self.assertEqual(server.metric('polls_total{list="discovered",code="304"}'), 4)
            replace_file(path, STATIC.replace("10.0.0.2", "10.0.0.3"))
            self.assertEqual(server.text("/-/reload", method="POST"), (200, "ok\n"))
            end = time.monotonic() + TIMEOUT
            while server.ask("/sd/one", If_None_Match=tag)[0] != 200:
                self.assertLess(time.monotonic(), end)

    def test_gzip_is_for_those_who_ask(self):
        with serving_file(STATIC) as (server, _):
            _, plain_headers, plain = server.ask("/sd/one")
            status, headers, body = server.ask("/sd/one", Accept_Encoding="br, gzip")
            self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
            self.assertEqual(gzip.decompress(body), plain)
            self.assertIsNone(plain_headers["Content-Encoding"])
            self.assertNotEqual(headers["ETag"], plain_headers["ETag"])
            for tag in (headers["ETag"], plain_headers["ETag"]):
                status = server.ask("/sd/one", If_None_Match=tag, Accept_Encoding="gzip")[0]
                self.assertEqual(status, 304)
            self.assertEqual(server.metric("list_bodies_total"), 1)

    def test_head_gets_the_head_of_get(self):
        with serving_file(STATIC) as (server, _):
            _, headers, body = server.ask("/sd/one")
            status, same, nothing = server.ask("/sd/one", method="HEAD")
            self.assertEqual((status, dict(same), nothing), (200, dict(headers), b""))
            self.assertEqual(same["Content-Length"], str(len(body)))
            self.assertEqual(server.metric("sent_bytes_total"), len(body))

    def test_shards_and_nodes_are_parts_of_the_whole(self):
        with serving("--sim") as server:
            nodes = ("node-a1", "node-a2", "node-b1")
            selections = {"shards": [f"shard={i}&shards=3" for i in range(3)],
                          "members": [f"member=agent-{i}&shards=3" for i in range(3)],
                          "nodes": [f"node={name}" for name in nodes]}
            for what, queries in selections.items():
                # The cluster changes now and then.
                for _ in range(20):
                    before = server.targets("/sd/pods/targets")
                    parts = [server.targets("/sd/pods/targets?" + query) for query in queries]
                    if before == server.targets("/sd/pods/targets"):
                        break
                key = lambda target: target[0]
                self.assertEqual(sorted(sum(parts, []), key=key), sorted(before, key=key), what)
                self.assertTrue(all(parts), what)

    def test_readers_that_do_not_relabel_get_urls_and_public_labels(self):
        with serving("--sim") as server:
            for target, labels in server.targets("/sd/pods/targets?form=urls"):
                self.assertRegex(target, r"^http://[0-9.:]+/metrics$")
                self.assertEqual(set(labels), {"instance", "job", "namespace", "pod"})

    def test_readers_choose_the_labels_of_discovery(self):
        with serving("--sim") as server:
            meta = lambda path: {name for _, labels in server.targets(path) for name in labels
                                 if name.startswith("__meta_")}
            pod, namespace = "__meta_kubernetes_pod_name", "__meta_kubernetes_namespace"
            self.assertEqual(meta(f"/sd/pods?meta={pod},__meta_*space"), {pod, namespace})
            self.assertEqual(meta("/sd/pods/targets"), set())
            self.assertLessEqual({pod, namespace, "__meta_kubernetes_pod_uid"},
                                 meta("/sd/pods/targets?keep_meta=otel"))
            self.assertEqual(len(server.targets("/sd/pods/targets?keep_meta=otel")),
                             len(server.targets("/sd/pods/targets")))

    def test_names_of_jobs_are_decoded_once(self):
        with serving_file(JOBS, "--sim") as (server, _):
            self.assertTrue(server.targets("/sd/serviceMonitor%2Fshop%2Fa%20b%2F0"))
            self.assertEqual(server.ask("/sd/serviceMonitor/shop/a%20b/0")[0], 404)

    def test_what_cannot_be_answered_is_said_in_words(self):
        table = {
            "/sd/pod": (404, "there is no job pod (did you mean pods?)"),
            "/sd/x%0ay": (404, "there is no job x"),
            "/sd/pods?shard=1": (400, "shards and one of shard and member belong together"),
            "/sd/pods?shard=3&shards=3": (400, "there is no shard 3 of 3"),
            "/sd/pods?node=n&bad": (400, "there is no parameter bad; there are shard, member"),
            "/sd/pods?form=urls": (400, "form=urls: is a form of the relabelled list"),
            "/sd/pods?node=%zz": (400, "a % must begin a byte"),
            "/elsewhere": (404, "GET /sd/{job}/targets"),
            "/-/reload": (405, "only POST is allowed here"),
        }
        with serving("--sim") as server:
            for path, (status, words) in table.items():
                with self.subTest(path=path):
                    got, text = server.text(path)
                    self.assertEqual(got, status)
                    self.assertIn(words, text)
            self.assertEqual(server.text("/sd/pods", method="POST")[0], 405)


class Completeness(unittest.TestCase):
    def test_an_incomplete_list_is_refused_with_the_reason(self):
        with serving_file(UNREACHABLE, "--sim", "--hold", 0.05) as (server, _):
            # The other jobs are unaffected.
            self.assertTrue(server.targets("/sd/serviceMonitor%2Fshop%2Fa%20b%2F0"))
            for path in ("/sd/pods", "/sd/pods/targets", "/sd/pods?shard=0&shards=2"):
                server.wait_for(path, 503)
                status, headers, body = server.ask(path)
                self.assertEqual((status, headers["Retry-After"]), (503, "5"))
                self.assertIn(b"job pods has not been discovered completely yet; ", body)
                self.assertIn(b"onnection refused", body)
            status, text = server.text("/readyz")
            self.assertEqual(status, 503)
            self.assertIn("job pods has not been discovered completely yet", text)
            self.assertEqual(server.text("/livez"), (200, "ok\n"))
            self.assertEqual(server.metric('job_complete{job="pods"}'), 0)

    def test_a_reader_that_comes_too_early_waits_for_the_list(self):
        with serving_file(UNREACHABLE, "--sim") as (server, path), \
                concurrent.futures.ThreadPoolExecutor() as readers:
            answers = [readers.submit(server.targets, "/sd/pods") for _ in range(3)]
            server.wait_for("/readyz", 503)
            while server.metric('held_requests{job="pods"}') != 3:
                time.sleep(0.01)
            replace_file(path, JOBS)
            self.assertEqual(server.text("/-/reload", method="POST")[0], 200)
            lists = [answer.result(timeout=TIMEOUT) for answer in answers]
            self.assertTrue(lists[0])
            server.wait_for("/readyz", 200)

    def test_a_reader_waits_no_longer_than_its_interval(self):
        with serving_file(UNREACHABLE, "--sim") as (server, _):
            begun = time.monotonic()
            status, _, _ = server.ask("/sd/pods", X_Prometheus_Refresh_Interval_Seconds="0.1")
            self.assertEqual(status, 503)
            self.assertLess(time.monotonic() - begun, 10)

    def test_who_waits_gets_an_answer_when_the_program_ends(self):
        with serving_file(UNREACHABLE, "--sim") as (server, _), \
                concurrent.futures.ThreadPoolExecutor() as readers:
            answer = readers.submit(server.text, "/sd/pods")
            while server.metric('held_requests{job="pods"}') != 1:
                time.sleep(0.01)
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)
            self.assertEqual(answer.result(), (503, "the program is ending\n"))

    def test_a_second_signal_ends_the_program_at_once(self):
        targets = ",".join(f"'10.0.0.1:{port}'" for port in range(1, 1000))
        jobs = f"""{STATIC}
- job_name: many
  static_configs: [{{targets: [{targets}], labels: {{team: red}}}}]
  relabel_configs:
  - source_labels: [__address__]
    target_label: wide
    replacement: ${{1}}{"y" * 20_000}
"""
        with serving_file(jobs) as (server, _), \
                socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"GET /sd/many/targets HTTP/1.1\r\nHost: localhost\r\n\r\n")
            client.recv(1)
            os.kill(server.program.process.pid, signal.SIGTERM)
            end = time.monotonic() + TIMEOUT
            # New connections are refused.
            while True:
                try:
                    socket.create_connection(("127.0.0.1", server.port)).close()
                except (ConnectionRefusedError, ConnectionResetError):
                    # Reset: the connection was still in the accept queue of the closed listener.
                    break
                self.assertLess(time.monotonic(), end)
            self.assertIsNone(server.program.process.poll())
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)

    def test_stale_beats_empty_when_another_configuration_cannot_be_listed(self):
        with serving_file(JOBS, "--sim", "--hold", 0.05) as (server, path):
            server.wait_for("/readyz", 200)
            self.assertTrue(server.targets("/sd/pods"))
            replace_file(path, UNREACHABLE)
            self.assertEqual(server.text("/-/reload", method="POST")[0], 200)
            self.assertTrue(server.targets("/sd/pods"))
            status, text = server.text("/readyz")
            self.assertEqual(status, 200)
            self.assertIn("job pods is listed as it was before its configuration changed", text)
            self.assertEqual(server.metric('job_synced{job="pods"}'), 0)
            self.assertEqual(server.metric('job_superseded_configs{job="pods"}'), 1)

    def test_an_unusable_job_is_named_and_delays_no_other(self):
        bad = JOBS.replace("role: pod", "role: pod, kubeconfig_file: /nonexistent/kubeconfig")
        with serving_file(bad, "--sim", "--hold", 0.05) as (server, _):
            self.assertTrue(server.targets("/sd/serviceMonitor%2Fshop%2Fa%20b%2F0"))
            status, text = server.text("/readyz")
            self.assertEqual(status, 200)
            self.assertIn("job pods cannot be discovered until its configuration is corrected; ",
                          text)
            self.assertIn("/nonexistent/kubeconfig", text)
            self.assertEqual(server.text("/sd/pods")[0], 503)
            self.assertIn("pods: kubernetes_sd_configs[0] cannot be used: ",
                          server.program.error_line())


class Reload(unittest.TestCase):
    def test_jobs_come_and_go_with_the_file(self):
        with serving_file(STATIC) as (server, path):
            server.wait_for("/readyz", 200)
            for way in ("signal", "post"):
                replace_file(path, STATIC.replace("one", "two"))
                if way == "signal":
                    server.program.process.send_signal(signal.SIGHUP)
                else:
                    self.assertEqual(server.text("/-/reload", method="POST"), (200, "ok\n"))
                server.wait_for("/sd/one", 404)
                self.assertEqual(len(server.targets("/sd/two")), 2)
                replace_file(path, STATIC)
                self.assertEqual(server.text("/-/reload", method="POST"), (200, "ok\n"))
                self.assertEqual(len(server.targets("/sd/one")), 2)

    def test_the_file_is_checked_from_time_to_time(self):
        with file_with(STATIC, "p.yml") as path, \
                serving("--config", path, "--check-interval", 0.05) as server:
            self.assertEqual(len(server.targets("/sd/one")), 2)
            replace_file(path, STATIC.replace("one", "two"))
            server.wait_for("/sd/one", 404)

    def test_a_mistake_leaves_everything_as_it_is(self):
        with serving_file(STATIC) as (server, path):
            before = server.ask("/sd/one")[2]
            replace_file(path, "scrape_configs: nothing\n")
            status, text = server.text("/-/reload", method="POST")
            self.assertEqual(status, 500)
            self.assertEqual(text, "the previous configuration stays in use: "
                                   f"{path}:1: scrape_configs: must be a list\n")
            self.assertEqual(server.program.error_line(), "k8s-sd: " + text.rstrip("\n"))
            self.assertEqual(server.ask("/sd/one")[2], before)

    def test_a_mistake_in_one_job_leaves_all_jobs_as_they_are(self):
        bad = STATIC + ("  relabel_configs: [{action: kepe}]\n"
                        "- job_name: two\n  static_configs: [{targets: ['x:1']}]\n")
        with serving_file(STATIC) as (server, path):
            before = server.ask("/sd/one")[2]
            for text, status, said in ((bad, 500, "action"), (STATIC, 200, "ok"),
                                       (bad.replace("kepe", "keep, regex: '('"), 500, "regex")):
                replace_file(path, text)
                got, answer = server.text("/-/reload", method="POST")
                self.assertEqual(got, status)
                self.assertIn(said, answer)
                self.assertEqual(server.ask("/sd/one")[2], before)
                self.assertEqual(server.ask("/sd/two")[0], 404)
                trouble = "" if status == 200 else answer
                self.assertEqual(server.text("/readyz"), (200, "ok\n" + trouble))

    def test_a_mistake_from_the_start_is_named_while_it_lasts(self):
        bad = STATIC + "- job_name: two\n  relabel_configs: [{action: kepe}]\n"
        with serving_file(bad) as (server, path):
            self.assertIn("left out: ", server.text("/readyz")[1])
            replace_file(path, STATIC)
            self.assertEqual(server.text("/-/reload", method="POST"), (200, "ok\n"))
            server.wait_for("/readyz", "ok\n")

    def test_the_answer_about_readiness_has_a_limit(self):
        bad = STATIC + "".join(f"- job_name: {number:0200}\n  relabel_configs: [{{action: kepe}}]\n"
                               for number in range(1000))
        with serving_file(bad, "--log-level", "off") as (server, _):
            server.wait_for("/readyz", 503)
            text = server.text("/readyz")[1]
            self.assertLess(len(text), 65 << 10)
            named = text.count("\n") - 1
            self.assertRegex(text, rf"\nand {1000 - named} more lines\n$")

    def test_a_mistake_from_the_start_keeps_a_replica_out_unless_it_is_accepted(self):
        bad = STATIC + "- job_name: two\n  relabel_configs: [{action: kepe}]\n"
        for options, status in (((), 503), (("--ready-with-left-out-jobs",), 200)):
            with self.subTest(options=options), \
                    serving_file(bad, "--collectors", 1, *options) as (server, _):
                server.wait_for("/readyz", status)
                self.assertIn("job two is left out: ", server.text("/readyz")[1])
                self.assertEqual(server.text("/sd/two")[0], 503)
                self.assertEqual(server.text("/scrape_configs")[0], 503)
                self.assertEqual(len(server.targets("/sd/one")), 2)

    def test_an_empty_file_removes_nothing(self):
        with file_with(STATIC, "p.yml") as path, \
                serving("--config", path, "--check-interval", 0.05) as server:
            server.wait_for("/readyz", 200)
            replace_file(path, "# only a comment\n")
            status, text = server.text("/-/reload", method="POST")
            self.assertEqual(status, 500)
            self.assertIn("lists no jobs", text)
            self.assertEqual(len(server.targets("/sd/one")), 2)
            replace_file(path, "scrape_configs: []\n")
            server.wait_for("/sd/one", 404)

    def test_the_log_reports_what_happens_and_when(self):
        with serving_file(STATIC) as (server, path):
            line = server.program.log_line()
            self.assertRegex(line, TIME + "k8s-sd: applied: 1 job$")
            self.assertRegex(server.program.log_line(), TIME + "k8s-sd: job one: its list is "
                             "complete, with 2 targets of 2 discovered$")
            replace_file(path, STATIC.replace("one", "two"))
            self.assertEqual(server.text("/-/reload", method="POST"), (200, "ok\n"))
            self.assertIn("job one is missing; it is removed when", server.program.log_line())
            self.assertRegex(server.program.log_line(), TIME + "k8s-sd: applied: 1 job, "
                             "1 added: two, 1 removed: one$")
            self.assertIn("job two: its list is complete", server.program.log_line())
            server.program.process.send_signal(signal.SIGTERM)
            self.assertRegex(server.program.log_line(), TIME + "k8s-sd: ends: SIGTERM$")
        with serving_file(STATIC, "--no-log-times") as (server, _):
            self.assertEqual(server.program.log_line(), "k8s-sd: applied: 1 job")

    def test_what_is_left_to_agents_is_said_once(self):
        with serving_file(STATIC + "  honor_labels: true\n") as (server, path):
            server.wait_for("/readyz", 200)
            self.assertEqual(server.text("/-/reload", method="POST")[0], 200)
            replace_file(path, "scrape_configs: nothing\n")
            self.assertEqual(server.text("/-/reload", method="POST")[0], 500)
            self.assertEqual(server.program.error_line(),
                             "k8s-sd: job one: left to its agents, no list has it: honor_labels")
            self.assertIn("stays in use", server.program.error_line())

    def test_the_rule_of_the_operators_shards_is_left_to_agents(self):
        rules = ("  relabel_configs:\n"
                 "  - {source_labels: [__address__], target_label: __tmp_hash, modulus: 2, "
                 "action: hashmod}\n"
                 "  - {source_labels: [__tmp_hash], regex: $(SHARD), action: keep}\n")
        with serving_file(STATIC + rules, "--collectors", 1) as (server, _):
            self.assertEqual(len(server.targets("/sd/one/targets")), 2)
            parts = [server.targets(f"/sd/one/targets?shard={i}&shards=2") for i in range(2)]
            self.assertEqual(sum(map(len, parts)), 2)
            self.assertIn("$(SHARD)", server.text("/scrape_configs")[1])
            self.assertEqual(len(server.targets("/jobs/one/targets?collector_id=collector-0")), 2)

    def test_other_rules_make_another_list_at_once(self):
        other = JOBS.replace("target_label: pod}", "target_label: name}")
        with serving_file(JOBS, "--sim") as (server, path):
            self.assertIn("pod", server.targets("/sd/pods/targets")[0][1])
            replace_file(path, other)
            self.assertEqual(server.text("/-/reload", method="POST")[0], 200)
            end = time.monotonic() + TIMEOUT
            while "name" not in server.targets("/sd/pods/targets")[0][1]:
                self.assertLess(time.monotonic(), end)

    def test_without_a_file_there_is_nothing_to_reload(self):
        with serving("--sim") as server:
            self.assertEqual(server.text("/-/reload", method="POST"),
                             (400, "there is no file to read again\n"))


class Restarts(unittest.TestCase):
    def test_lists_outlive_a_restart_while_the_api_server_is_away(self):
        with tempfile.TemporaryDirectory() as parent:
            options = ("--role", "node", "--snapshot-dir", os.path.join(parent, "snapshots"))
            with simulated_cluster() as url:
                options += ("--api-server", url)
                with serving(*options) as server:
                    before = server.targets("/sd/node/targets")
                    self.assertTrue(before)
                    self.assertEqual(server.metric('job_unconfirmed{job="node"}'), 0)
                    # The program writes its state when it ends.
                    self.assertEqual(server.program.signal(signal.SIGTERM), 0)
            with serving(*options, "--snapshot-after", 0) as server:
                self.assertEqual(server.targets("/sd/node/targets"), before)
                status, text = server.text("/readyz")
                self.assertEqual(status, 200)
                self.assertIn("job node has targets from before a restart; ", text)
                self.assertEqual(server.metric('job_unconfirmed{job="node"}'), 1)

    def test_without_a_snapshot_there_is_no_list_while_the_api_server_is_away(self):
        with serving("--role", "node", "--api-server", "http://127.0.0.1:1", "--hold", "0.1") \
                as server:
            self.assertEqual(server.ask("/sd/node")[0], 503)
            self.assertEqual(server.ask("/readyz")[0], 503)


class CommandLine(unittest.TestCase):
    def test_a_single_job_needs_no_file(self):
        with serving("--sim", "--role", "service", "--namespace", "shop", "--job", "of shop") \
                as server:
            targets = server.targets("/sd/of%20shop")
            self.assertTrue(targets)
            for _, labels in targets:
                self.assertEqual(labels["__meta_kubernetes_namespace"], "shop")
            self.assertEqual(server.targets("/sd/of%20shop/targets")[0][1]["job"], "of shop")

    def test_unusable_arguments(self):
        table = {
            (): "needs --config FILE, options of a single job such as --role pod, --monitors, or "
                "--sim",
            ("--what",): "unknown option --what",
            ("--sim", "--role", "pots"): "--role: ",
            ("--sim", "--listen", "8080"): "--listen: must be ADDRESS:PORT",
            ("--sim", "--api-server", "http://127.0.0.1:1"): "--sim: simulates the server",
            ("--role", "pod", "--config", "x"): "--config: the file defines the jobs",
            ("--config", "/nonexistent/p.yml"): "/nonexistent/p.yml: cannot be read: No such file",
            ("--sim", "--threads", "0"): "--threads: ",
            ("--sim", "--check"): "--check: needs --config FILE",
            ("--sim", "--allow-host", "k8s-sd:80"): "--allow-host: must be a name without a port",
            ("--sim", "--role", "pod", "--namespace", "Shop_1"): "is not a name of a namespace",
            ("--sim", "--snapshot-dir", __file__): "--snapshot-dir: " + __file__ + ": is not a dir",
            ("--sim", "--snapshot-dir", "/proc/none/x"): "--snapshot-dir: /proc/none/x: No such",
        }
        for arguments, message in table.items():
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)

    def test_an_option_that_would_have_no_effect_is_refused(self):
        collectors = "--collectors N or --collector-selector LABELS"
        monitors = "--monitors or --monitors-config FILE or --monitors-owner [KIND/]NAMESPACE/NAME"
        table = {
            ("--strict",): "--config FILE",
            ("--ready-with-left-out-jobs",): "--config FILE or " + monitors,
            ("--check-interval", "5"): "--config FILE",
            ("--monitors-namespace", "a"): "--monitors-config FILE",
            ("--monitors-max-jobs", "100000"): monitors,
            ("--monitors-max-bytes", "536870912"): monitors,
            ("--snapshot-after", "5"): "--snapshot-dir DIRECTORY",
            ("--snapshot-max-age", "3600"): "--snapshot-dir DIRECTORY",
            ("--snapshot-annotations", "a"): "--snapshot-dir DIRECTORY",
            ("--record-keep", "0"): "--record FILE",
            ("--write-list", "targets"): "--write-dir DIR",
            ("--allocation", "consistent-hashing"): collectors,
            ("--handover", "5"): "--collector-selector LABELS",
            ("--allow-insecure-auth-secrets",): collectors,
            ("--collector-prefix", "a"): "--collectors N",
            ("--collector-namespace", "a"): "--collector-selector LABELS",
            ("--collector-grace", "30"): "--collector-selector LABELS",
            ("--allocation-fallback",): "--collector-selector LABELS",
        }
        for arguments, partner in table.items():
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", "--sim", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"{arguments[0]}: needs {partner}\n", result.stderr)

    def test_a_file_can_be_checked_without_a_port_or_a_server(self):
        unreachable = "- job_name: far\n  kubernetes_sd_configs: [{role: pod}]\n"
        with file_with(STATIC + unreachable, "p.yml") as path:
            result = run("k8s-sd", "--config", path, "--check", "--listen", "203.0.113.1:1")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("job one: ", result.stdout)
            self.assertIn("job far: pods in all namespaces; 0 rules", result.stdout)
            self.assertIn(f"{path}: 2 usable jobs, 0 mistakes", result.stdout)
            replace_file(path,
                         STATIC + "  scrape_intervall: 5s\n" + unreachable + "  scheme: [x]\n")
            result = run("k8s-sd", "--config", path, "--check")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr,
                             f"(?m)^{path}:\\d+: scrape_configs.0..scrape_intervall: ")
            self.assertRegex(result.stderr, f"(?m)^{path}:\\d+: scrape_configs.1..scheme: ")
            self.assertIn("0 usable jobs, 2 mistakes", result.stdout)

    def test_a_file_without_a_list_of_jobs_is_refused(self):
        with file_with("", "p.yml") as path:
            result = run("k8s-sd", "--config", path, "--listen", "127.0.0.1:0")
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no jobs", result.stderr)

    def test_a_port_that_is_taken_is_said(self):
        with serving("--sim") as server:
            result = run("k8s-sd", "--sim", "--listen", f"127.0.0.1:{server.port}")
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, f"k8s-sd: cannot listen at 127.0.0.1:{server.port}: "
                             "address already in use; choose another --listen\n")

    def test_an_address_of_another_machine_is_said(self):
        result = run("k8s-sd", "--sim", "--listen", "192.0.2.1:8080")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "k8s-sd: cannot listen at 192.0.2.1:8080: cannot assign "
                         "requested address; this machine does not have it: choose another "
                         "--listen\n")

    def test_help_and_version(self):
        result = run("k8s-sd", "--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Usage: k8s-sd", result.stdout)
        self.assertRegex(run("k8s-sd", "--version").stdout, r"^k8s-sd \(k8s_sd\) \d")


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class PromtoolReadsMetrics(unittest.TestCase):
    def check(self, url):
        with urllib.request.urlopen(url + "/metrics", timeout=TIMEOUT) as answer:
            text = answer.read()
        self.assertTrue(b"\nk8s_sd_list_seconds_total{" in text)
        result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                                timeout=TIMEOUT)
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, b"", b""))

    def test_of_k8s_sd(self):
        with serving("--sim") as server:
            server.wait_for("/readyz", 200)
            server.targets("/sd/pods?shard=0&shards=2")
            self.check(f"http://127.0.0.1:{server.port}")

    def test_of_discover(self):
        with running("discover", "--sim", "--listen", "127.0.0.1:0") as program:
            url = program.error_line().rpartition(" ")[2]
            program.line_with(r"targets of \d+ objects now")
            self.check(url)

    def test_of_a_member_of_a_fleet(self):
        with running("scraper", "--sim", "--fleet-members", 2, "--member", "agent-1",
                     "--listen", "127.0.0.1:0") as program:
            url = program.line_with(r"^listens at (http://.*)$").group(1)
            program.line_with(r"^pods: start ")
            self.check(url)


if __name__ == "__main__":
    unittest.main()
