"""What the tests of manifests share: the types of Kubernetes, RBAC rules, options in --help."""

import re

from harness import run

try:
    import yaml
except ImportError:  # an optional package; nothing else of the project needs it
    yaml = None

API_VERSIONS = {
    "Namespace": "v1", "ServiceAccount": "v1", "Service": "v1", "ConfigMap": "v1",
    "Role": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "StatefulSet": "apps/v1", "Deployment": "apps/v1", "DaemonSet": "apps/v1",
    "PodDisruptionBudget": "policy/v1",
    "FlowSchema": "flowcontrol.apiserver.k8s.io/v1",
    "PriorityLevelConfiguration": "flowcontrol.apiserver.k8s.io/v1",
}
CLUSTER_SCOPED = {"Namespace", "ClusterRole", "ClusterRoleBinding", "FlowSchema",
                  "PriorityLevelConfiguration"}


def rights(rules):
    """Each resource with its group and verbs."""
    return {(group, resource, tuple(sorted(rule["verbs"])))
            for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]}


def printed_rights(*arguments):
    """The permissions that the library prints for a configuration."""
    result = run("discover", "--print-rbac", *arguments)
    assert result.returncode == 0, result.stderr
    return rights(rule for document in yaml.safe_load_all(result.stdout) if document
                  for rule in document.get("rules", []))


def options_in(text):
    """The options in the text of --help, and whether each takes a value."""
    return {name: bool(value)
            for name, value in re.findall(r"^ +(--[a-z0-9-]+)( [A-Z\[']\S*)?", text, re.MULTILINE)}
