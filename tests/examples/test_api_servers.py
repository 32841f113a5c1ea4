"""A fleet's requests to an API server: a simulated one and, if available, a real one."""

import re
import signal
import time
import unittest
import urllib.request

from api_servers import Missing, real, simulated
from harness import file_with, run, running

PODS = 60
JOB = """
scrape_configs:
- job_name: web
  kubernetes_sd_configs: [{role: node}]
"""
SHARDED = "ShardedListAndWatch=true"


def listening(program):
    return program.line_with(r"^listens at (http://127\.0\.0\.1:\d+)$").group(1)


def page(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def received_bytes(server, *options):
    """The received bytes of the list of pods."""
    with running("discover", *server.options, *options, "--listen", "127.0.0.1:0",
                 "--output", "text") as program:
        url = program.error_line().rpartition(" ")[2]
        program.line_with(r"\d+ targets of \d+ objects now")
        return int(re.search(r'(?m)^k8s_sd_received_bytes_total\{.*"pods".*\} (\d+)$',
                             page(url + "/metrics")).group(1))


class Leases:
    """For a server started by `self.server()`."""

    def test_a_member_renews_a_lease_and_says_goodbye(self):
        with self.server() as server, file_with(JOB, "config.yml") as config, running(
                "scraper", *server.options, "--config", config, "--fleet-leases", "agents",
                "--fleet-namespace", "default", "--member", "a-0", "--listen", "127.0.0.1:0",
                "--fleet-drain", 1) as program:
            url = listening(program)
            program.line_with(r"^member a-0 of 1: a-0")
            path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/agents.a-0"
            status, lease = server.request("GET", path)
            self.assertEqual(status, 200, lease)
            self.assertEqual(lease["spec"]["holderIdentity"], "a-0")
            self.assertEqual(lease["metadata"]["labels"], {"k8s-sd/fleet": "agents"})
            self.assertEqual(lease["metadata"]["annotations"]["k8s-sd/state"], "active")
            self.assertIn("member a-0 of 1", page(url + "/fleet"))
            program.process.send_signal(signal.SIGTERM)
            program.line_with("leaving")
            deadline = time.monotonic() + 10
            while lease["metadata"]["annotations"]["k8s-sd/state"] != "leaving":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
                lease = server.request("GET", path)[1]


class SimulatedServer(Leases, unittest.TestCase):
    def server(self):
        return simulated()

    def test_a_server_that_does_not_know_shares_sends_everything(self):
        with self.server() as server:
            whole = received_bytes(server)
            # The cluster changes in between.
            self.assertGreater(received_bytes(server, "--object-share", "0/4"), whole / 2)


class RealServer(Leases, unittest.TestCase):
    def server(self, gates=""):
        context = real(gates)
        try:
            server = context.__enter__()
        except Missing as missing:
            self.skipTest(str(missing))
        self.addCleanup(context.__exit__, None, None, None)
        return _Entered(server)

    def create_pods(self, server):
        for i in range(PODS):
            pods = "/api/v1/namespaces/default/pods"
            server.create(pods, {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{i}"},
                "spec": {"containers": [{"name": "web", "image": "web",
                                         "ports": [{"containerPort": 80}]}]}})
            status, answer = server.request(
                "PATCH", f"{pods}/web-{i}/status", {"status": {"podIP": f"10.9.0.{i + 1}"}},
                "application/merge-patch+json")
            self.assertEqual(status, 200, answer)

    def targets(self, server, *options):
        result = run("discover", *server.options, "--once", "--output", "quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(result.stdout.split("targets=")[1].split()[0])

    def check_shares(self, gates, sharded):
        with self.server(gates) as server:
            self.create_pods(server)
            shares = [self.targets(server, "--object-share", f"{i}/3") for i in range(3)]
            self.assertEqual(sum(shares), PODS, shares)
            self.assertTrue(all(shares), shares)
            whole = received_bytes(server)
            self.assertEqual(received_bytes(server, "--object-share", "0/4") < whole / 2, sharded)

    def test_a_server_that_knows_shares_sends_no_more_than_the_share(self):
        self.check_shares(SHARDED, True)

    def test_a_server_that_does_not_know_shares_sends_everything(self):
        self.check_shares("", False)

    def test_the_endpoint_slices_of_a_service_say_who_is_there(self):
        with self.server() as server, file_with(JOB, "config.yml") as config:
            server.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                "addressType": "IPv4",
                "metadata": {"name": "agents-1",
                             "labels": {"kubernetes.io/service-name": "agents"}},
                "endpoints": [
                    {"addresses": [f"10.9.1.{i + 1}"],
                     "conditions": {"ready": True, "serving": True, "terminating": i == 2},
                     "targetRef": {"kind": "Pod", "namespace": "default", "name": f"a-{i}"}}
                    for i in range(3)]})
            with running("scraper", *server.options, "--config", config, "--fleet-service",
                         "agents", "--fleet-namespace", "default", "--member", "a-0") as program:
                program.line_with(r"^member a-0 of 2: a-0, a-1$")


class _Entered:
    """A context manager exited by its owner."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        return self.server

    def __exit__(self, *_):
        pass


if __name__ == "__main__":
    unittest.main()
