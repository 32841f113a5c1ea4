"""The permission reports of discover: the printed roles, and the check of a cluster."""

import json
import os
import re
import signal
import socket
import tempfile
import unittest

from cluster_profiles import simulated_hub
from harness import file_with, run, running, simulated_cluster

KUBECONFIG = """clusters: [{{name: k, cluster: {{server: 'https://127.0.0.1:1'}}}}]
users: [{{name: u, user: {user}}}]
contexts: [{{name: c, context: {{cluster: k, user: u}}}}]
current-context: c
"""


def documents(text):
    """The parts between the lines "---", without comments."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [part.strip() for part in "\n".join(lines).split("---\n") if part.strip()]


def kinds(text):
    return re.findall(r"^kind: (\w+)$", text, re.MULTILINE)


class PrintRbac(unittest.TestCase):
    def printed(self, *arguments):
        result = run("discover", "--print-rbac", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_no_server_is_needed(self):
        text = self.printed("--role", "endpointslice")
        self.assertIn("Made by: discover --print-rbac", text.splitlines()[0])
        self.assertEqual(kinds(text), ["ServiceAccount", "ClusterRole", "ClusterRoleBinding"])
        self.assertIn('- {apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], '
                      'verbs: ["list", "watch"]}\n', text)

    def test_namespaces_have_roles_and_the_cluster_has_nodes(self):
        text = self.printed("--namespace", "a", "--namespace", "b", "--attach", "node",
                            "--service-account", "mon/targets")
        self.assertEqual(kinds(text), ["ServiceAccount", "ClusterRole", "ClusterRoleBinding",
                                       "Role", "RoleBinding", "Role", "RoleBinding"])
        self.assertEqual(len(documents(text)), 7)
        self.assertIn('  name: "targets"\n  namespace: "mon"\n', text)

    def test_the_own_namespace_is_that_of_the_account(self):
        text = self.printed("--own-namespace", "--service-account", "mon/targets")
        self.assertEqual(kinds(text), ["ServiceAccount", "Role", "RoleBinding"])
        self.assertEqual(text.count('namespace: "mon"'), 4)

    def test_the_file_of_a_configuration_counts(self):
        with file_with("role: ingress\nnamespaces: {names: [shop]}\n") as path:
            text = self.printed("--sd-config", path)
        self.assertIn('resources: ["ingresses"]', text)
        self.assertIn('namespace: "shop"', text)

    def test_routes_need_their_gateways(self):
        text = self.printed("--role", "httproute")
        self.assertIn('- {apiGroups: ["gateway.networking.k8s.io"], '
                      'resources: ["gateways", "httproutes"], verbs: ["list", "watch"]}', text)

    def test_monitors_need_more(self):
        text = self.printed("--role", "endpointslice", "--monitors")
        for resource in ("servicemonitors", "scrapeconfigs", "prometheuses", "secrets",
                         "configmaps", "namespaces", "endpointslices"):
            self.assertIn(f'"{resource}"', text)
        self.assertIn('apiGroups: ["monitoring.coreos.com"]', text)
        result = run("discover", "--monitors", "--sim")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--monitors: needs --check or --print-rbac", result.stderr)

    def test_monitors_are_checked(self):
        result = run("discover", "--sim", "--check", "--monitors", "--role", "pod")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("list and watch ServiceMonitor objects in all namespaces: allowed",
                      result.stdout)
        self.assertIn("list and watch Secret objects in all namespaces: allowed", result.stdout)

    def test_cluster_profiles_need_rights_on_the_hub(self):
        text = self.printed("--cluster-profiles-namespace", "fleet")
        self.assertEqual(text.splitlines()[0], "# What k8s-sd --cluster-profiles needs on the hub. "
                         "Made by: discover --print-rbac --cluster-profiles")
        self.assertIn('- {apiGroups: ["multicluster.x-k8s.io"], resources: ["clusterprofiles"], '
                      'verbs: ["list", "watch"]}', text)
        self.assertIn('resources: ["secrets"]', text)
        self.assertIn('namespace: "fleet"', text)
        self.assertNotIn("kind: ClusterRole\n", text)
        self.assertNotIn('"pods"', text)
        result = run("discover", "--cluster-profiles", "--role", "pod", "--check", "--monitors")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--cluster-profiles: the server is the hub; leave out --monitors",
                      result.stderr)

    def test_cluster_profiles_are_checked(self):
        profiles = "list and watch ClusterProfile objects in the namespace fleet: "
        with simulated_hub() as (hub, url):
            arguments = ("discover", "--check", "--api-server", url, "--role", "pod",
                         "--cluster-profiles-namespace", "fleet", "--timeout", "60")
            result = run(*arguments)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn(profiles + "allowed", result.stdout)
            self.assertIn("Secret objects in the namespace fleet: allowed", result.stdout)
            self.assertNotIn("pods", result.stdout)
            hub.refused.add("clusterprofiles")
            result = run(*arguments)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, "FAILED +" + profiles + ".*403")
        self.assertIn("Secret objects in the namespace fleet: allowed", result.stdout)

    def test_monitors_of_victoriametrics_have_rights_of_their_own(self):
        dialect = ("--monitors", "--role", "pod", "--dialect", "victoriametrics")
        text = self.printed(*dialect)
        for resource in ("vmservicescrapes", "vmstaticscrapes", "vmagents", "secrets"):
            self.assertIn(f'"{resource}"', text)
        self.assertIn('apiGroups: ["operator.victoriametrics.com"]', text)
        self.assertNotIn("monitoring.coreos.com", text)
        result = run("discover", "--sim", "--check", *dialect)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("list and watch VMNodeScrape objects in all namespaces: allowed",
                      result.stdout)
        self.assertNotIn("ServiceMonitor", result.stdout)

    def test_vmagent_has_no_gateway_api(self):
        result = run("discover", "--print-rbac", "--role", "gateway", "--dialect",
                     "victoriametrics")
        self.assertEqual(result.returncode, 2)
        self.assertIn("vmagent has no role gateway: it does not discover Gateway API",
                      result.stderr)

    def test_what_is_optional_is_a_comment(self):
        names = [word for i in range(20) for word in ("--namespace", f"n{i}")]
        text = self.printed(*names)
        self.assertIn("# Optional: ", text)
        self.assertIn("# kind: ClusterRole\n", text)
        self.assertNotIn("\nkind: ClusterRole\n", text)

    def test_accounts_have_a_form(self):
        for account in ("targets", "/", "a/", "/a", "a/b/c", "A/b", "a/b\n"):
            result = run("discover", "--print-rbac", "--service-account", account)
            self.assertEqual(result.returncode, 2, account)
            self.assertEqual(result.stdout, "")
            self.assertTrue(result.stderr.startswith("discover: --service-account: "),
                            result.stderr)
            self.assertNotIn("RbacOptions", result.stderr)

    def test_no_role_of_the_cluster_is_replaced(self):
        text = self.printed("--service-account", "kube-system/cluster-admin")
        names = 'kind: ClusterRole\\w*\\n(?:metadata:\\n)?  name: "(.*)"'
        self.assertEqual(set(re.findall(names, text)),
                         {"k8s-sd:kube-system:cluster-admin"})

    def test_acting_as_somebody_else_needs_a_right_of_its_own(self):
        text = self.printed("--api-server", "https://h", "--as", "jane")
        self.assertIn("# The configuration acts as jane: ", text)
        self.assertIn("impersonate", text)

    def test_whom_a_kubeconfig_acts_as_counts_too(self):
        with file_with(KUBECONFIG.format(user="{as: jane, token: t}"), "kc") as path:
            self.assertIn("acts as jane: ", self.printed("--kubeconfig", path))


class Check(unittest.TestCase):
    def test_a_simulated_cluster_is_fine(self):
        result = run("discover", "--sim", "--check", "--role", "endpoints")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("ok       watch pods in all namespaces: allowed\n", result.stdout)
        self.assertNotIn("FAILED", result.stdout)

    def test_json_is_an_object_a_line(self):
        with simulated_cluster() as url:
            result = run("discover", "--check", "--output", "json", "--api-server", url)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["step"] for line in lines],
                         ["configuration", "name lookup", "TCP", "credentials", "TLS",
                          "authentication", "list pods in all namespaces",
                          "watch pods in all namespaces"])
        self.assertTrue(all(line["seconds"] >= 0 for line in lines))

    def test_what_cannot_work_is_refused(self):
        for arguments in (["--check", "--print-rbac"], ["--check", "--namespace", "A"],
                          ["--check"],  # without a server
                          ["--sim", "--check", "--once"], ["--sim", "--check", "--jobs", "2"],
                          ["--sim", "--check", "--output", "quiet"],
                          ["--print-rbac", "--output", "json"], ["--print-rbac", "--sim"],
                          ["--print-rbac", "--timeout", "1"]):
            result = run("discover", *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "")

    def test_a_signal_ends_the_programs_that_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "alive")
            os.mkfifo(fifo)
            # The program holds the pipe open as long as it lives.
            user = '{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, ' \
                   f'args: [-c, "exec 9>{fifo}; sleep 1000"], interactiveMode: Never}}}}'
            with file_with(KUBECONFIG.format(user=user), "kc") as path, \
                    socket.create_server(("127.0.0.1", 0)) as server:
                text = open(path).read().replace(":1'", f":{server.getsockname()[1]}'")
                open(path, "w").write(text)
                with running("discover", "--check", "--kubeconfig", path) as check:
                    with open(fifo, "rb") as alive:  # waits until the program runs
                        self.assertEqual(check.signal(signal.SIGTERM), 1)
                        self.assertEqual(alive.read(), b"")  # waits until it is gone


if __name__ == "__main__":
    unittest.main()
