"""k8s-sd with several clusters: names, contexts, health and metrics of each."""

import json
import os
import re
import tempfile
import time
import unittest
import urllib.request

from harness import TIMEOUT, file_with, run, running, simulated_cluster

JOB = """
scrape_configs:
- job_name: nodes
  kubernetes_sd_configs: [{role: node}]
  relabel_configs:
  - {source_labels: [cluster], target_label: region, replacement: "in-$1"}
"""
FILE = """
scrape_configs:
- job_name: nodes
  kubernetes_sd_configs:
  - {role: node, api_server: URL, cluster: blue}
  - {role: node, api_server: 'http://127.0.0.1:1', cluster: away, cluster_label: __meta_cluster}
"""


def kubeconfig(**servers):
    clusters = [f"- {{name: k-{name}, cluster: {{server: '{url}'}}}}"
                for name, url in servers.items()]
    contexts = [f"- {{name: {name}, context: {{cluster: k-{name}}}}}" for name in servers]
    return "\n".join(["clusters:", *clusters, "contexts:", *contexts, ""])


class Server:
    def __init__(self, program):
        self.url = program.line_with(r"^listens at (http://.*)$").group(1)

    def ask(self, path):
        with urllib.request.urlopen(self.url + path, timeout=TIMEOUT) as answer:
            return answer.read().decode()

    def wait(self, path, accept):
        """The first accepted answer."""
        end = time.monotonic() + TIMEOUT
        while True:
            answer = self.ask(path)
            if accept(answer):
                return answer
            if time.monotonic() > end:
                raise AssertionError(f"{path} is still {answer}")
            time.sleep(0.05)

    def wait_health(self, accept):
        return {server["cluster"]: server for server in json.loads(
            self.wait("/api/ui/health",
                      lambda text: accept(json.loads(text)["servers"])))["servers"]}


class Clusters(unittest.TestCase):
    def test_contexts_apply_to_each_configuration_without_a_server(self):
        with simulated_cluster() as blue, simulated_cluster() as green, \
                file_with(kubeconfig(blue=blue, green=green), "kc") as kc, \
                file_with(JOB, "scrape.yml") as path, \
                running("k8s-sd", "--config", path, "--kubeconfig", kc, "--all-contexts",
                        "--listen", "127.0.0.1:0") as program:
            server = Server(program)
            servers = server.wait_health(lambda found: len(found) == 2 and
                                         all(one["state"] == "synced" for one in found))
            targets = json.loads(server.ask("/sd/nodes/targets"))
            metrics = server.ask("/metrics")
        self.assertEqual(set(servers), {"blue", "green"})
        self.assertEqual(servers["blue"]["server"], blue)
        for one in servers.values():
            self.assertGreater(one["targets"], 0)
            self.assertGreater(one["requests"], 0)
            self.assertGreater(one["connections"], 0)
            self.assertEqual((one["failures"], one["message"]), (0, ""))
        self.assertEqual({group["labels"]["cluster"] for group in targets}, {"blue", "green"})
        self.assertEqual({group["labels"]["region"] for group in targets},
                         {"in-blue", "in-green"})
        for name, url in (("blue", blue), ("green", green)):
            self.assertRegex(metrics, 'k8s_sd_server_synced{cluster="%s",server="%s"} 1\n'
                             % (name, re.escape(url)))

    def test_with_several_contexts_the_file_chooses_the_label_and_not_the_name(self):
        job = JOB.replace("{role: node}", "{role: node, cluster: x, cluster_label: __meta_cluster}")
        with simulated_cluster() as blue, simulated_cluster() as green, \
                file_with(kubeconfig(blue=blue, green=green), "kc") as kc, \
                file_with(job, "scrape.yml") as path, \
                running("k8s-sd", "--config", path, "--kubeconfig", kc, "--all-contexts",
                        "--listen", "127.0.0.1:0") as program:
            server = Server(program)
            server.wait_health(lambda found: len(found) == 2 and
                               all(one["state"] == "synced" for one in found))
            groups = json.loads(server.ask("/sd/nodes"))
            config = server.ask("/api/v1/scrape_pools/config?scrapePool=nodes")
        self.assertEqual({group["labels"]["__meta_cluster"] for group in groups},
                         {"blue", "green"})
        self.assertIn("__meta_cluster", config)
        self.assertIn("green", config)

    def test_a_file_names_clusters_and_the_failing_one_is_reported(self):
        with simulated_cluster() as blue, \
                file_with(FILE.replace("URL", f"'{blue}'"), "scrape.yml") as path, \
                running("k8s-sd", "--config", path, "--listen", "127.0.0.1:0") as program:
            server = Server(program)
            servers = server.wait_health(
                lambda found: any(one["cluster"] == "blue" and one["state"] == "synced"
                                  for one in found) and
                any(one["cluster"] == "away" and one["state"] == "failing" for one in found))
            metrics = server.ask("/metrics")
        self.assertEqual(servers["blue"]["failures"], 0)
        self.assertEqual(servers["away"]["targets"], 0)
        self.assertGreater(servers["away"]["failures"], 0)
        self.assertTrue(servers["away"]["remedy"])
        self.assertIn('k8s_sd_server_failing{cluster="away",server="http://127.0.0.1:1"} 1\n',
                      metrics)

    def test_a_simulated_cluster_may_have_a_name(self):
        with running("k8s-sd", "--sim", "--cluster", "demo", "--cluster-label", "__meta_cluster",
                     "--role", "node", "--job", "nodes", "--listen", "127.0.0.1:0") as program:
            server = Server(program)
            servers = server.wait_health(lambda found: found and found[0]["state"] == "synced")
            discovered = json.loads(server.ask("/sd/nodes"))
        self.assertEqual(set(servers), {"demo"})
        self.assertEqual({group["labels"]["__meta_cluster"] for group in discovered}, {"demo"})

    def test_what_reads_one_cluster_refuses_several(self):
        for arguments, text in (
                (("--sim", "--all-contexts"), "--sim: is one cluster"),
                (("--monitors", "--all-contexts"), "--monitors: reads the monitors of one"),
                (("--role", "pod", "--context", "a", "--context", "b", "--collector-selector",
                  "app=c"), "--collector-selector: selects the pods of one cluster"),
                (("--role", "pod", "--context", "a", "--context", "b", "--record", "/dev/null"),
                 "--record: records one cluster; name one context, or start a second k8s-sd"),
                (("--role", "pod", "--cluster", "a", "--all-contexts"), "--cluster: names one")):
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(text, result.stderr)

    def test_a_recording_of_jobs_of_several_servers_is_warned_of(self):
        warning = "--record: the jobs are of several API servers"
        for server, warns in (("http://127.0.0.1:1", False), ("http://127.0.0.1:2", True)):
            with self.subTest(server=server), tempfile.TemporaryDirectory() as folder, \
                    file_with(FILE.replace("URL", f"'{server}'"), "scrape.yml") as path, \
                    running("k8s-sd", "--config", path, "--listen", "127.0.0.1:0", "--record",
                            os.path.join(folder, "recording.gz")) as program:
                program.line_with(r"^listens at ")
                self.assertEqual(self.is_logged_before_jobs(program, warning), warns)

    def is_logged_before_jobs(self, program, text):
        lines = []
        while not lines or "applied: " not in lines[-1]:
            lines.append(program.log_line())
            self.assertTrue(lines[-1], lines)
        return any(text in line for line in lines)

    def test_a_mistake_in_a_name_names_the_key(self):
        text = FILE.replace("URL", "'http://a'").replace("__meta_cluster", "instance")
        with file_with(text, "scrape.yml") as path:
            result = run("k8s-sd", "--config", path, "--check")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r'scrape\.yml:6: .*cluster_label.*"instance" is reserved')


if __name__ == "__main__":
    unittest.main()
