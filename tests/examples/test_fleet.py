"""Programs divide the targets of a cluster, and keep them across restarts."""

import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from harness import TIMEOUT, command, environment, file_with, run, running, simulated_cluster

CONFIG = """
scrape_configs:
- job_name: web
  kubernetes_sd_configs: [{role: ROLE}]
"""


def get(url):
    """Status and body."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait_until_ready(url):
    for _ in range(100):
        if get(url + "/readyz")[0] == 200:
            return
        time.sleep(0.1)


class Fleet(unittest.TestCase):
    def test_members_leave_join_and_die_and_no_target_is_left_alone(self):
        for options in ((), ("--divide",)):
            result = run("fleet", "--targets", 12, *options)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertEqual(result.stderr, "")
            self.assertRegex(result.stdout, r"(?m)scraped by agent-0: \d+, agent-2: \d+$")
            self.assertRegex(result.stdout, r"(?m)scraped by agent-2: \d+, agent-3: \d+$")
            self.assertRegex(result.stdout, r"(?m)  every target has an owner$")

    def test_what_cannot_be_run_is_said(self):
        result = run("fleet", "--scraper", "/no/such/program")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--scraper: /no/such/program is no program", result.stderr)

    def test_shares_of_all_members_make_the_whole(self):
        def targets(*options):
            result = run("discover", "--sim", "--once", "--output", "quiet", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            return int(result.stdout.split("targets=")[1].split()[0])

        shares = [targets("--fleet-members", 3, "--member", f"agent-{i}") for i in range(3)]
        self.assertEqual(sum(shares), targets())
        self.assertTrue(all(shares), shares)

    def test_parts_of_the_objects_make_the_whole(self):
        def pods(*options):
            result = run("discover", "--sim", "--once", "--output", "quiet", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            return int(result.stdout.split("targets=")[1].split()[0])

        self.assertEqual(sum(pods("--object-share", f"{i}/3") for i in range(3)), pods())
        refused = run("discover", "--sim", "--role", "ingress", "--object-share", "0/3")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("only roles pod, node and service have shares", refused.stderr)

    def test_each_namespace_has_one_member_where_roles_join_kinds(self):
        # Nothing listens there; labels show the targets to be scraped.
        rules = """
  relabel_configs:
  - {target_label: __address__, replacement: "127.0.0.1:1"}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__address__, __meta_kubernetes_endpointslice_name], target_label: slice}
"""
        with simulated_cluster() as server, file_with(
                CONFIG.replace("ROLE", "endpointslice") + rules, "config.yml") as config:
            owners = []
            for member in range(3):
                with running("scraper", "--api-server", server, "--config", config,
                             "--fleet-members", 3, "--member", f"a-{member}", "--fleet-divide",
                             "--listen", "127.0.0.1:0") as program:
                    url = program.line_with(r"^listens at (http://127\.0\.0\.1:\d+)$").group(1)
                    wait_until_ready(url)
                    program.process.send_signal(signal.SIGTERM)
                    output, errors = program.process.communicate(timeout=TIMEOUT)
                    self.assertEqual(program.process.returncode, 0, errors)
                    owners.append(set(re.findall(r'namespace="([^"]+)"', output)))
        self.assertEqual(sorted(ns for mine in owners for ns in mine),
                         ["kube-system", "monitoring", "payments", "shop"], owners)

    def test_a_division_needs_a_fleet(self):
        for options, message in (
                (("--fleet-divide",), "--fleet-divide: needs --fleet-service"),
                (("--fleet-members", 2, "--member", "a-0", "--fleet-slots", 8),
                 "--fleet-slots: needs --fleet-divide"),
                (("--fleet-members", 2, "--member", "a-0", "--fleet-divide", "--object-share",
                  "0/2"), "both say which part"),
                (("--fleet-members", 2, "--member", "a-0", "--fleet-divide", "--fleet-slots", 3),
                 "must be a power of two")):
            result = run("scraper", "--sim", *options)
            self.assertEqual(result.returncode, 2, (options, result.stderr))
            self.assertIn(message, result.stderr)

    def test_probes_say_how_a_member_is(self):
        with running("scraper", "--sim", "--fleet-members", 2, "--member", "agent-1",
                     "--listen", "127.0.0.1:0") as program:
            url = program.line_with(r"^listens at (http://127\.0\.0\.1:\d+)$").group(1)
            program.line_with(r"^member agent-1 of 2: agent-0, agent-1$")
            self.assertEqual(get(url + "/livez"), (200, "ok\n"))
            wait_until_ready(url)
            self.assertEqual(get(url + "/readyz"), (200, "ok\n"))
            self.assertEqual(get(url + "/fleet")[1], "member agent-1 of 2: agent-0, agent-1\n")
            metrics = get(url + "/metrics")[1]
            self.assertIn("\nk8s_sd_fleet_members 2\n", metrics)
            self.assertIn("\nk8s_sd_fleet_foreign_targets ", metrics)
            self.assertEqual(get(url + "/elsewhere")[0], 404)
            self.assertEqual(program.signal(signal.SIGTERM), 0)

    def test_who_is_not_synced_is_not_ready(self):
        with running("scraper", "--api-server", "http://127.0.0.1:1", "--listen", "127.0.0.1:0",
                     "--config", self.config("pod")) as program:
            url = program.line_with(r"^listens at (http://127\.0\.0\.1:\d+)$").group(1)
            self.assertEqual(get(url + "/readyz"),
                             (503, "not everything has been listed yet\n"))

    def test_a_member_goes_on_while_it_drains(self):
        with running("discover", "--sim", "--fleet-members", 2, "--member", "a-0",
                     "--fleet-drain", 1) as program:
            program.line_with(r"From now on")
            begun = time.monotonic()
            program.process.send_signal(signal.SIGTERM)
            program.line_with(r"# member a-0 of 2: a-0, a-1; leaving$")
            program.process.communicate(timeout=TIMEOUT)
            self.assertEqual(program.process.returncode, 0)
            self.assertGreaterEqual(time.monotonic() - begun, 0.9)

    def test_what_does_not_go_together_is_said(self):
        for options, message in (
                (("--fleet-service", "a", "--fleet-members", 2), "give one of them"),
                (("--fleet-members", 2, "--member", "agent"), '--member: "agent" must be a number'),
                (("--fleet-members", 2, "--member", "a-2"), "is not one of 2 members"),
                (("--member", "a-1"), "--member: needs --fleet-service NAME or --fleet-leases "
                                      "NAME or --fleet-members N"),
                (("--fleet-namespace", "n"), "--fleet-namespace: needs"),
                (("--object-share", "3/3"), "there is no part 3 of 3"),
                (("--object-share", "3"), "must be INDEX/COUNT"),
                (("--listen", "8080"), "--listen: must be ADDRESS:PORT"),
                (("--allow-cluster-wide",), "needs --per-node")):
            for program in ("discover", "scraper"):
                result = run(program, "--sim", *options)
                self.assertEqual(result.returncode, 2, (program, options))
                self.assertIn(message, result.stderr)

    def test_agents_on_nodes_discover_what_is_there_and_nothing_else(self):
        result = run("discover", "--sim", "--once", "--per-node", "node-a1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("node=node-a1", result.stdout)
        self.assertNotIn("node=node-b1", result.stdout)
        refused = run("discover", "--sim", "--role", "endpointslice", "--per-node", "node-a1")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the server would send every change of the cluster to every node", refused.stderr)
        config = self.config("endpointslice")
        scraper = run("scraper", "--sim", "--config", config, "--per-node", "node-1")
        self.assertEqual(scraper.returncode, 2)
        self.assertIn("role endpointslice cannot be restricted", scraper.stderr)

    def config(self, role):
        context = file_with(CONFIG.replace("ROLE", role), "config.yml")
        path = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return path


class Snapshots(unittest.TestCase):
    def test_previous_targets_are_delivered_while_the_server_is_away(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = os.path.join(parent, "snapshots")
            # A cluster that goes away: its port is free again afterwards.
            with running("scraper", "--sim", "--report-interval", "0") as cluster:
                cluster.line_with("start")
                port = listening_port(cluster.process.pid)
                server = f"http://127.0.0.1:{port}"
                with running("discover", "--api-server", server,
                             "--snapshot-dir", folder) as program:
                    program.line_with(r"targets of \d+ objects now")
                    # The program writes its state when it ends.
                    self.assertEqual(program.signal(signal.SIGTERM), 0)
                deadline = time.monotonic() + 10
                while not os.path.isdir(folder) or not os.listdir(folder):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
            self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
            result = subprocess.run(
                command("discover", ("--api-server", server, "--snapshot-dir", folder,
                                     "--snapshot-after", 0, "--timeout", 2, "--output", "json")),
                env=environment(), text=True, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=TIMEOUT)
            self.assertIn('"unconfirmed":true', result.stdout)
            self.assertIn('"source":"pod/shop/', result.stdout)

    def test_a_member_has_its_share_while_the_server_is_away(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = os.path.join(parent, "snapshots")
            with running("scraper", "--sim", "--report-interval", "0") as cluster:
                cluster.line_with("start")
                port = listening_port(cluster.process.pid)
                options = ("--api-server", f"http://127.0.0.1:{port}", "--fleet-leases", "agents",
                           "--fleet-namespace", "shop", "--member", "agent-0",
                           "--snapshot-dir", folder)
                with running("discover", *options) as program:
                    view = program.line_with("member agent-0 of 1: agent-0$").group(0)
                    self.assertEqual(program.signal(signal.SIGTERM), 0)
            result = subprocess.run(
                command("discover", options + ("--timeout", 2)), env=environment(), text=True,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
            # Long lines are cut.
            self.assertIn(view + "; the view is from before", result.stdout)


def listening_port(pid):
    """The port of the API server in `scraper --sim`: the first listening socket."""
    inodes = {}
    for fd in sorted(os.listdir(f"/proc/{pid}/fd"), key=int):
        try:
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            continue
        if link.startswith("socket:["):
            inodes[link[8:-1]] = int(fd)
    ports = {}
    with open("/proc/net/tcp", encoding="utf-8") as table:
        for line in list(table)[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                ports[inodes[fields[9]]] = int(fields[1].split(":")[1], 16)
    return ports[min(ports)]


if __name__ == "__main__":
    unittest.main()
