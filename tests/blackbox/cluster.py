"""The objects of a cluster and their history, as a server with a watch cache keeps them."""

import base64
import copy
import json
import threading

PATHS = {
    "pods": ("/api/v1", "Pod"),
    "nodes": ("/api/v1", "Node"),
    "namespaces": ("/api/v1", "Namespace"),
    "services": ("/api/v1", "Service"),
    "endpoints": ("/api/v1", "Endpoints"),
    "endpointslices": ("/apis/discovery.k8s.io/v1", "EndpointSlice"),
    "ingresses": ("/apis/networking.k8s.io/v1", "Ingress"),
}
CLUSTER_WIDE = ("nodes", "namespaces")
# The program's name for the group of an object, and the path of the label with its state.
SOURCES = {
    "pods": ("pod", "__meta_kubernetes_pod_label_step"),
    "nodes": ("node", "__meta_kubernetes_node_label_step"),
    "services": ("svc", "__meta_kubernetes_service_label_step"),
    "endpoints": ("endpoints", "__meta_kubernetes_endpoints_label_step"),
}


class Expired(Exception):
    """The version, or the position in a list, has expired."""


class Malformed(Exception):
    """The position in a list is malformed."""


class Cluster:
    """Thread-safe. `condition` is notified of every change."""

    def __init__(self, version=1000):
        self.condition = threading.Condition(threading.RLock())
        self.version = version
        self.oldest = version  # the oldest version for the start of a watch
        self.objects = {kind: {} for kind in PATHS}
        self.history = []  # (version, kind, type, object)
        self.removed = set()  # sources deleted at any time
        self.known = set()  # all sources that ever existed
        self._snapshots = {}
        self._ids = 0
        self._steps = 0

    # --- changes --------------------------------------------------------------------------------

    def put(self, kind, name, ns="default", labels=None, **members):
        """Adds or changes an object; each call changes its label `step`."""
        with self.condition:
            key = ("" if kind in CLUSTER_WIDE else ns, name)
            before = self.objects[kind].get(key)
            self._steps += 1
            item = self._make(kind, key, before)
            item["metadata"]["labels"] = {"step": str(self._steps), **(labels or {})}
            item.update(members)
            return self._record(kind, key, "MODIFIED" if before else "ADDED", item)

    def delete(self, kind, name, ns="default"):
        with self.condition:
            key = ("" if kind in CLUSTER_WIDE else ns, name)
            self.removed.add(self.source(kind, key))
            return self._record(kind, key, "DELETED", copy.deepcopy(self.objects[kind][key]))

    def replace(self, kind, name, ns="default"):
        """Deletes the object and creates another one of the same name."""
        self.delete(kind, name, ns)
        return self.put(kind, name, ns)

    def advance(self, by=1):
        """Advances the version, as other changes would."""
        with self.condition:
            self.version += by
            self.condition.notify_all()

    def forget_history(self):
        """Expires all versions before the current one; bookmarks do not count."""
        with self.condition:
            self.version += 1
            self.oldest = self.version
            self._snapshots.clear()

    def restore(self, version):
        """Acts as if the store had been restored from a backup with the current objects, taken when
        the cluster was at that version."""
        with self.condition:
            self.version = version
            self.oldest = version
            self.history.clear()
            self._snapshots.clear()
            for items in self.objects.values():
                for item in items.values():
                    item["metadata"]["resourceVersion"] = str(version)
            self.condition.notify_all()

    def _make(self, kind, key, before):
        if before:
            return copy.deepcopy(before)
        self._ids += 1
        ns, name = key
        metadata = {"name": name, "uid": f"uid-{self._ids}"}
        if ns:
            metadata["namespace"] = ns
        return {"metadata": metadata, **_body(kind, self._ids)}

    def _record(self, kind, key, change, item):
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        if change == "DELETED":
            del self.objects[kind][key]
        else:
            self.objects[kind][key] = item
            self.known.add(self.source(kind, key))
        self.history.append((self.version, kind, change, item))
        self.condition.notify_all()
        return item

    # --- reads of a client ----------------------------------------------------------------------

    def page(self, kind, ns="", limit=0, token=""):
        """(items, version, next token); the pages of a chain share one version."""
        with self.condition:
            version, start = self.version, 0
            if token:
                version, start = _read_token(token)
                if (kind, ns, version) not in self._snapshots:
                    raise Expired
                items = self._snapshots[kind, ns, version]
            else:
                items = [item for (where, _), item in sorted(self.objects[kind].items())
                         if not ns or where == ns]
            end = len(items)
            following = ""
            if limit and start + limit < len(items):
                end = start + limit
                self._snapshots[kind, ns, version] = items
                following = base64.urlsafe_b64encode(json.dumps([version, end]).encode()).decode()
            return items[start:end], version, following

    def events(self, kind, ns, after):
        """(type, object) after that version, and the version reached by them."""
        with self.condition:
            if after < self.oldest:
                raise Expired
            found = [(change, item) for version, what, change, item in self.history
                     if version > after and what == kind
                     and (not ns or item["metadata"].get("namespace") == ns)]
            return found, max(after, self.version)

    # --- the expected state ---------------------------------------------------------------------

    @staticmethod
    def source(kind, key):
        ns, name = key
        prefix = SOURCES[kind][0] if kind in SOURCES else kind
        return f"{prefix}/{ns}/{name}" if ns else f"{prefix}/{name}"

    def state(self, kind="pods"):
        """{source: the label `step`} of all objects."""
        with self.condition:
            return {self.source(kind, key): item["metadata"]["labels"]["step"]
                    for key, item in self.objects[kind].items()}


def _read_token(token):
    try:
        version, start = json.loads(base64.urlsafe_b64decode(token))
    except ValueError:
        raise Malformed from None
    return version, start


def _body(kind, number):
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    if kind == "pods":
        return {"spec": {"nodeName": "node-1",
                         "containers": [{"name": "main", "ports": [{"containerPort": 80}]}]},
                "status": {"phase": "Running", "podIP": address,
                           "conditions": [{"type": "Ready", "status": "True"}]}}
    if kind == "nodes":
        return {"status": {"addresses": [{"type": "InternalIP", "address": address}]}}
    if kind == "services":
        return {"spec": {"type": "ClusterIP", "clusterIP": address,
                         "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}}
    if kind == "endpoints":
        return {"subsets": [{"addresses": [{"ip": address, "nodeName": "node-1"}],
                             "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}]}
    return {}
