"""Whether the chart examples/helm/k8s-sd makes the objects of examples/manifests/k8s-sd, and the
programs accept them."""

import copy
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import helm_template
from harness import TIMEOUT, file_with, run
from manifests import API_VERSIONS, CLUSTER_SCOPED, options_in, printed_rights, rights

try:
    import yaml
except ImportError:
    yaml = None

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
CHART = EXAMPLES / "helm/k8s-sd"
MANIFESTS = EXAMPLES / "manifests/k8s-sd"
EVERYTHING = {
    "tokenSecretName": "k8s-sd-token", "extraArgs": ["--dialect", "victoriametrics"],
    "imagePullSecrets": [{"name": "pull"}], "priorityClassName": "high",
    "podAnnotations": {"a": "b"}, "podLabels": {"team": "x"}, "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"operator": "Exists"}], "affinity": {"nodeAffinity": {}},
    "serviceAccount": {"annotations": {"a": "b"}}, "service": {"annotations": {"a": "b"}},
    "networkPolicy": {"extraFrom": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},
    "podMonitor": {"enabled": True, "labels": {"release": "p"}},
}
LEAST = {
    "tls": {"enabled": False}, "existingConfigMap": "jobs", "rbac": {"create": False},
    "serviceAccount": {"create": False, "name": "other"}, "networkPolicy": {"enabled": False},
    "podDisruptionBudget": {"enabled": False}, "resources": {},
}


def documents(texts):
    return [document for name, text in texts.items() if name.endswith(".yaml")
            for document in yaml.safe_load_all(text) if document]


def rendered(changes=None, **more):
    return documents(helm_template.render(CHART, "k8s-sd", "monitoring", changes, **more))


def one(items, kind):
    found = [item for item in items if item["kind"] == kind]
    assert len(found) == 1, kind
    return found[0]


def manifest(file, kind):
    return one(documents({file: (MANIFESTS / file).read_text(encoding="utf-8")}), kind)


def pod_of(deployment):
    return deployment["spec"]["template"]["spec"]


def without_labels(item):
    """Labels and selectors differ: a chart may be installed twice."""
    if isinstance(item, dict):
        return {key: without_labels(value) for key, value in item.items()
                if key not in ("labels", "matchLabels", "selector")}
    return [without_labels(part) for part in item] if isinstance(item, list) else item


@unittest.skipIf(yaml is None, "PyYAML (python3-yaml) is not installed")
class Chart(unittest.TestCase):
    def test_objects_are_those_of_the_manifests(self):
        items = rendered()
        self.assertEqual(one(items, "Service")["spec"].pop("type"), "ClusterIP")  # the default
        for file, kind in (("service.yaml", "Service"), ("network-policy.yaml", "NetworkPolicy"),
                           ("pod-disruption-budget.yaml", "PodDisruptionBudget"),
                           ("service-account.yaml", "ServiceAccount"),
                           ("service-account.yaml", "ClusterRole"),
                           ("service-account.yaml", "ClusterRoleBinding")):
            with self.subTest(kind=kind):
                self.assertEqual(without_labels(one(items, kind)),
                                 without_labels(manifest(file, kind)))
        chart, plain = (without_labels(item) for item in (
            one(items, "Deployment"), manifest("deployment.yaml", "Deployment")))
        self.assertEqual(pod_of(chart)["containers"][0].pop("args")[:2],
                         pod_of(plain)["containers"][0].pop("args")[:2])
        pod_of(chart)["containers"][0].pop("imagePullPolicy")
        # The token is an option here.
        pod_of(plain)["volumes"].pop()
        pod_of(plain)["containers"][0]["volumeMounts"].pop()
        self.assertEqual(chart, plain)

    def test_the_jobs_are_those_of_the_manifests(self):
        chart, plain = (yaml.safe_load(item["data"]["prometheus.yml"]) for item in (
            one(rendered(), "ConfigMap"), manifest("config.yaml", "ConfigMap")))
        self.assertEqual(chart, plain)

    def test_rights_are_those_of_the_jobs(self):
        wanted = set()
        for job in yaml.safe_load(one(rendered(), "ConfigMap")["data"]["prometheus.yml"])[
                "scrape_configs"]:
            wanted |= printed_rights("--role", job["kubernetes_sd_configs"][0]["role"])
        self.assertEqual(rights(one(rendered(), "ClusterRole")["rules"]), wanted)

    def test_selectors_select_the_pods(self):
        for changes in ({}, EVERYTHING):
            items = rendered(changes)
            labels = one(items, "Deployment")["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(labels["app.kubernetes.io/name"], "k8s-sd")
            pod = pod_of(one(items, "Deployment"))
            for selector in (one(items, "Service")["spec"]["selector"],
                             one(items, "Deployment")["spec"]["selector"]["matchLabels"],
                             one(items, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
                             one(items, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                             pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]):
                self.assertLessEqual(selector.items(), labels.items())
                self.assertGreater(len(selector), 1)

    def test_an_update_leaves_no_gap(self):
        deployment = one(rendered(), "Deployment")
        self.assertEqual(deployment["spec"]["replicas"], 2)
        self.assertEqual(deployment["spec"]["strategy"]["rollingUpdate"],
                         {"maxSurge": 1, "maxUnavailable": 0})
        container = pod_of(deployment)["containers"][0]
        self.assertEqual(container["readinessProbe"]["httpGet"]["path"], "/readyz")
        self.assertLess(container["lifecycle"]["preStop"]["sleep"]["seconds"],
                        pod_of(deployment)["terminationGracePeriodSeconds"])
        old = rendered(kube_version="v1.29.3")
        self.assertNotIn("lifecycle", pod_of(one(old, "Deployment"))["containers"][0])

    def test_every_value_has_its_place(self):
        items = rendered(EVERYTHING)
        pod = pod_of(one(items, "Deployment"))
        arguments = pod["containers"][0]["args"]
        self.assertEqual(arguments[-4:], ["--list-token-file", "/etc/k8s-sd/token/token",
                                          "--dialect", "victoriametrics"])
        self.assertEqual({volume["name"] for volume in pod["volumes"]}, {"config", "tls", "token"})
        self.assertEqual(pod["nodeSelector"], {"disk": "ssd"})
        self.assertEqual(pod["tolerations"], [{"operator": "Exists"}])
        self.assertEqual(pod["priorityClassName"], "high")
        self.assertEqual(one(items, "PodMonitor")["spec"]["podMetricsEndpoints"][0]["scheme"],
                         "https")
        self.assertEqual(len(one(items, "NetworkPolicy")["spec"]["ingress"][0]["from"]), 2)
        for item in items:
            self.assertEqual(item["apiVersion"], {
                **API_VERSIONS, "NetworkPolicy": "networking.k8s.io/v1",
                "PodMonitor": "monitoring.coreos.com/v1"}[item["kind"]])
            if item["kind"] not in CLUSTER_SCOPED:
                self.assertEqual(item["metadata"]["namespace"], "monitoring")

    def test_parts_can_be_left_out(self):
        items = rendered(LEAST)
        self.assertEqual(sorted(item["kind"] for item in items), ["Deployment", "Service"])
        pod = pod_of(one(items, "Deployment"))
        self.assertEqual(pod["serviceAccountName"], "other")
        self.assertEqual(pod["volumes"], [{"name": "config", "configMap": {"name": "jobs"}}])
        self.assertEqual(pod["containers"][0]["readinessProbe"]["httpGet"],
                         {"path": "/readyz", "port": "http", "scheme": "HTTP"})
        self.assertEqual(one(items, "Service")["spec"]["ports"],
                         [{"name": "http", "port": 8080, "targetPort": "http"}])

    def test_the_program_has_the_options_and_reads_the_jobs(self):
        known = options_in(run("k8s-sd", "--help").stdout)
        for changes in ({}, EVERYTHING, LEAST):
            arguments = pod_of(one(rendered(changes), "Deployment"))["containers"][0]["args"]
            for word in arguments:
                if word.startswith("--"):
                    self.assertIn(word, known)
        with file_with(one(rendered(), "ConfigMap")["data"]["prometheus.yml"]) as config:
            result = run("k8s-sd", "--config", config, "--check", "--strict")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_values_of_the_readme_exist(self):
        values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
        rows = re.findall(r"^\| (`.*?) \| ", (CHART / "README.md").read_text(encoding="utf-8"),
                          re.MULTILINE)
        self.assertGreater(len(rows), 8)
        for name in re.findall(r"`([\w.]+)`", " ".join(rows)):
            found = copy.deepcopy(values)
            for key in name.split("."):
                self.assertIn(key, found, name)
                found = found[key]

    @unittest.skipUnless(shutil.which("helm"), "helm is not installed")
    def test_helm_renders_the_same(self):
        for changes in ({}, EVERYTHING, LEAST):
            with file_with(json.dumps(changes), "values.json") as values:
                result = subprocess.run(
                    ["helm", "template", "k8s-sd", str(CHART), "--namespace", "monitoring",
                     "--kube-version", "1.34.0", "--values", values],
                    capture_output=True, text=True, timeout=TIMEOUT, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)

            def sorted_documents(items):
                return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
            found = [item for item in yaml.safe_load_all(result.stdout) if item]
            self.assertEqual(sorted_documents(found), sorted_documents(rendered(changes)))


if __name__ == "__main__":
    unittest.main()
