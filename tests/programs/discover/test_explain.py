"""discover --explain names the origin of labels."""

import json
import unittest

from harness import run


def explain(source, *arguments):
    return run("discover", "--sim", "--explain", source, *arguments)


def sources(*arguments):
    """The sources of the simulated cluster's groups."""
    result = run("discover", "--sim", "--once", "--output", "json", *arguments)
    return [group["source"] for group in json.loads(result.stdout)["updated"]]


def pod_of_shop(prefix="pod/shop/orders-db-0"):
    return next(source for source in sources() if source.startswith(prefix))


class Explain(unittest.TestCase):
    def explained(self, source, *arguments):
        result = explain(source, "--output", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("\n"), 1)
        return json.loads(result.stdout)

    def test_each_label_has_its_object_and_field(self):
        result = explain("pod/shop/orders-db-0", "--attach", "node,namespace")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in (r"^pod/shop/orders-db-0: \d+ targets? of role pod$",
                     r'__meta_kubernetes_pod_node_name = "node-\w+" +Pod shop/orders-db-0  '
                     r"spec\.nodeName$",
                     r'__meta_kubernetes_node_name = "(node-\w+)" +Node \1  metadata\.name$',
                     r'__meta_kubernetes_node_label_topology_kubernetes_io_zone = "\S+" +'
                     r'Node node-\w+  metadata\.labels\["topology\?kubernetes\?io\?zone"\]$',
                     r"^Target 10\.[0-9.]+:5432:$",
                     r'__address__ = "10\.[0-9.]+:5432" +Pod shop/orders-db-0  status\.podIP, '):
            self.assertRegex(result.stdout, "(?m)" + line)

    def test_every_label_of_every_role_is_explained(self):
        attach = ["--attach", "node,namespace,deployment,job,cronjob"]
        for dialect in ("prometheus", "prometheus@3.15", "victoriametrics"):
            of_gateway_api = ("gateway", "httproute", "grpcroute", "tlsroute")
            for role in ("node", "pod", "service", "endpoints", "endpointslice", "ingress",
                         *(of_gateway_api if dialect != "victoriametrics" else ())):
                options = ["--role", role, "--dialect", dialect]
                if role in ("pod", "endpoints", "endpointslice"):
                    options += attach
                source = sources(*options)[0]
                with self.subTest(role=role, dialect=dialect, source=source):
                    found = self.explained(source, *options)
                    self.assertEqual((found["source"], found["role"]), (source, role))
                    self.assertTrue(found["targets"])
                    for target in found["targets"]:
                        for label, explanation in target.items():
                            self.assertEqual(set(explanation), {"value", "kind", "object", "field"},
                                             label)
                            self.assertTrue(explanation["object"], label)

    def test_labels_of_a_route_name_its_gateway(self):
        result = explain("httproute/payments/checkout", "--role", "httproute")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in (r'__meta_kubernetes_gateway_listener_port = "443" +Gateway shop/edge  '
                     r"spec\.listeners\[\*\]\.port$",
                     r'__meta_kubernetes_httproute_hostname = "pay\.example\.com" +'
                     r"HTTPRoute payments/checkout  spec\.hostnames\[\*\]$"):
            self.assertRegex(result.stdout, "(?m)" + line)

    def test_json_has_the_values_that_targets_has(self):
        source = pod_of_shop()
        found = self.explained(source)
        expected = json.loads(run("discover", "--sim", "--once", "--output", "targets").stdout)
        for target in found["targets"]:
            values = {label: item["value"] for label, item in target.items()}
            values.pop("__meta_kubernetes_pod_uid")  # another simulation
            values.pop("__meta_kubernetes_pod_container_id")
            self.assertTrue([t for t in expected if values.items() <= t.items()], values)

    def test_a_missing_target_is_reported_with_similar_ones(self):
        result = explain("pod/shop/orders-db-9")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"^discover: --explain: nothing with targets is called "
                                        r"pod/shop/orders-db-9; the nearest are "
                                        r"pod/shop/orders-db-0, pod/shop/orders-db-1, pod/shop/")
        result = explain("pod/x/y", "--namespace", "nothing-here")
        self.assertIn("there are no targets at all", result.stderr)

    def test_other_formats_cannot_say_it(self):
        for output in ("quiet", "targets"):
            result = explain("pod/a/b", "--output", output)
            self.assertEqual(result.returncode, 2)
            self.assertIn("--explain: --output must be text or json", result.stderr)


if __name__ == "__main__":
    unittest.main()
