"""Whether the alerts of examples/monitoring fire for metrics of running programs in faults of
servers and fleets, and after changes. test_metrics.py has the faults that one scrape shows."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest

import harness
import test_tls as tls
from cluster_profiles import simulated_hub
from harness import (JsonHandler, SilentHandler, file_with, replace_file, running, server_with,
                     simulated_cluster)
from program_metrics import ROOT, Metrics, Rules, series_of

sys.path.insert(0, str(ROOT / "tests/package/monitoring"))
import check_monitoring  # noqa: E402
import rule_tests  # noqa: E402

FAST_CLOCK = os.environ.get("K8S_SD_FAST_CLOCK", "")
KINDS = {"nodes": ("v1", "Node"), "services": ("v1", "Service"),
         "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice")}


def add_nodes(cluster, count):
    for number in range(count):
        cluster.put("nodes", f"n{number}", {"status": {"addresses": [
            {"type": "InternalIP", "address": f"10.0.0.{number + 1}"}]}}, namespace=None)


def remove_nodes(cluster, count):
    for name in list(cluster.objects["nodes"])[:count]:
        cluster.remove("nodes", name)


@contextlib.contextmanager
def cluster_of_nodes(count):
    """An API server with so many nodes, and its URL."""
    with simulated_hub(KINDS) as (cluster, url):
        add_nodes(cluster, count)
        yield cluster, url


def jobs_of(*urls, role="node"):
    configs = [f"{{role: {role}, api_server: '{url}', cluster: c{number}}}"
               for number, url in enumerate(urls)]
    return ("scrape_configs:\n- job_name: one\n  kubernetes_sd_configs: [" +
            ", ".join(configs) + "]\n")


@contextlib.contextmanager
def serving(config, *options, variables=None):
    """k8s-sd with this configuration: its process, metrics, and the path of the file."""
    with file_with(config) as path, \
            running("k8s-sd", "--listen", "127.0.0.1:0", "--check-interval", "0.05", "--config",
                    path, *options, variables=variables) as program:
        yield program, Metrics(program), pathlib.Path(path)


class MemberMetrics(Metrics):
    """Those of a discover that is a member of a fleet."""
    @staticmethod
    def url_of(program):
        return re.search(r"listens at (http://\S+)", program.log_line_with("listens at "))[1]


@contextlib.contextmanager
def member(url, *options, variables=None):
    with running("discover", "--role", "node", "--api-server", url, "--output", "json",
                 "--listen", "127.0.0.1:0", *options, variables=variables) as program:
        yield program, MemberMetrics(program)


def reply_to_list(handler, version, items=()):
    handler.reply(200, {"kind": "NodeList", "apiVersion": "v1", "items": list(items),
                        "metadata": {"resourceVersion": version}})


def refuse_initial_events(handler):
    handler.reply(400, {"kind": "Status", "code": 400, "reason": "BadRequest",
                        "message": "sendInitialEvents"})


class Compacted(JsonHandler):
    """An API server without the version of any of its lists."""
    def do_GET(self):
        if "sendInitialEvents" in self.path:
            return refuse_initial_events(self)
        if "watch" in self.path:
            return self.reply(410, {"kind": "Status", "code": 410, "reason": "Expired",
                                    "message": "too old"})
        return reply_to_list(self, "7")


def restored():
    """An API server with the state of a backup since its first watch."""
    class Restored(JsonHandler):
        version = "1000"

        def do_GET(self):
            if "sendInitialEvents" in self.path:
                return refuse_initial_events(self)
            if "watch" not in self.path:
                return reply_to_list(self, Restored.version)
            Restored.version = "50"
            return self.hold({"type": "BOOKMARK", "object": {
                "kind": "Node", "apiVersion": "v1", "metadata": {"resourceVersion": "50"}}})

    return Restored


class Mute(JsonHandler):
    """An API server whose watches bring nothing."""
    def do_GET(self):
        if "sendInitialEvents" in self.path:
            return refuse_initial_events(self)
        if "watch" not in self.path:
            return reply_to_list(self, "7")
        return self.hold()


def slice_of(cluster, members):
    cluster.put("endpointslices", "agents-1", {
        "addressType": "IPv4", "ports": [], "endpoints": [
            {"addresses": [f"10.0.1.{number + 1}"], "conditions": {"ready": True},
             "targetRef": {"kind": "Pod", "namespace": "fleet", "name": name}}
            for number, name in enumerate(members)]},
        {"kubernetes.io/service-name": "agents"})


class Coverage(unittest.TestCase):
    def test_every_alert_fires_for_metrics_of_a_running_program(self):
        folder = pathlib.Path(__file__).parent
        text = "".join((folder / f"test_{name}.py").read_text("utf-8")
                       for name in ("metrics", "alerts"))
        fired = set(re.findall(r"\bK8sSd\w+", text))
        self.assertEqual({rule["alert"] for rule in check_monitoring.alerts()} - fired, set())


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Servers(Rules):
    def test_lists_whose_version_expires_at_once(self):
        with server_with(Compacted) as url, serving(jobs_of(url)) as (_, metrics, _):
            samples = metrics.wait_until(
                lambda name, _, value: name == "k8s_sd_relists_total" and value > 0)
        self.assert_fires(samples, "K8sSdRelistStorm")

    def test_a_server_that_was_restored(self):
        with server_with(restored()) as url, serving(jobs_of(url)) as (_, metrics, _):
            samples = metrics.wait_for("k8s_sd_version_regressions_total", 1)
        self.assert_fires(samples, "K8sSdVersionsWentBack")

    def test_lists_that_wait_for_others(self):
        names = ", ".join(f"ns{number}" for number in range(19))
        jobs = ("scrape_configs:\n- job_name: one\n  kubernetes_sd_configs:\n"
                "  - {role: endpointslice, api_server: 'URL', namespaces: {names: [NAMES]}}\n")
        with server_with(SilentHandler) as url, \
                serving(jobs.replace("URL", url).replace("NAMES", names)) as (_, metrics, _):
            samples = metrics.wait_until(
                lambda name, _, value: name == "k8s_sd_lists_waiting" and value > 0)
        self.assert_fire(samples, ["K8sSdRequestsWait", "K8sSdJobWithoutList"])

    def test_targets_of_one_cluster_or_of_all_that_are_gone(self):
        def sample_of(metrics, count):
            return metrics.wait_until(
                lambda name, labels, value: name == "k8s_sd_program_targets" and value == count and
                labels["state"] == "active")

        with cluster_of_nodes(8) as (blue, first), cluster_of_nodes(4) as (green, second), \
                serving(jobs_of(first, second)) as (_, metrics, _):
            before = sample_of(metrics, 12)
            remove_nodes(green, 3)
            one = sample_of(metrics, 9)
            remove_nodes(blue, 6)
            both = sample_of(metrics, 3)
        self.assert_fire_after(before, one, ["K8sSdClusterTargetsLost"])
        self.assert_fire_after(before, both, ["K8sSdClusterTargetsLost", "K8sSdTargetsLost"])

    @unittest.skipUnless(FAST_CLOCK, "there is no fast clock")
    def test_watches_that_are_silent(self):
        with server_with(Mute) as url, \
                serving(jobs_of(url), variables=fast(200)) as (_, metrics, _):
            samples = metrics.wait_until(
                lambda name, _, value: name == "k8s_sd_silent_watches_total" and value > 0)
        self.assert_fires(samples, "K8sSdWatchSilent")


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Programs(Rules):
    def test_a_program_that_has_ended(self):
        with cluster_of_nodes(1) as (_, url), serving(jobs_of(url)) as (program, metrics, _):
            before = metrics.wait_for("k8s_sd_program_job_complete", 1)
            self.assertEqual(program.signal(signal.SIGTERM), 0)
        self.assert_fire_after(before, [], ["K8sSdAbsent"])

    def test_a_changed_job_without_the_permission(self):
        with cluster_of_nodes(1) as (cluster, url), serving(jobs_of(url)) as (_, metrics, path):
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            cluster.refused.add("services")
            replace_file(path, jobs_of(url, role="service"))
            metrics.wait_for("k8s_sd_failing_watchers", 1)
            age = "k8s_sd_program_oldest_unsynced_job_seconds"
            samples = metrics.wait_until(lambda name, _, value: name == age and value > 0)
        later = [(name, labels, value + 3600 * (name == age)) for name, labels, value in samples]
        self.assert_fire(later, ["K8sSdJobNotSynced", "K8sSdPermissionRefused",
                                 "K8sSdWatchFailing"])

    def test_a_certificate_that_ends_this_week(self):
        with tls.authority() as ca:
            cert, key = ca.certificate("server", days=6)
            with running("k8s-sd", "--sim", "--role", "node", "--listen", "127.0.0.1:0",
                         "--tls-cert", cert, "--tls-key", key) as program:
                samples = Metrics(program, ca.cert).wait_for("k8s_sd_program_job_complete", 1)
        self.assert_fire(samples, ["K8sSdCertificateNearEnd"])

    def test_snapshots_that_cannot_be_written(self):
        with cluster_of_nodes(1) as (_, url), tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            options = ("--snapshot-dir", folder)
            with serving(jobs_of(url), *options) as (program, metrics, _):
                metrics.wait_for("k8s_sd_program_job_complete", 1)
                self.assertEqual(program.signal(signal.SIGTERM), 0)
            files = list(folder.iterdir())
            self.assertTrue(files)
            for file in files:
                file.unlink()
                (file / "no-file").mkdir(parents=True)
            with serving(jobs_of(url), *options) as (_, metrics, _):
                metrics.wait_for("k8s_sd_program_job_complete", 1)
                samples = metrics.wait_until(
                    lambda name, _, value: name == "k8s_sd_snapshot_failures_total" and value > 0)
        self.assert_fire(samples, ["K8sSdSnapshotsFail"])

    @unittest.skipUnless(FAST_CLOCK, "there is no fast clock")
    def test_a_program_whose_callbacks_block(self):
        # Its output is a pipe without a reader for a while.
        with simulated_cluster() as url, member(url, "--jobs", 200,
                                                variables=fast(20)) as (program, metrics):
            first = program.process.stdout.readline()
            self.assertTrue(json.loads(first)["full"])
            time.sleep(0.5)
            reader = threading.Thread(target=program.process.stdout.read, daemon=True)
            reader.start()
            samples = metrics.wait_until(
                lambda name, _, value: name == "k8s_sd_delivery_latency_seconds_count" and
                value > 100)
            program.process.kill()
            reader.join()
        self.assert_fires(samples, "K8sSdSlowHost")


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Fleets(Rules):
    SERVICE = ("--fleet-service", "agents", "--fleet-namespace", "fleet", "--member", "a-0")

    def test_a_member_without_the_permission_to_see_the_others(self):
        with cluster_of_nodes(1) as (cluster, url):
            cluster.refused.add("endpointslices")
            with member(url, *self.SERVICE) as (_, metrics):
                metrics.wait_for("k8s_sd_synced_watchers", 1)
                samples = metrics.wait_for("k8s_sd_failing_watchers", 1)
        self.assert_fire(samples, ["K8sSdFleetMemberWithoutView", "K8sSdPermissionRefused",
                                   "K8sSdWatchFailing"])

    def test_members_that_vanish_at_once(self):
        with cluster_of_nodes(1) as (cluster, url):
            slice_of(cluster, ["a-0", "a-1", "a-2", "a-3"])
            with member(url, *self.SERVICE) as (_, metrics):
                before = metrics.wait_for("k8s_sd_fleet_members", 4)
                slice_of(cluster, ["a-0"])
                samples = metrics.wait_for("k8s_sd_fleet_alarms", 1)
        self.assert_fire_after(before, samples, ["K8sSdFleetViewHeld"])

    def test_members_with_different_views(self):
        with cluster_of_nodes(1) as (_, url):
            series = []
            for number, size in enumerate((2, 3)):
                with member(url, "--fleet-members", size, "--member",
                            f"a-{number}") as (_, metrics):
                    samples = metrics.wait_for("k8s_sd_fleet_members", size)
                series += series_of(samples, instance=f"a-{number}")
        self.assert_series(series, [rule_tests.fired(60, ["K8sSdFleetViewsDiffer"])])


def fast(factor):
    """Variables of a program whose clocks run so many times faster."""
    return {"LD_PRELOAD": FAST_CLOCK, "FAST_CLOCK": str(factor)}


if __name__ == "__main__":
    harness.main()
