"""A rolling update of two replicas as the chart and the manifests describe it: whoever reads the
list through their Service sees no failure and no change."""

import collections
import contextlib
import http.client
import json
import signal
import threading
import time
import unittest
import urllib.error
import urllib.request

from harness import TIMEOUT, file_with, running, simulated_cluster

JOBS = """
scrape_configs:
- job_name: nodes
  kubernetes_sd_configs: [{role: node}]
"""


class Replica:
    def __init__(self, program):
        self.program = program
        self.url = program.line_with(r"^listens at (http://.*)$").group(1)

    def is_ready(self):
        """The probe of the kubelet."""
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=TIMEOUT) as answer:
                return answer.status == 200
        except urllib.error.HTTPError:
            return False


class Service:
    """Sends each request to the next one of its ready replicas."""

    def __init__(self):
        self.lock = threading.Lock()
        self.endpoints = []
        self.requests = 0
        self.unanswered = collections.Counter()  # by endpoint

    def add(self, replica):
        end = time.monotonic() + TIMEOUT
        while not replica.is_ready():
            assert time.monotonic() < end, "a replica does not become ready"
            time.sleep(0.01)
        with self.lock:
            self.endpoints.append(replica.url)

    def remove(self, replica):
        """Returns when the requests that were sent there before have an answer."""
        with self.lock:
            self.endpoints.remove(replica.url)
        end = time.monotonic() + TIMEOUT
        while self.unanswered[replica.url] > 0:
            assert time.monotonic() < end, "a request has no answer"
            time.sleep(0.01)

    @contextlib.contextmanager
    def answer(self, path, headers):
        """The answer of the next replica to a request, and its status."""
        with self.lock:
            self.requests += 1
            endpoint = self.endpoints[self.requests % len(self.endpoints)]
            self.unanswered[endpoint] += 1
        connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=TIMEOUT)
        with contextlib.closing(connection):
            try:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
            finally:
                with self.lock:
                    self.unanswered[endpoint] -= 1
            with answer:
                yield answer


class Reader(threading.Thread):
    """Sends a request after the other."""

    def __init__(self, service):
        super().__init__()
        self.service = service
        self.answers = []  # what was read, or the failure
        self.is_stopped = False

    def run(self):
        while not self.is_stopped:
            try:
                self.read()
            except (OSError, http.client.HTTPException, AssertionError) as error:
                self.answers.append(error)

    def wait_for_answers(self, number):
        """So many further ones."""
        wanted = len(self.answers) + number
        end = time.monotonic() + TIMEOUT
        while len(self.answers) < wanted:
            assert time.monotonic() < end, "a reader gets no answers"
            time.sleep(0.01)


class Polls(Reader):
    """Without a pause. An answer is the number of targets."""

    def read(self):
        with self.service.answer("/sd/nodes/targets", {}) as answer:
            assert answer.status == 200, answer.status
            self.answers.append(sum(len(group["targets"]) for group in json.load(answer)))


class LongPolls(Reader):
    """An answer is a status."""

    tag = '""'

    def read(self):
        with self.service.answer("/sd/nodes/targets",
                                 {"If-None-Match": self.tag, "Prefer": "wait=1"}) as answer:
            self.answers.append(answer.status)
            self.tag = answer.headers["ETag"]


class Streams(Reader):
    """An answer is the type of an event with its version. The next stream continues the last one.
    """

    version = ""

    def read(self):
        with self.service.answer("/v1/watch?job=nodes&after=" + self.version, {}) as answer:
            assert answer.status == 200, answer.status
            for line in answer:
                event = json.loads(line)
                self.answers.append((event["type"], event["version"]))
                self.version = event["version"]
                if self.is_stopped:
                    return


class Update(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.server = self.stack.enter_context(simulated_cluster(timeout=3 * TIMEOUT))
        self.config = self.stack.enter_context(file_with(JOBS))

    def replica(self):
        return Replica(self.stack.enter_context(
            running("k8s-sd", "--config", self.config, "--api-server", self.server, "--listen",
                    "127.0.0.1:0", "--heartbeat", "1", timeout=3 * TIMEOUT)))

    def answers(self, kind):
        """Of such a reader during an update."""
        service = Service()
        old = [self.replica() for _ in range(2)]
        for replica in old:
            service.add(replica)
        reader = kind(service)
        reader.start()
        try:
            reader.wait_for_answers(3)
            for replica in old:
                # maxSurge 1 and maxUnavailable 0: the new one is ready first.
                service.add(self.replica())
                # preStop: requests still arrive while the nodes learn that it terminates.
                service.remove(replica)
                self.assertEqual(replica.program.signal(signal.SIGTERM), 0)
                reader.wait_for_answers(3)
        finally:
            reader.is_stopped = True
            reader.join()
        return reader.answers

    # Nodes neither come nor go in this cluster.

    def test_no_poll_fails(self):
        answers = self.answers(Polls)
        self.assertEqual(len(set(answers)), 1, set(answers))
        self.assertGreater(answers[0], 0)

    def test_no_long_poll_fails(self):
        first, *others = self.answers(LongPolls)
        self.assertEqual((first, set(others)), (200, {304}))

    def test_streams_go_on_at_another_replica(self):
        first, *others = self.answers(Streams)
        self.assertEqual(first[0], "full")
        self.assertEqual(set(others), {("heartbeat", first[1])})


if __name__ == "__main__":
    unittest.main()
