"""k8s-sd with several threads, while its cluster, its configuration and its readers change.

Readers request every route until SIGTERM comes. ThreadSanitizer ends the program with another
status after a data race.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import tempfile
import time
import unittest

from harness import TIMEOUT, replace_file
from test_serving import serving

READERS = 4
ROUNDS = 5  # each reader requests every route at least this many times
CONFIG = """
scrape_configs:
- job_name: pods
  kubernetes_sd_configs: [{role: pod}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_name], regex: "(.+)-.*", target_label: TARGET_LABEL}
- job_name: services
  kubernetes_sd_configs: [{role: service}, {role: node}]
"""
MORE = """
- job_name: static
  static_configs: [{targets: ["127.0.0.1:1", "127.0.0.1:2"]}]
"""
CONFIGS = (CONFIG.replace("TARGET_LABEL", "app"), CONFIG.replace("TARGET_LABEL", "set") + MORE)

RULES = "- {target_label: x, replacement: y}"
# Method, path, body of the request.
ROUTES = [("GET", path, None) for path in (
    "/", "/ui/app.js", "/sd/pods", "/sd/services/targets", "/scrape_configs",
    "/jobs", "/jobs/pods/targets?collector_id=collector-1", "/metrics", "/readyz", "/livez",
    "/api/v1/targets", "/api/v1/targets?scrapePool=pods&state=active", "/api/v1/scrape_pools",
    "/api/v1/scrape_pools/config?scrapePool=pods",
    "/api/v1/targets/relabel_steps?scrapePool=pods&labels=%7B%22__address__%22%3A%22a%3A1%22%7D",
    "/api/ui/status", "/api/ui/targets?job=pods", "/api/ui/health", "/api/ui/object?q=node/*",
    "/api/ui/shards?job=pods&shards=2&to=3", "/api/ui/collectors", "/api/ui/consumers",
    "/api/ui/history?job=pods")]
ROUTES.append(("POST", "/api/ui/relabel", json.dumps(
    {"job": "pods", "rules": RULES, "labels": {"__address__": "a:1"}, "effect": True})))
STREAMS = ("/api/ui/live", "/v1/watch?job=pods")


class Reader:
    """Requests every route, one after the other, until the server ends."""

    def __init__(self, port):
        self.port = port
        self.rounds = 0
        self.statuses = {path: set() for _, path, _ in ROUTES}

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
                with contextlib.closing(connection):
                    self.play_round(connection)
                self.rounds += 1

    def play_round(self, connection):
        for method, path, body in ROUTES:
            headers = {"Content-Type": "application/json"} if body else {}
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            answer.read()
            self.statuses[path].add(answer.status)
        # The connection closes amid a stream.
        connection.request("GET", STREAMS[self.rounds % 2])
        connection.getresponse().readline()


def read_stream(port, path):
    """Reads a stream until the server ends it. Returns the number of its lines."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    lines = 0
    with contextlib.closing(connection), \
            contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", path)
        answer = connection.getresponse()
        while answer.readline():
            lines += 1
    return lines


def poll(port, path):
    """Waits for changes of a list until the server ends. Returns the number of its answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    answers = 0
    with contextlib.closing(connection), \
            contextlib.suppress(OSError, http.client.HTTPException):
        tag = '"none"'
        while True:
            connection.request("GET", path, headers={"If-None-Match": tag, "Prefer": "wait=1"})
            answer = connection.getresponse()
            answer.read()
            tag = answer.headers["ETag"] or tag
            answers += answer.status in (200, 304)
    return answers


FOLLOWED = [(read_stream, path) for path in STREAMS]
FOLLOWED += [(poll, path) for path in ("/sd/pods", "/sd/pods/targets")]


class Threads(unittest.TestCase):
    def test_readers_of_every_route_and_reloads_until_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            config, lists, snapshots = (os.path.join(folder, name)
                                        for name in ("p.yml", "lists", "snapshots"))
            replace_file(config, CONFIGS[0])
            os.mkdir(lists)
            with serving("--config", config, "--sim", "--threads", 3, "--collectors", 2,
                         "--write-dir", lists, "--snapshot-dir", snapshots) as server:
                self.play(server, config)
            self.assertIn("pods.json", os.listdir(lists))

    def play(self, server, config):
        process = server.program.process
        readers = [Reader(server.port) for _ in range(READERS)]
        with concurrent.futures.ThreadPoolExecutor(READERS + len(FOLLOWED)) as pool:
            reading = [pool.submit(reader.run) for reader in readers]
            following = [pool.submit(follow, server.port, path) for follow, path in FOLLOWED]
            changes = 0
            while min(reader.rounds for reader in readers) < ROUNDS and process.poll() is None:
                changes += 1
                replace_file(config, CONFIGS[changes % 2])
                process.send_signal(signal.SIGHUP)
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate()[1]
        self.assertEqual(process.returncode, 0, errors[-8000:])
        for future in reading:
            future.result()
        self.assertTrue(all(future.result() > 0 for future in following))
        for _, path, _ in ROUTES:
            self.assertIn(200, set().union(*(reader.statuses[path] for reader in readers)), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
