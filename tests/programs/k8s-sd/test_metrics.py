"""Whether docs/guide/metrics.md lists the metrics of the running program, and whether the alerts of
examples/monitoring fire for its metrics in faults, and only then."""

import contextlib
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import test_tls as tls
from harness import TIMEOUT, JsonHandler, file_with, running, server_with, simulated_cluster
from program_metrics import ROOT, Metrics, Rules, two_clusters

sys.path.insert(0, str(ROOT / "tests/package/docs"))
import check_metrics  # noqa: E402
import check_monitoring  # noqa: E402

JOBS = "scrape_configs: [{job_name: pods, kubernetes_sd_configs: [{role: pod}]}]\n"


class Page(unittest.TestCase):
    def rows(self, *tables):
        lists = check_metrics.tables(ROOT)
        return {name: (kind, labels, text) for table in tables
                for name, kind, labels, text in lists[table]}

    def test_it_lists_the_metrics_of_the_program(self):
        known = self.rows("of each kind", "of the context", "of each server", "of the program",
                          "of the allocator")
        with running("k8s-sd", "--sim", "--cluster", "shop", "--listen", "127.0.0.1:0",
                     "--collector-selector", "app=collector", "--collector-namespace",
                     "shop") as program:
            metrics = Metrics(program)
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            samples = metrics.wait_for("opentelemetry_allocator_collectors_discovered", 0)
            text = metrics.text()
        found = {name: [kind] for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text,
                                                           re.MULTILINE)}
        for name, help_text in re.findall(r"^# HELP (\w+) (.*)$", text, re.MULTILINE):
            found[name].append(help_text)
        self.assertEqual(set(known) - set(found),
                         {"k8s_sd_program_certificate_end_timestamp_seconds",  # without TLS
                          "k8s_sd_program_cluster_profiles",  # without a hub
                          "k8s_sd_program_cluster_profiles_failing"})
        for name, (kind, help_text) in found.items():
            self.assertEqual((kind, help_text), (known[name][0], known[name][2]), name)
        for name, labels, _ in samples:
            name = re.sub("_(bucket|sum|count)$", "", name)
            labels = set(labels) | ({"le"} if name == "k8s_sd_delivery_latency_seconds" else set())
            self.assertEqual(labels, set(filter(None, known[name][1].split(", "))), name)


def refusing(code, reason):
    """Of an API server that refuses everything."""
    class Refusal(JsonHandler):
        def do_GET(self):
            self.reply(code, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                              "reason": reason, "code": code, "message": "pods: " + reason})

    return Refusal


def job(targets, name="one"):
    return f"- job_name: {name}\n  {targets}\n"


LIST = "static_configs: [{targets: ['a:1']}]"


class BadPod(JsonHandler):
    """An API server with a pod that is none."""

    def do_GET(self):
        if "watch" in self.path:
            return self.reply(400, {"kind": "Status", "code": 400, "reason": "BadRequest"})
        return self.reply(200, {"kind": "PodList", "apiVersion": "v1",
                                "metadata": {"resourceVersion": "1"}, "items": [
                                    {"metadata": {"name": "a", "namespace": "b", "uid": "u",
                                                  "resourceVersion": "1"},
                                     "status": {"podIP": 7}}]})


@contextlib.contextmanager
def two_clusters_one_away():
    """The metrics of k8s-sd then."""
    with simulated_cluster() as blue, file_with(two_clusters("node", blue)) as config, \
            running("k8s-sd", "--listen", "127.0.0.1:0", "--config", config) as program:
        metrics = Metrics(program)
        metrics.wait_for("k8s_sd_program_job_complete", 1)
        metrics.wait_for("k8s_sd_server_failing", 1)
        yield metrics


def has_series(query, samples):
    return set(check_monitoring.METRIC.findall(query)) <= {name for name, _, _ in samples}


@contextlib.contextmanager
def secured_with_collectors():
    """The metrics of k8s-sd with TLS that divides targets among pods."""
    with tls.authority() as ca:
        cert, key = ca.certificate("server")
        with running("k8s-sd", "--sim", "--cluster", "shop", "--listen", "127.0.0.1:0",
                     "--tls-cert", cert, "--tls-key", key, "--collector-selector",
                     "app.kubernetes.io/name=cart", "--collector-namespace", "shop") as program:
            metrics = Metrics(program, ca.cert)
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            metrics.wait_for("opentelemetry_allocator_targets_per_collector")
            yield metrics


@contextlib.contextmanager
def with_monitors():
    """The metrics of k8s-sd with the monitors of the simulated shop."""
    with running("k8s-sd", "--sim", "--monitors", "--listen", "127.0.0.1:0") as program:
        metrics = Metrics(program)
        metrics.wait_for("k8s_sd_program_job_complete", 1)
        metrics.wait_for("k8s_sd_monitors")
        yield metrics


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Alerts(Rules):
    def test_none_while_all_is_well(self):
        with file_with(JOBS) as config, running("k8s-sd", "--sim", "--listen", "127.0.0.1:0",
                                                "--config", config) as program:
            samples = Metrics(program).wait_for("k8s_sd_program_job_complete", 1)
        self.assert_fire(samples, [])

    def test_without_a_permission(self):
        with server_with(refusing(403, "Forbidden")) as url, \
                running("k8s-sd", "--role", "pod", "--api-server", url, "--listen",
                        "127.0.0.1:0") as program:
            samples = Metrics(program).wait_for("k8s_sd_failing_watchers", 1)
        self.assert_fire(samples, ["K8sSdPermissionRefused", "K8sSdWatchFailing",
                                   "K8sSdJobWithoutList"])

    def test_without_an_api_server(self):
        with running("k8s-sd", "--role", "pod", "--api-server", "http://127.0.0.1:1",
                     "--listen", "127.0.0.1:0") as program:
            samples = Metrics(program).wait_for("k8s_sd_failing_watchers", 1)
        self.assert_fire(samples, ["K8sSdWatchFailing", "K8sSdJobWithoutList"])

    def test_with_one_of_two_clusters_away(self):
        with two_clusters_one_away() as metrics:
            self.assert_fire(metrics.samples(), ["K8sSdClusterFailing", "K8sSdWatchFailing",
                                                 "K8sSdJobWithoutList"])

    def test_queries_of_the_dashboard_have_results(self):
        queries = list(check_monitoring.queries())
        for program in (two_clusters_one_away, secured_with_collectors):
            with program() as metrics:
                samples = list(metrics.samples())
            asked = [query for query in queries if has_series(query, samples)]
            # One cluster and one job are as those queries want them that compare a value.
            self.assert_samples(samples, [{"expr": f"count({query}) > bool 0", "eval_time": "30m",
                                           "exp_samples": [{"labels": "{}", "value": 1}]}
                                          for query in asked])
            queries = [query for query in queries if query not in asked]
        self.assertEqual(queries, [])

    def test_names_and_types_are_as_promtool_wants_them(self):
        for program in (two_clusters_one_away, secured_with_collectors, with_monitors):
            with self.subTest(program=program.__name__), program() as metrics:
                result = subprocess.run(["promtool", "check", "metrics"], input=metrics.text(),
                                        capture_output=True, text=True, timeout=TIMEOUT,
                                        check=False)
                self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", ""))

    def test_with_a_mistake_in_the_configuration(self):
        with file_with(JOBS) as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--check-interval", "0.05",
                "--config", config) as program:
            metrics = Metrics(program)
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            pathlib.Path(config).write_text("scrape_configs: {", encoding="utf-8")
            samples = metrics.wait_for("k8s_sd_program_config_last_reload_successful", 0)
        self.assert_fire(samples, ["K8sSdConfigRefused"])

    def fire_with(self, jobs, wanted, names, *arguments):
        """The alerts for a program with these jobs, once a sample of the name is above 0."""
        def is_wanted(name, labels, value):
            return name == wanted and value > 0 and labels.get("state", "failed") == "failed"

        with file_with("scrape_configs:\n" + jobs) as config, \
                running("k8s-sd", "--listen", "127.0.0.1:0", "--config", config,
                        *arguments) as program:
            samples = Metrics(program).wait_until(is_wanted)
        self.assert_fire(samples, names)

    def test_with_a_kubeconfig_that_is_missing(self):
        self.fire_with(job("kubernetes_sd_configs: [{role: pod, kubeconfig_file: /none}]") +
                       job(LIST, "other"), "k8s_sd_failed_configs",
                       ["K8sSdUnusableConfigs", "K8sSdJobWithoutList"])

    def test_with_a_file_of_targets_that_is_cut(self):
        with file_with("[{", "targets.json") as targets:
            self.fire_with(job(f"file_sd_configs: [{{files: ['{targets}']}}]"),
                           "k8s_sd_target_file_failures_total",
                           ["K8sSdTargetSourcesFail", "K8sSdJobWithoutList"])

    def test_with_an_address_that_cannot_be_scraped(self):
        rules = "  relabel_configs: [{target_label: __address__, replacement: no/address}]\n"
        self.fire_with(job(LIST) + rules, "k8s_sd_program_targets",
                       ["K8sSdTargetsCannotBeScraped"])

    def test_with_a_list_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "one.json").mkdir()
            self.fire_with(job(LIST), "k8s_sd_program_file_errors_total",
                           ["K8sSdFilesNotWritten"], "--write-dir", folder)

    def test_with_a_token_that_is_refused(self):
        with server_with(refusing(401, "Unauthorized")) as url:
            self.fire_with(job(f"kubernetes_sd_configs: [{{role: pod, api_server: '{url}'}}]"),
                           "k8s_sd_failing_watchers",
                           ["K8sSdCredentialsRefused", "K8sSdWatchFailing", "K8sSdJobWithoutList"])

    def test_with_an_object_that_is_bad(self):
        with server_with(BadPod) as url:
            self.fire_with(job(f"kubernetes_sd_configs: [{{role: pod, api_server: '{url}'}}]"),
                           "k8s_sd_bad_objects_total", ["K8sSdBadObjects"])

    def test_with_targets_without_a_collector(self):
        with running("k8s-sd", "--sim", "--cluster", "shop", "--listen", "127.0.0.1:0",
                     "--collector-selector", "app=nothing", "--collector-namespace",
                     "shop") as program:
            metrics = Metrics(program)
            metrics.wait_for("opentelemetry_allocator_collectors_discovered", 0)
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            samples = list(metrics.samples())
        self.assert_fire(samples, ["K8sSdTargetsUnassigned"])

    def test_with_targets_of_a_snapshot(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as cluster:
            url = cluster.enter_context(simulated_cluster())
            jobs = job(f"kubernetes_sd_configs: [{{role: node, api_server: '{url}'}}]")
            options = ("--snapshot-dir", folder, "--snapshot-after", "0")
            with file_with("scrape_configs:\n" + jobs) as config, \
                    running("k8s-sd", "--listen", "127.0.0.1:0", "--config", config,
                            *options) as program:
                Metrics(program).wait_for("k8s_sd_program_job_complete", 1)
                self.assertEqual(program.signal(signal.SIGTERM), 0)
            cluster.close()
            self.fire_with(jobs, "k8s_sd_program_job_unconfirmed",
                           ["K8sSdSnapshotInUse", "K8sSdWatchFailing"], *options)

    def test_with_clients_without_a_token(self):
        with file_with("a-token-of-lists") as token, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--list-token-file",
                token) as program:
            metrics = Metrics(program)
            metrics.wait_for("k8s_sd_program_job_complete", 1)
            with self.assertRaises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(metrics.url + "/sd/pods", timeout=TIMEOUT)
            refusal.exception.close()
            self.assertEqual(refusal.exception.code, 401)
            samples = metrics.wait_for("k8s_sd_program_refused_requests_total", 1)
        self.assert_fire(samples, ["K8sSdClientsRefused"])


if __name__ == "__main__":
    unittest.main()
