"""Whether examples/manifests/fleet is consistent in itself, with the programs and with Kubernetes.
"""

import json
import pathlib
import re
import unittest

from harness import file_with, run
from manifests import API_VERSIONS, CLUSTER_SCOPED, options_in, printed_rights, rights

try:
    import yaml
except ImportError:  # an optional package; nothing else of the project needs it
    yaml = None

FOLDER = pathlib.Path(__file__).parents[2] / "examples/manifests/fleet"
WORKLOADS = ("StatefulSet", "Deployment", "DaemonSet")
ROLES = ("pod", "service", "endpoints", "endpointslice", "node", "ingress")
# Priority levels built into the API server.
BUILT_IN_LEVELS = {"leader-election"}


def documents():
    for path in sorted(FOLDER.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            yield path.name, document


def options_of(program):
    return options_in(run(program, "--help").stdout)


@unittest.skipIf(yaml is None, "PyYAML (python3-yaml) is not installed")
class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = list(documents())
        cls.objects = [document for _, document in cls.all]

    def of_kind(self, *kinds):
        return [item for item in self.objects if item["kind"] in kinds]

    def one(self, kind, name):
        found = [item for item in self.of_kind(kind) if item["metadata"]["name"] == name]
        self.assertEqual(len(found), 1, f"{kind} {name}")
        return found[0]

    def containers(self, *kinds):
        for item in self.of_kind(*kinds):
            pod = item["spec"]["template"]["spec"]
            self.assertEqual(len(pod["containers"]), 1)
            yield item, pod, pod["containers"][0]

    def arguments(self, container):
        """The options of a container with their values."""
        known = options_of("scraper")
        given, left = {}, list(container["args"])
        while left:
            option = left.pop(0)
            self.assertIn(option, known, "scraper --help does not list it")
            given[option] = left.pop(0) if known[option] else True
        return given

    def test_every_document_has_a_kind_of_that_version_and_a_name(self):
        for file, document in self.all:
            with self.subTest(file=file, kind=document["kind"]):
                self.assertEqual(document["apiVersion"], API_VERSIONS[document["kind"]])
                name = document["metadata"]["name"]
                self.assertRegex(name, r"^[a-z0-9]([a-z0-9:.-]*[a-z0-9])?$")
                self.assertEqual("namespace" in document["metadata"],
                                 document["kind"] not in CLUSTER_SCOPED)

    def test_every_value_is_of_the_type_that_kubernetes_wants(self):
        for _, _, container in self.containers(*WORKLOADS):
            for text in container["args"]:
                self.assertIsInstance(text, str)  # an unquoted number is refused
        for item in self.of_kind("ConfigMap"):
            for text in item["data"].values():
                self.assertIsInstance(text, str)

    def test_selectors_match_the_labels_of_pods(self):
        fleets = [item["spec"]["template"]["metadata"]["labels"]
                  for item in self.of_kind("StatefulSet", "Deployment")]
        for item, _, _ in self.containers(*WORKLOADS):
            self.assertEqual(item["spec"]["selector"]["matchLabels"],
                             item["spec"]["template"]["metadata"]["labels"])
        for labels in fleets:
            self.assertEqual(self.one("Service", "agents")["spec"]["selector"], labels)
            budget = self.one("PodDisruptionBudget", "agents")
            self.assertEqual(budget["spec"]["selector"]["matchLabels"], labels)
        for item, pod, _ in self.containers("StatefulSet", "Deployment"):
            spread = pod["topologySpreadConstraints"][0]
            self.assertEqual(spread["labelSelector"], item["spec"]["selector"])
        nodes = self.one("DaemonSet", "node-agents")["spec"]["selector"]["matchLabels"]
        self.assertNotIn(nodes, fleets, "agents of nodes are no members of the fleet")

    def test_what_is_referred_to_is_there(self):
        for item, pod, container in self.containers(*WORKLOADS):
            namespace = item["metadata"]["namespace"]
            self.one("Namespace", namespace)
            account = self.one("ServiceAccount", pod["serviceAccountName"])
            self.assertEqual(account["metadata"]["namespace"], namespace)
            volumes = {volume["name"]: volume for volume in pod["volumes"]}
            for mount in container["volumeMounts"]:
                volume = volumes[mount["name"]]
                config = "configMap" in volume
                path = pathlib.PurePath(
                    self.arguments(container)["--config" if config else "--snapshot-dir"])
                self.assertEqual(str(path.parent), mount["mountPath"])
                self.assertEqual(config, bool(mount.get("readOnly")))
                if config:
                    data = self.one("ConfigMap", volume["configMap"]["name"])["data"]
                    self.assertIn(path.name, data)
        for item in self.of_kind("RoleBinding", "ClusterRoleBinding"):
            reference = item["roleRef"]
            role = self.one(reference["kind"], reference["name"])
            self.assertEqual(role["metadata"].get("namespace"), item["metadata"].get("namespace"))
            for subject in item["subjects"]:
                account = self.one(subject["kind"], subject["name"])
                self.assertEqual(account["metadata"]["namespace"], subject["namespace"])

    def test_members_may_read_their_slices_and_nothing_else_in_their_namespace(self):
        role = self.one("Role", "agents-fleet")
        wanted = {right for right in printed_rights("--role", "endpointslice", "--own-namespace")
                  if right[1] == "endpointslices"}
        self.assertEqual(len(wanted), 1)
        self.assertEqual(rights(role["rules"]), wanted)
        service = self.one("Service", "agents")
        self.assertEqual(role["metadata"]["namespace"], service["metadata"]["namespace"])

    def test_leases_may_be_renewed_and_not_deleted(self):
        role = self.one("Role", "agents-leases")
        self.assertEqual(rights(role["rules"]),
                         {("coordination.k8s.io", "leases",
                           ("create", "get", "list", "update", "watch"))})
        text = (FOLDER / "leases.yaml").read_text(encoding="utf-8")
        self.assertIn("--fleet-leases", options_of("scraper"))
        self.assertIn("fieldPath: metadata.uid", text)

    def test_agents_may_read_what_all_roles_need(self):
        wanted = printed_rights("--role", "endpointslice", "--attach", "node,namespace")
        for role in ROLES:
            wanted |= printed_rights("--role", role)
        self.assertEqual(rights(self.one("ClusterRole", "k8s-sd:monitoring:agents")["rules"]),
                         wanted)

    def test_agents_of_nodes_may_read_pods_only(self):
        self.assertEqual(rights(self.one("ClusterRole", "k8s-sd:monitoring:node-agents")["rules"]),
                         printed_rights("--role", "pod"))

    def test_the_service_is_headless_and_has_ready_pods_only(self):
        spec = self.one("Service", "agents")["spec"]
        self.assertEqual(spec["clusterIP"], "None")
        self.assertIs(spec["publishNotReadyAddresses"], False)
        self.assertEqual(self.one("StatefulSet", "agents")["spec"]["serviceName"], "agents")

    def test_members_are_known_by_their_pods(self):
        for item, _, container in self.containers("StatefulSet", "Deployment"):
            given = self.arguments(container)
            self.assertEqual(given["--fleet-service"], "agents")
            self.assertEqual(given["--member"], "$(POD_NAME)")
            self.assertEqual(given["--fleet-namespace"], "$(POD_NAMESPACE)")
            # Otherwise the fleet never starts before the time-out.
            self.assertLessEqual(int(given["--fleet-wait-for-size"]), item["spec"]["replicas"])

    def test_agents_of_nodes_receive_their_node(self):
        for _, _, container in self.containers("DaemonSet"):
            given = self.arguments(container)
            self.assertEqual(given["--per-node"], "$(NODE_NAME)")
            self.assertNotIn("--allow-cluster-wide", given)

    def test_variables_come_from_the_downward_api(self):
        fields = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace",
                  "NODE_NAME": "spec.nodeName"}
        for _, _, container in self.containers(*WORKLOADS):
            known = {variable["name"]: variable["valueFrom"]["fieldRef"]["fieldPath"]
                     for variable in container["env"]}
            used = set(re.findall(r"\$\((\w+)\)", " ".join(container["args"])))
            self.assertEqual(known, {name: fields[name] for name in used})

    def test_probes_ask_where_the_program_listens(self):
        for _, _, container in self.containers(*WORKLOADS):
            address, port = self.arguments(container)["--listen"].rsplit(":", 1)
            self.assertEqual(address, "0.0.0.0")
            self.assertIn({"name": "http", "containerPort": int(port)}, container["ports"])
            for probe, path in (("readinessProbe", "/readyz"), ("livenessProbe", "/livez")):
                self.assertEqual(container[probe]["httpGet"], {"path": path, "port": "http"})
            ready, live = container["readinessProbe"], container["livenessProbe"]
            # A hanging member first loses its share, and is restarted later.
            self.assertLess(ready["periodSeconds"] * ready["failureThreshold"],
                            live["periodSeconds"] * live["failureThreshold"])

    def test_who_leaves_has_time_to_hand_over(self):
        for _, pod, container in self.containers("StatefulSet", "Deployment"):
            config = self.one("ConfigMap", "agents")["data"]["scrape.yaml"]
            jobs = yaml.safe_load(config)
            intervals = [jobs["global"]["scrape_interval"],
                         *(job.get("scrape_interval", "0s") for job in jobs["scrape_configs"])]
            hand_over = max(30, *(2 * int(interval.removesuffix("s")) for interval in intervals))
            drain = int(self.arguments(container)["--fleet-drain"])
            self.assertGreaterEqual(drain, hand_over)
            self.assertGreater(pod["terminationGracePeriodSeconds"], drain)

    def test_containers_are_read_only_and_unprivileged(self):
        for _, _, container in self.containers(*WORKLOADS):
            self.assertEqual(container["securityContext"], {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                "runAsNonRoot": True, "runAsUser": 65532, "capabilities": {"drop": ["ALL"]}})

    def test_configurations_work(self):
        for item in self.of_kind("ConfigMap"):
            with file_with(item["data"]["scrape.yaml"]) as path:
                result = run("scraper", "--sim", "--strict", "--config", path, "--explain")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_agents_of_nodes_discover_what_can_be_restricted(self):
        jobs = yaml.safe_load(self.one("ConfigMap", "node-agents")["data"]["scrape.yaml"])
        for job in jobs["scrape_configs"]:
            for discovery in job["kubernetes_sd_configs"]:
                self.assertEqual(discovery["role"], "pod")

    def test_agents_have_a_level_of_their_own_and_leases_another(self):
        schemas = {item["metadata"]["name"]: item["spec"] for item in self.of_kind("FlowSchema")}
        levels = {item["metadata"]["name"]
                  for item in self.of_kind("PriorityLevelConfiguration")} | BUILT_IN_LEVELS
        for spec in schemas.values():
            self.assertIn(spec["priorityLevelConfiguration"]["name"], levels)
            # After the API server's own schemas, before service-accounts.
            self.assertTrue(900 < spec["matchingPrecedence"] < 9000)
            for rule in spec["rules"]:
                for subject in rule["subjects"]:
                    account = subject["serviceAccount"]
                    known = self.one("ServiceAccount", account["name"])
                    self.assertEqual(known["metadata"]["namespace"], account["namespace"])
        leases = schemas["k8s-sd-agent-leases"]
        self.assertLess(leases["matchingPrecedence"],
                        schemas["k8s-sd-agents"]["matchingPrecedence"])
        self.assertEqual(leases["rules"][0]["resourceRules"][0]["resources"], ["leases"])

    def test_a_level_queues_what_a_thousand_agents_ask(self):
        for item in self.of_kind("PriorityLevelConfiguration"):
            self.assertEqual(item["spec"]["type"], "Limited")
            limited = item["spec"]["limited"]
            queuing = limited["limitResponse"]["queuing"]
            self.assertEqual(limited["limitResponse"]["type"], "Queue")
            self.assertLessEqual(queuing["handSize"], queuing["queues"])
            self.assertGreaterEqual(queuing["handSize"] * queuing["queueLengthLimit"], 1000)
            self.assertIsNotNone(limited["borrowingLimitPercent"])

    def test_the_table_of_the_readme_has_every_file(self):
        text = (FOLDER / "README.md").read_text(encoding="utf-8")
        named = set(re.findall(r"^\| \[([a-z-]+\.yaml)\]\(\1\)", text, re.MULTILINE))
        self.assertEqual(named, {path.name for path in FOLDER.glob("*.yaml")})
        for name in re.findall(r"-f (\S+)", text):
            self.assertIn(name, named)

    def test_names_in_json_form_stay_as_they_are(self):
        # Every document is valid JSON, so the API accepts it.
        for _, document in self.all:
            self.assertEqual(json.loads(json.dumps(document)), document)


if __name__ == "__main__":
    unittest.main()
