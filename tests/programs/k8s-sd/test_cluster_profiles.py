"""k8s-sd --cluster-profiles discovers the clusters of a hub, and follows them."""

import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from cluster_profiles import simulated_hub
from harness import TIMEOUT, file_with, run, running, simulated_cluster
from program_metrics import Rules, rule_tests
from test_clusters import JOB, Server

REFUSED = ("clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
           "users: [{name: u, user: {tokenFile: /etc/shadow}}]\n"
           "contexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n")


def serving(hub, config, *arguments):
    return running("k8s-sd", "--config", config, "--api-server", hub,
                   "--cluster-profiles-namespace", "fleet", "--listen", "127.0.0.1:0", *arguments)


def clusters_of(text):
    return {group["labels"]["cluster"] for group in json.loads(text)}


def status_of(server, path):
    """The status and the body."""
    try:
        with urllib.request.urlopen(server.url + path, timeout=TIMEOUT) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read().decode()


def wait_clusters(server, *names):
    """Waits until the list of nodes has those of these clusters."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        status, text = status_of(server, "/sd/nodes")
        if status == 200 and clusters_of(text) == set(names):
            return
        time.sleep(0.05)
    raise AssertionError(f"the list is still {status} {text}")


def events_until_end(program):
    """Ends the program, and returns the events in its log."""
    program.process.send_signal(signal.SIGTERM)
    events = [json.loads(program.log_line())]
    while events[-1].get("event") != "end":
        events.append(json.loads(program.log_line()))
    return events


class Serving(unittest.TestCase):
    def test_profiles_appear_change_and_go(self):
        with simulated_cluster() as blue, simulated_cluster() as green, \
                simulated_hub() as (hub, url), file_with(JOB, "scrape.yml") as config:
            hub.cluster("blue", blue)
            with serving(url, config) as program:
                server = Server(program)
                wait_clusters(server, "fleet/blue")
                hub.cluster("green", green)
                wait_clusters(server, "fleet/blue", "fleet/green")
                targets = json.loads(server.ask("/sd/nodes/targets"))
                self.assertEqual({group["labels"]["region"] for group in targets},
                                 {"in-fleet/blue", "in-fleet/green"})
                metrics = server.ask("/metrics")
                self.assertIn('k8s_sd_server_synced{cluster="fleet/green",server="%s"} 1\n'
                              % green, metrics)
                self.assertIn('k8s_sd_program_cluster_profiles{state="usable"} 2\n', metrics)
                self.assertIn("k8s_sd_program_cluster_profiles_failing 0\n", metrics)

                hub.remove("clusterprofiles", "blue")
                wait_clusters(server, "fleet/green")
                # One that is away keeps nothing of another one, and no targets of its own.
                hub.cluster("away", "http://127.0.0.1:1")
                hub.remove("clusterprofiles", "green")
                wait_clusters(server)
                hub.cluster("blue", blue)
                wait_clusters(server, "fleet/blue")
                servers = server.wait_health(lambda found: len(found) == 2 and any(
                    one["state"] == "failing" for one in found))
                self.assertEqual(servers["fleet/away"]["state"], "failing")
                self.assertIn("job nodes is listed without cluster fleet/away",
                              server.ask("/readyz"))

    def test_a_changed_address_keeps_the_targets_until_it_has_been_listed(self):
        with simulated_cluster() as blue, simulated_cluster() as green, \
                simulated_hub() as (hub, url), file_with(JOB, "scrape.yml") as config:
            hub.cluster("blue", blue)
            hub.cluster("green", green)
            with serving(url, config, "--cluster-label", "region_name") as program:
                server = Server(program)

                def names(text):
                    return {group["labels"]["region_name"] for group in json.loads(text)}
                both = {"fleet/blue", "fleet/green"}
                server.wait("/sd/nodes", lambda text: names(text) == both)
                hub.cluster("blue", "http://127.0.0.1:1")
                servers = server.wait_health(lambda found: any(
                    one["cluster"] == "fleet/blue" and one["state"] == "failing"
                    for one in found))
                self.assertEqual(servers["fleet/blue"]["server"], "http://127.0.0.1:1")
                self.assertEqual(names(server.ask("/sd/nodes")), both)
                hub.cluster("blue", green)
                server.wait_health(lambda found: all(
                    one["server"] == green and one["state"] == "synced" for one in found))
                self.assertEqual(names(server.ask("/sd/nodes")), both)

    def test_profiles_without_usable_access_say_why_and_hold_back_nothing_for_long(self):
        with simulated_cluster() as blue, simulated_hub() as (hub, url), \
                file_with(JOB, "scrape.yml") as config:
            hub.cluster("blue", blue)
            hub.profile("bare")
            hub.profile("refused")
            hub.secret("refused", REFUSED)
            with serving(url, config, "--start-without-clusters", "0.1", "--log-format",
                         "json") as program:
                server = Server(program)
                wait_clusters(server, "fleet/blue")
                ready = server.ask("/readyz")
                servers = server.wait_health(lambda found: len(found) == 3)
                metrics = server.ask("/metrics")
                events = []
                while not events or events[-1].get("event") != "job_without_clusters":
                    events.append(json.loads(program.log_line()))
                hub.cluster("bare", blue)
                wait_clusters(server, "fleet/blue", "fleet/bare")
        self.assertIn("cluster fleet/bare cannot be discovered: ClusterProfile fleet/bare: has no "
                      "access provider; create a Secret with a kubeconfig in its key Config", ready)
        self.assertIn("Secret fleet/refused: names a file of this machine", ready)
        self.assertIn("job nodes is listed without clusters fleet/bare, fleet/refused", ready)
        self.assertEqual(servers["fleet/bare"]["state"], "unusable")
        self.assertTrue(servers["fleet/bare"]["remedy"].startswith("create a Secret"))
        self.assertIn('k8s_sd_program_cluster_profiles{state="unusable"} 2\n', metrics)
        self.assertIn('k8s_sd_server_failing{cluster="fleet/bare"', metrics)
        self.assertIn('k8s_sd_program_job_missing_clusters{job="nodes"} 2\n', metrics)
        changed = [event for event in events if event.get("event") == "clusters_changed"]
        self.assertEqual((changed[0]["clusters"], changed[0]["usable"]), (3, 1))
        self.assertEqual(events[-1]["missing_clusters"], 2)
        warnings = [event["msg"] for event in events if event["level"] == "warning"]
        self.assertEqual(sum("fleet/bare: has no" in text for text in warnings), 1)

    def test_a_change_without_another_access_is_not_applied(self):
        number_of_events = re.compile(r'^k8s_sd_events_total{resource="other"} (\d+)$', re.M)
        with simulated_cluster() as blue, simulated_hub() as (hub, url), \
                file_with(JOB, "scrape.yml") as config:
            hub.cluster("blue", blue)
            hub.profile("bare")
            with serving(url, config, "--start-without-clusters", "0.1", "--log-format",
                         "json") as program:
                server = Server(program)
                wait_clusters(server, "fleet/blue")
                for number in range(1, 5):
                    before = int(number_of_events.search(server.ask("/metrics"))[1])
                    hub.profile("blue" if number % 2 else "bare", nodes=str(number))
                    server.wait("/metrics", lambda text, before=before: int(
                        number_of_events.search(text)[1]) > before)
                hub.cluster("green", blue)
                wait_clusters(server, "fleet/blue", "fleet/green")
                events = events_until_end(program)
        changed = [(event["clusters"], event["usable"]) for event in events
                   if event.get("event") == "clusters_changed"]
        # The Secret may arrive after its ClusterProfile.
        self.assertIn(changed, ([(2, 1), (3, 2)], [(2, 1), (3, 1), (3, 2)]))
        warnings = [event["msg"] for event in events if event["level"] == "warning"]
        self.assertEqual(sum("fleet/bare: has no" in text for text in warnings), 1)

    def test_a_job_waits_for_the_first_cluster_of_the_hub(self):
        with simulated_cluster() as blue, simulated_hub() as (hub, url), \
                file_with(JOB, "scrape.yml") as config, \
                serving(url, config, "--hold", "0.001") as program:
            server = Server(program)

            def wait_incomplete(reason):
                end = time.monotonic() + TIMEOUT
                while reason not in status_of(server, "/readyz")[1]:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                self.assertEqual(status_of(server, "/readyz")[0], 503)
                status, text = status_of(server, "/sd/nodes")
                self.assertEqual(status, 503)
                self.assertIn(reason, text)
            wait_incomplete("not been discovered completely yet; no ClusterProfile of the "
                            "hub is selected")
            hub.cluster("old", "http://127.0.0.1:1")
            server.wait_health(lambda found: [one["cluster"] for one in found] == ["fleet/old"])
            wait_incomplete("127.0.0.1:1")
            with hub.changed:  # together
                hub.cluster("new", "http://127.0.0.1:2")
                hub.remove("clusterprofiles", "old")
            server.wait_health(lambda found: [one["cluster"] for one in found] == ["fleet/new"])
            wait_incomplete("127.0.0.1:2")
            hub.cluster("new", blue)
            wait_clusters(server, "fleet/new")

    def test_without_its_clusters_a_job_has_no_list(self):
        with simulated_hub() as (hub, url), file_with(JOB, "scrape.yml") as config:
            hub.profile("bare")
            hub.refused.add("secrets")
            with serving(url, config, "--hold", "0.001", "--start-without-clusters",
                         "0.001") as program:
                server = Server(program)
                server.wait_health(lambda found: len(found) == 1)
                status, text = status_of(server, "/sd/nodes")
                self.assertEqual(status_of(server, "/readyz")[0], 503)
            self.assertEqual(status, 503)
            self.assertIn("cluster fleet/bare: ClusterProfile fleet/bare: has no access", text)
            self.assertIn("Secrets cannot be read", text)
            hub.refused.add("clusterprofiles")
            with serving(url, config, "--hold", "0.001") as program:
                server = Server(program)
                status, text = status_of(server, "/sd/nodes")
        self.assertEqual(status, 503)
        self.assertIn("the ClusterProfiles of the hub have not been listed yet", text)

    def test_what_reads_one_cluster_refuses_profiles(self):
        for arguments, text in (
                (("--sim",), "--sim: is one cluster; leave out --cluster-profiles"),
                (("--monitors",), "--monitors: reads the monitors of one"),
                (("--all-contexts",), "--cluster-profiles: names the clusters"),
                (("--cluster", "a"), "--cluster: names one server")):
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", "--role", "node", "--cluster-profiles", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(text, result.stderr)


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Alerts(Rules):
    """Of examples/monitoring, for an hour of the metrics of a process with ClusterProfiles."""

    def samples_of(self, server):
        lines = server.ask("/metrics").splitlines()
        return [(name, labels, float(value)) for name, labels, value in
                (rule_tests.sample_of(line) for line in lines if not line.startswith("#"))]

    def test_one_fires_for_the_cluster_without_access_and_none_without_a_fault(self):
        with simulated_cluster() as blue, simulated_cluster() as green, \
                simulated_hub() as (hub, url), file_with(JOB, "scrape.yml") as config:
            hub.cluster("blue", blue)
            hub.cluster("green", green)
            with serving(url, config, "--start-without-clusters", "0.1") as program:
                server = Server(program)
                wait_clusters(server, "fleet/blue", "fleet/green")
                quiet = self.samples_of(server)
                hub.profile("bare")
                server.wait_health(lambda found: len(found) == 3)
                bare = self.samples_of(server)
                hub.remove("clusterprofiles", "bare")
                hub.cluster("away", "http://127.0.0.1:1")
                server.wait_health(lambda found: any(one["state"] == "failing" for one in found))
                away = self.samples_of(server)
        self.assert_fire(quiet, [])
        of_cluster = {"expr": 'group by (exported_cluster, cluster) (ALERTS{alertstate="firing",'
                              'alertname="K8sSdClusterFailing"})', "eval_time": "60m"}
        self.assert_samples(bare, [
            rule_tests.fired(60, ["K8sSdClusterFailing"]),
            {**of_cluster, "exp_samples": [{"labels": '{cluster="fleet/bare"}', "value": 1}]}])
        self.assert_samples(away, [
            rule_tests.fired(60, ["K8sSdClusterFailing", "K8sSdWatchFailing"]),
            {**of_cluster, "exp_samples": [{"labels": '{cluster="fleet/away"}', "value": 1}]}])

    def test_one_fires_for_a_hub_that_refuses(self):
        with simulated_cluster() as blue, simulated_hub() as (hub, url), \
                file_with(JOB, "scrape.yml") as config:
            hub.cluster("blue", blue)
            hub.refused.add("secrets")
            with serving(url, config, "--start-without-clusters", "0.1") as program:
                server = Server(program)
                end = time.monotonic() + TIMEOUT
                while "k8s_sd_program_cluster_profiles_failing 1\n" not in server.ask("/metrics"):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                samples = self.samples_of(server)
        self.assert_samples(samples, [
            rule_tests.fired(60, ["K8sSdPermissionRefused", "K8sSdWatchFailing"],
                             ',alertname=~"K8sSd(PermissionRefused|WatchFailing)"')])


class Starting(unittest.TestCase):
    FILE = """
scrape_configs:
- job_name: nodes
  kubernetes_sd_configs:
  - {role: node, api_server: URL, cluster: blue}
  - {role: node, api_server: 'http://127.0.0.1:1', cluster: away}
"""

    def test_a_cluster_that_is_away_holds_back_a_job_for_a_time_only(self):
        with simulated_cluster() as blue, \
                file_with(self.FILE.replace("URL", blue), "scrape.yml") as config:
            with running("k8s-sd", "--config", config, "--listen", "127.0.0.1:0",
                         "--start-without-clusters", "0.1") as program:
                server = Server(program)
                wait_clusters(server, "blue")
                health = json.loads(server.ask("/api/ui/health"))
                metrics = server.ask("/metrics")
                ready = server.ask("/readyz")
            with running("k8s-sd", "--config", config, "--listen", "127.0.0.1:0", "--hold", "1",
                         "--start-without-clusters", "never") as program:
                server = Server(program)
                server.wait_health(lambda found: any(
                    one["cluster"] == "blue" and one["state"] == "synced" for one in found))
                self.assertEqual(status_of(server, "/sd/nodes")[0], 503)
        self.assertEqual(health["jobs"][0]["missing_clusters"], ["away"])
        self.assertIn("job nodes is listed without cluster away; ", "\n".join(health["notes"]))
        self.assertIn("job nodes is listed without cluster away; ", ready)
        self.assertIn('k8s_sd_program_job_missing_clusters{job="nodes"} 1\n', metrics)
        self.assertIn('k8s_sd_program_job_complete{job="nodes"} 1\n', metrics)

    def test_snapshots_have_the_targets_of_all_clusters_while_the_hub_is_away(self):
        with tempfile.TemporaryDirectory() as folder, file_with(JOB, "scrape.yml") as config:
            options = ("--snapshot-dir", os.path.join(folder, "snapshots"))
            with simulated_hub() as (hub, url), simulated_cluster() as blue, \
                    simulated_cluster() as green:
                hub.cluster("blue", blue)
                hub.cluster("green", green)
                with serving(url, config, *options) as program:
                    wait_clusters(Server(program), "fleet/blue", "fleet/green")
                    self.assertEqual(program.signal(signal.SIGTERM), 0)
            path = pathlib.Path(folder, "snapshots/clusters.json")
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            remembered = json.loads(path.read_text(encoding="utf-8"))["clusters"]
            self.assertEqual([list(cluster) for cluster in remembered], 2 * [
                ["namespace", "name", "uid", "server", "ca", "tls_server_name"]])
            with serving(url, config, *options, "--snapshot-after", "0") as program:
                server = Server(program)
                wait_clusters(server, "fleet/blue", "fleet/green")
                self.assertRegex(server.ask("/readyz"),
                                 r"the hub has not been listed since the start; its clusters are "
                                 r"those of \d+ s ago, without credentials\n")
            with serving("http://127.0.0.1:2", config, *options, "--snapshot-after", "0", "--hold",
                         "0.5") as program:
                self.assertEqual(status_of(Server(program), "/sd/nodes")[0], 503)  # another hub

    def test_the_first_start_has_no_clusters_of_before_and_says_nothing_of_them(self):
        with tempfile.TemporaryDirectory() as folder, file_with(JOB, "scrape.yml") as config, \
                serving("http://127.0.0.1:1", config, "--snapshot-dir",
                        os.path.join(folder, "snapshots"), "--snapshot-after", "0", "--hold",
                        "0.001", "--log-format", "json") as program:
            server = Server(program)
            while "refused" not in status_of(server, "/sd/nodes")[1]:
                time.sleep(0.05)
            events = events_until_end(program)
        self.assertFalse([event for event in events if "clusters of before" in event["msg"]])

    def test_a_snapshot_has_the_targets_of_a_cluster_that_is_away(self):
        with tempfile.TemporaryDirectory() as folder, simulated_cluster() as blue, \
                file_with(self.FILE.replace("URL", blue), "scrape.yml") as config:
            options = ("--config", config, "--listen", "127.0.0.1:0", "--snapshot-dir",
                       os.path.join(folder, "snapshots"), "--start-without-clusters")
            with simulated_cluster() as green:
                with open(config, encoding="utf-8") as file:
                    text = file.read().replace("http://127.0.0.1:1", green)
                with open(config, "w", encoding="utf-8") as file:
                    file.write(text)
                with running("k8s-sd", *options, "never") as program:
                    wait_clusters(Server(program), "blue", "away")
                    self.assertEqual(program.signal(signal.SIGTERM), 0)
            with running("k8s-sd", *options, "0.001", "--snapshot-after", "0") as program:
                server = Server(program)
                wait_clusters(server, "blue", "away")
                self.assertIn('k8s_sd_program_job_missing_clusters{job="nodes"} 0\n',
                              server.ask("/metrics"))


if __name__ == "__main__":
    unittest.main()
