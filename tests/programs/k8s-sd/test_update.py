"""A rolling update of two replicas as the chart and the manifests describe it: an agent that polls
their Service sees no failure."""

import contextlib
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

    def add(self, replica):
        end = time.monotonic() + TIMEOUT
        while not replica.is_ready():
            assert time.monotonic() < end, "a replica does not become ready"
            time.sleep(0.01)
        with self.lock:
            self.endpoints.append(replica.url)

    def remove(self, replica):
        with self.lock:
            self.endpoints.remove(replica.url)

    def next_url(self):
        with self.lock:
            self.requests += 1
            return self.endpoints[self.requests % len(self.endpoints)]


class Agent(threading.Thread):
    """Polls the list without a pause."""

    def __init__(self, service):
        super().__init__()
        self.service = service
        self.answers = []  # the number of targets, or the failure
        self.is_stopped = False

    def run(self):
        while not self.is_stopped:
            try:
                url = self.service.next_url() + "/sd/nodes/targets"
                with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
                    self.answers.append(sum(len(group["targets"])
                                            for group in json.load(answer)))
            except OSError as error:
                self.answers.append(error)

    def wait_for_answers(self, number):
        """So many further ones."""
        wanted = len(self.answers) + number
        end = time.monotonic() + TIMEOUT
        while len(self.answers) < wanted:
            assert time.monotonic() < end, "the agent gets no answers"
            time.sleep(0.01)


class Update(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.server = self.stack.enter_context(simulated_cluster(timeout=3 * TIMEOUT))
        self.config = self.stack.enter_context(file_with(JOBS))

    def replica(self):
        return Replica(self.stack.enter_context(
            running("k8s-sd", "--config", self.config, "--api-server", self.server, "--listen",
                    "127.0.0.1:0", timeout=3 * TIMEOUT)))

    def test_no_poll_fails(self):
        service = Service()
        old = [self.replica() for _ in range(2)]
        for replica in old:
            service.add(replica)
        agent = Agent(service)
        agent.start()
        try:
            agent.wait_for_answers(5)
            for replica in old:
                # maxSurge 1 and maxUnavailable 0: the new one is ready first.
                service.add(self.replica())
                agent.wait_for_answers(5)
                # preStop: requests still arrive while the nodes learn that it terminates.
                service.remove(replica)
                agent.wait_for_answers(5)
                self.assertEqual(replica.program.signal(signal.SIGTERM), 0)
            agent.wait_for_answers(5)
        finally:
            agent.is_stopped = True
            agent.join()
        # Nodes neither come nor go in this cluster.
        self.assertEqual(len(set(agent.answers)), 1, set(agent.answers))
        self.assertGreater(agent.answers[0], 0)


if __name__ == "__main__":
    unittest.main()
