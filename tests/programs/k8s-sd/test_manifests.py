"""Whether examples/manifests/k8s-sd is consistent in itself, with k8s-sd and with Kubernetes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import test_tls as tls
from harness import TIMEOUT, file_with, run, running
from manifests import API_VERSIONS, CLUSTER_SCOPED, options_in, printed_rights, rights

try:
    import yaml
except ImportError:
    yaml = None

FOLDER = pathlib.Path(__file__).parents[3] / "examples/manifests/k8s-sd"
VARIANTS = ("deployment.yaml", "target-allocator.yaml")
NOBODY = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True,
          "runAsUser": 65532, "capabilities": {"drop": ["ALL"]}}
IMAGE = "registry.example.com/k8s-sd:latest"
# The README creates these.
MADE_BY_HAND = {("Secret", "k8s-sd-tls"), ("ConfigMap", "k8s-sd-ca"), ("Secret", "k8s-sd-token")}
FILES_OF = {("Secret", "k8s-sd-tls"): {"tls.crt", "tls.key"},
            ("ConfigMap", "k8s-sd-ca"): {"ca.crt"}, ("Secret", "k8s-sd-token"): {"token"}}
AGENT = {"k8s-sd-agent": "true"}
PORT = {"name": "https", "containerPort": 8080}


def text_of(file):
    return (FOLDER / file).read_text(encoding="utf-8")


def documents_in(text):
    return [document for document in yaml.safe_load_all(text) if document]


def with_token(text):
    """The manifest with the additional lines from the README."""
    return re.sub(r"^( +)# (- (?:--\S*token-file|/etc/k8s-sd/token/token))$", r"\1\2", text,
                  flags=re.MULTILINE)


def one(documents, kind, name=None):
    found = [item for item in documents if item["kind"] == kind
             and name in (None, item["metadata"]["name"])]
    assert len(found) == 1, (kind, name)
    return found[0]


def mounted(pod, container):
    """The mount path of each volume with a source, and the source."""
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    for mount in container["volumeMounts"]:
        volume = volumes[mount["name"]]
        if "configMap" in volume:
            source = volume["configMap"]
            yield mount["mountPath"], ("ConfigMap", source["name"]), source
        elif "secret" in volume:
            source = volume["secret"]
            yield mount["mountPath"], ("Secret", source["secretName"]), source


@unittest.skipIf(yaml is None, "PyYAML (python3-yaml) is not installed")
class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = {path.name: documents_in(path.read_text(encoding="utf-8"))
                     for path in sorted(FOLDER.glob("*.yaml"))}
        cls.all = [document for documents in cls.files.values() for document in documents]
        cls.server_options = options_in(run("k8s-sd", "--help").stdout)
        cls.follow_options = options_in(run("k8s-sd", "follow", "--help").stdout)

    def deployments(self):
        """Each variant without and with a token: file, Deployment, pod, container."""
        for file in VARIANTS:
            for text in {text_of(file), with_token(text_of(file))}:
                item = one(documents_in(text), "Deployment")
                pod = item["spec"]["template"]["spec"]
                self.assertEqual(len(pod["containers"]), 1)
                with self.subTest(file=file):
                    yield item, pod, pod["containers"][0]

    def given(self, arguments, known):
        """Options with their values, and the remaining arguments."""
        options, others, left = {}, [], list(arguments)
        while left:
            word = left.pop(0)
            if not word.startswith("-"):
                others.append(word)
                continue
            self.assertIn(word, known, "--help does not list it")
            options[word] = left.pop(0) if known[word] else True
        return options, others

    def server_arguments(self, container):
        options, others = self.given(container["args"], self.server_options)
        self.assertEqual(others, [])
        return options

    def sidecar(self, text=None):
        item = one(documents_in(text or text_of("sidecar.yaml")), "StatefulSet")
        pod = item["spec"]["template"]["spec"]
        return item, pod, {container["name"]: container for container in pod["containers"]}

    def test_every_document_has_a_kind_of_that_version_and_a_name(self):
        versions = {**API_VERSIONS, "NetworkPolicy": "networking.k8s.io/v1"}
        for document in self.all:
            with self.subTest(kind=document["kind"]):
                self.assertEqual(document["apiVersion"], versions[document["kind"]])
                self.assertRegex(document["metadata"]["name"], r"^[a-z0-9]([a-z0-9:.-]*[a-z0-9])?$")
                if document["kind"] in CLUSTER_SCOPED:
                    self.assertNotIn("namespace", document["metadata"])
                else:
                    self.assertEqual(document["metadata"]["namespace"], "monitoring")
                # The document is valid JSON, so the API accepts it.
                self.assertEqual(json.loads(json.dumps(document)), document)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl_knows_every_field_of_the_workloads(self):
        def lost(ours, theirs, path=""):
            if isinstance(ours, dict):
                for key, value in ours.items():
                    if not isinstance(theirs, dict) or key not in theirs:
                        yield f"{path}.{key}"
                    else:
                        yield from lost(value, theirs[key], f"{path}.{key}")
            elif isinstance(ours, list):
                for number, value in enumerate(ours):
                    yield from lost(value, theirs[number], f"{path}[{number}]")
            elif ours != theirs:
                yield f"{path}: {theirs}"

        for file in (*VARIANTS, "sidecar.yaml"):
            ours = next(item for item in self.files[file] if item["kind"] in
                        ("Deployment", "StatefulSet"))
            with file_with(json.dumps(ours), "workload.json") as path:
                # kubectl decodes the workload into its types, and drops unknown fields.
                result = subprocess.run(
                    ["kubectl", "set", "env", "--local", "-f", path, "ADDED=1", "-o", "json"],
                    text=True, capture_output=True, timeout=TIMEOUT, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            with self.subTest(file=file):
                self.assertEqual(list(lost(ours, json.loads(result.stdout))), [])

    def test_selectors_match_the_labels_of_pods(self):
        labels = {"app": "k8s-sd"}
        for item, pod, _ in self.deployments():
            self.assertEqual(item["spec"]["selector"]["matchLabels"], labels)
            self.assertEqual(item["spec"]["template"]["metadata"]["labels"], labels)
            spread = pod["topologySpreadConstraints"][0]
            self.assertEqual(spread["labelSelector"]["matchLabels"], labels)
            self.assertEqual(spread["topologyKey"], "kubernetes.io/hostname")
        self.assertEqual(one(self.all, "Service", "k8s-sd")["spec"]["selector"], labels)
        self.assertEqual(one(self.all, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                         labels)
        self.assertEqual(one(self.all, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
                         labels)
        item, _, _ = self.sidecar()
        selected = item["spec"]["selector"]["matchLabels"]
        self.assertLessEqual(selected.items(),
                             item["spec"]["template"]["metadata"]["labels"].items())
        service = one(self.all, "Service", item["spec"]["serviceName"])
        self.assertEqual((service["spec"]["selector"], service["spec"]["clusterIP"]),
                         (selected, "None"))

    def test_what_is_referred_to_is_there(self):
        for item, pod, container in self.deployments():
            account = one(self.all, "ServiceAccount", pod["serviceAccountName"])
            self.assertEqual(account["metadata"]["namespace"], item["metadata"]["namespace"])
            self.assert_files_are_mounted(pod, container, self.server_arguments(container))
        for text in (text_of("sidecar.yaml"), with_token(text_of("sidecar.yaml"))):
            _, pod, containers = self.sidecar(text)
            options, _ = self.given(containers["follow"]["args"], self.follow_options)
            self.assert_files_are_mounted(pod, containers["follow"], options)
        for item in self.all:
            if item["kind"] in ("RoleBinding", "ClusterRoleBinding"):
                reference = item["roleRef"]
                role = one(self.all, reference["kind"], reference["name"])
                self.assertEqual(role["metadata"].get("namespace"),
                                 item["metadata"].get("namespace"))
                for subject in item["subjects"]:
                    account = one(self.all, subject["kind"], subject["name"])
                    self.assertEqual(account["metadata"]["namespace"], subject["namespace"])

    def assert_files_are_mounted(self, pod, container, options):
        """Each file option points into a mounted source, and each mounted source is used."""
        sources = {path: (source, volume) for path, source, volume in mounted(pod, container)}
        needed = set()
        for option, value in options.items():
            path = pathlib.PurePath(str(value))
            if not path.is_absolute() or option == "--write-dir":
                continue
            source, _ = sources[str(path.parent)]
            needed.add(source)
            if source in MADE_BY_HAND:
                self.assertIn(path.name, FILES_OF[source])
            else:
                self.assertIn(path.name, one(self.all, *source)["data"])
        for source, volume in sources.values():
            # Files readable by root and the group only.
            if source[0] == "Secret":
                self.assertEqual(volume["defaultMode"], 0o440)
                self.assertEqual(pod["securityContext"]["fsGroup"], 65532)
            self.assertTrue(source in needed or volume.get("optional"), source)

    def test_a_token_can_be_asked_for_and_given(self):
        def has_token(arguments):
            return "/etc/k8s-sd/token/token" in arguments

        for file, option in (("deployment.yaml", "--list-token-file"),
                             ("sidecar.yaml", "--token-file")):
            kind = "Deployment" if file == "deployment.yaml" else "StatefulSet"
            for text, wanted in ((text_of(file), False), (with_token(text_of(file)), True)):
                pod = one(documents_in(text), kind)["spec"]["template"]["spec"]
                arguments = pod["containers"][-1]["args"]
                self.assertEqual(has_token(arguments), wanted)
                self.assertEqual(option in arguments, wanted)

    def test_files_that_are_made_by_hand_are_made_in_the_readme(self):
        commands = re.findall(r"^kubectl -n monitoring create (.*)$", text_of("README.md"),
                              re.MULTILINE)
        made = {}
        for command in commands:
            kind, name, files = re.fullmatch(
                r"(secret tls|secret generic|configmap) (\S+) (.*)", command).groups()
            kind = "ConfigMap" if kind == "configmap" else "Secret"
            made[kind, name] = set(re.findall(r"--(?:cert|key|from-file) (\S+)", files))
        self.assertEqual(made, FILES_OF)

    def test_rights_are_those_that_the_jobs_need(self):
        config = yaml.safe_load(one(self.all, "ConfigMap", "k8s-sd")["data"]["prometheus.yml"])
        wanted = set()
        for job in config["scrape_configs"]:
            for discovery in job["kubernetes_sd_configs"]:
                self.assertEqual(set(discovery), {"role"})
                wanted |= printed_rights("--role", discovery["role"])
        role = one(self.all, "ClusterRole")
        self.assertEqual(rights(role["rules"]), wanted)
        self.assertEqual(role["metadata"]["name"], "k8s-sd:monitoring:k8s-sd")
        for item in self.all:
            for rule in item.get("rules", []):
                self.assertEqual(rule["verbs"], ["list", "watch"])

    def test_who_allocates_targets_may_see_the_collectors(self):
        role = one(self.files["target-allocator.yaml"], "Role")
        self.assertEqual(rights(role["rules"]), printed_rights("--role", "pod", "--own-namespace"))
        pod = one(self.files["target-allocator.yaml"], "Deployment")["spec"]["template"]["spec"]
        given = self.server_arguments(pod["containers"][0])
        self.assertEqual(given["--collector-selector"], "app=otel-collector")
        # The default is the pod's namespace, where the Role is.
        self.assertNotIn("--collector-namespace", given)

    def test_the_variants_differ_in_nothing_else(self):
        plain, allocator = ((item, pod, container) for item, pod, container in (
            (item, item["spec"]["template"]["spec"],
             item["spec"]["template"]["spec"]["containers"][0])
            for item in (one(self.files[file], "Deployment") for file in VARIANTS)))
        self.assertEqual(allocator[2]["args"][:len(plain[2]["args"])], plain[2]["args"])
        for item, pod, container in (plain, allocator):
            item, pod = json.loads(json.dumps((item, pod)))
            for part in (pod, item["spec"]["template"]["spec"]):
                part.pop("volumes")
                for name in ("args", "volumeMounts"):
                    part["containers"][0].pop(name)
            if container is plain[2]:
                wanted = item
        self.assertEqual(item, wanted)

    def test_ports_are_the_same_everywhere(self):
        for _, _, container in self.deployments():
            # So the default applies.
            self.assertNotIn("--listen", self.server_arguments(container))
            self.assertEqual(container["ports"], [PORT])
            for probe, path in (("readinessProbe", "/readyz"), ("livenessProbe", "/livez")):
                self.assertEqual(container[probe]["httpGet"],
                                 {"path": path, "port": PORT["name"], "scheme": "HTTPS"})
            ready, live = container["readinessProbe"], container["livenessProbe"]
            self.assertLess(ready["periodSeconds"] * ready["failureThreshold"],
                            live["periodSeconds"] * live["failureThreshold"])
        self.assertRegex(re.sub(r"\s+", " ", run("k8s-sd", "--help").stdout),
                         r"in a pod \[::\]:8080")
        self.assertEqual(one(self.all, "Service", "k8s-sd")["spec"]["ports"],
                         [{"name": "https", "port": 8080, "targetPort": PORT["name"]}])
        self.assertEqual(one(self.all, "NetworkPolicy")["spec"]["ingress"][0]["ports"],
                         [{"protocol": "TCP", "port": PORT["name"]}])

    def test_an_update_leaves_no_gap(self):
        for item, pod, container in self.deployments():
            self.assertEqual(item["spec"]["replicas"], 2)
            self.assertEqual(item["spec"]["strategy"], {
                "type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})
            waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
            self.assertGreater(pod["terminationGracePeriodSeconds"], waits)
        budget = one(self.all, "PodDisruptionBudget")["spec"]
        self.assertLess(budget["minAvailable"], item["spec"]["replicas"])

    def test_containers_are_read_only_and_unprivileged(self):
        _, pod, containers = self.sidecar()
        for pod, container in [*((pod, container) for _, pod, container in self.deployments()),
                               *((pod, container) for container in containers.values())]:
            self.assertEqual(container["securityContext"], NOBODY)
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})

    def test_only_agents_get_in(self):
        policy = one(self.all, "NetworkPolicy")["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress"])
        self.assertEqual([list(rule) for rule in policy["ingress"]], [["from", "ports"]])
        for peer in policy["ingress"][0]["from"]:
            # In one entry both have to match.
            self.assertEqual(peer["podSelector"]["matchLabels"], AGENT)
            self.assertEqual(peer["namespaceSelector"]["matchLabels"],
                             {"kubernetes.io/metadata.name": "monitoring"})
        item, _, _ = self.sidecar()
        self.assertLessEqual(AGENT.items(), item["spec"]["template"]["metadata"]["labels"].items())

    def test_the_arguments_work(self):
        """With a simulated cluster, and the files of the volumes in a folder."""
        with tls.authority() as authority:
            def put(name, text):
                path = pathlib.Path(authority.folder, "files", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")

            def with_files(arguments):
                return [text.replace("/etc/k8s-sd", os.path.join(authority.folder, "files"))
                        for text in arguments]

            for name, source in zip(("tls/tls.crt", "tls/tls.key"), authority.certificate("s")):
                put(name, pathlib.Path(source).read_text(encoding="utf-8"))
            put("ca/ca.crt", pathlib.Path(authority.cert).read_text(encoding="utf-8"))
            put("token/token", "a long secret\n")
            put("config/prometheus.yml",
                one(self.all, "ConfigMap", "k8s-sd")["data"]["prometheus.yml"])
            for _, _, container in self.deployments():
                more = ["--sim", "--listen", "127.0.0.1:0"]
                if "--collector-selector" in container["args"]:
                    more += ["--collector-namespace", "monitoring"]  # the pod's namespace
                with running("k8s-sd", *with_files(container["args"]), *more) as program:
                    server = tls.Server(program)
                    self.assert_serves(server, authority)
                    if container["args"][-1] == "/etc/k8s-sd/token/token":
                        text = with_token(text_of("sidecar.yaml"))
                        arguments = self.sidecar(text)[2]["follow"]["args"]
                        self.assert_sidecar_follows(server, with_files(arguments))

    def assert_serves(self, server, authority):
        asked = {"token": "a long secret", "ca": authority.cert}
        while server.status("/readyz", ca=authority.cert) == 503:
            pass  # the simulated cluster is not listed yet
        for path in ("/readyz", "/livez"):
            self.assertEqual(server.status(path, ca=authority.cert), 200)
        for job in ("pods", "services"):
            self.assertEqual(server.status(f"/sd/{job}/targets", **asked), 200)

    def assert_sidecar_follows(self, server, arguments):
        with tempfile.TemporaryDirectory() as targets:
            arguments = [text.replace("k8s-sd.monitoring.svc:8080", f"127.0.0.1:{server.port}")
                         .replace("$(POD_NAME)", "prometheus-1") for text in arguments]
            arguments[arguments.index("/targets")] = targets
            with running("k8s-sd", *arguments):
                files = [pathlib.Path(targets, name + ".json") for name in ("pods", "services")]
                end = time.monotonic() + TIMEOUT
                while not all(file.exists() for file in files):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.02)
                for file in files:
                    self.assertIsInstance(json.loads(file.read_text(encoding="utf-8")), list)

    def test_the_jobs_work(self):
        text = one(self.all, "ConfigMap", "k8s-sd")["data"]["prometheus.yml"]
        with file_with(text) as path:
            result = run("scraper", "--sim", "--strict", "--config", path, "--explain")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_sidecar_writes_what_prometheus_reads(self):
        item, pod, containers = self.sidecar()
        options, others = self.given(containers["follow"]["args"], self.follow_options)
        self.assertEqual(others[0], "follow")
        jobs = {}
        for url in others[1:]:
            match = re.fullmatch(r"https://k8s-sd\.monitoring\.svc:8080/sd/(\w+)/targets"
                                 r"\?member=\$\(POD_NAME\)&shards=(\d+)", url)
            self.assertTrue(match, url)
            self.assertEqual(int(match[2]), item["spec"]["replicas"])
            jobs[match[1]] = f"{options['--write-dir']}/{match[1]}.json"
        served = yaml.safe_load(one(self.all, "ConfigMap", "k8s-sd")["data"]["prometheus.yml"])
        self.assertEqual(set(jobs), {job["job_name"] for job in served["scrape_configs"]})
        config = yaml.safe_load(one(self.all, "ConfigMap", "prometheus")["data"]["prometheus.yml"])
        self.assertEqual({job["job_name"]: job["file_sd_configs"][0]["files"]
                          for job in config["scrape_configs"]},
                         {job: [file] for job, file in jobs.items()})
        shared = next(volume["name"] for volume in pod["volumes"] if volume["name"] == "targets")
        mounts = {name: {mount["name"]: mount for mount in container["volumeMounts"]}[shared]
                  for name, container in containers.items()}
        self.assertEqual({mount["mountPath"] for mount in mounts.values()}, {"/targets"})
        self.assertTrue(mounts["prometheus"]["readOnly"])
        self.assertNotIn("readOnly", mounts["follow"])
        self.assertEqual(containers["follow"]["env"][0], {
            "name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_prometheus_takes_the_configuration_of_the_sidecar(self):
        text = one(self.all, "ConfigMap", "prometheus")["data"]["prometheus.yml"]
        with tempfile.TemporaryDirectory() as targets:
            for name in ("pods", "services"):
                pathlib.Path(targets, name + ".json").write_text("[]", encoding="utf-8")
            with file_with(text.replace("/targets/", targets + "/"), "prometheus.yml") as path:
                result = subprocess.run(["promtool", "check", "config", path], text=True,
                                        capture_output=True, timeout=TIMEOUT, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_images_are_that_of_the_container_file_or_of_prometheus(self):
        for _, _, container in self.deployments():
            self.assertEqual(container["image"], IMAGE)
        _, _, containers = self.sidecar()
        self.assertEqual(containers["follow"]["image"], IMAGE)
        self.assertRegex(containers["prometheus"]["image"], r"/prom/prometheus:v\d")

    def test_the_table_of_the_readme_has_every_file(self):
        text = text_of("README.md")
        named = set(re.findall(r"^\| \[([a-z-]+\.yaml)\]\(\1\)", text, re.MULTILINE))
        self.assertEqual(named, set(self.files))
        applied = set(re.findall(r"-f (\S+)", text))
        self.assertEqual(applied, named - {"target-allocator.yaml", "sidecar.yaml"})


if __name__ == "__main__":
    unittest.main()
