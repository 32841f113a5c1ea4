"""An API server with few kinds of objects, which are listed and watched: by default a hub, with
ClusterProfiles and Secrets."""

import base64
import contextlib
import json
import threading
import urllib.parse

from harness import JsonHandler, server_with

GROUP = "multicluster.x-k8s.io/v1alpha1"
KINDS = {"clusterprofiles": (GROUP, "ClusterProfile"), "secrets": ("v1", "Secret")}


def kubeconfig(url):
    return (f"clusters: [{{name: c, cluster: {{server: '{url}'}}}}]\n"
            "contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n")


class Hub:
    """Its objects, by resource and name, and the events of watches."""

    def __init__(self, kinds=None):
        self.kinds = kinds or KINDS
        self.changed = threading.Condition()
        self.version = 1
        self.objects = {resource: {} for resource in self.kinds}
        self.events = []  # version, resource, event
        self.refused = set()  # resources
        self.ended = False

    def profile(self, name, **properties):
        properties = [{"name": key, "value": value} for key, value in properties.items()]
        self.put("clusterprofiles", name,
                 {"spec": {"displayName": name}, "status": {"properties": properties}})

    def secret(self, name, text):
        self.put("secrets", name, {"data": {"Config": base64.b64encode(text.encode()).decode()}},
                 {"x-k8s.io/cluster-profile": name})

    def cluster(self, name, url):
        self.secret(name, kubeconfig(url))
        self.profile(name)

    def put(self, resource, name, content, labels=(), namespace="fleet"):
        """\\param namespace  None: the object has none"""
        with self.changed:
            self.version += 1
            is_new = name not in self.objects[resource]
            version, kind = self.kinds[resource]
            known = {"apiVersion": version, "kind": kind, **content,
                     "metadata": {"name": name, "uid": "u-" + name, "labels": dict(labels),
                                  "resourceVersion": str(self.version)}}
            if namespace:
                known["metadata"]["namespace"] = namespace
            self.objects[resource][name] = known
            self.notify(resource, "ADDED" if is_new else "MODIFIED", known)

    def remove(self, resource, name):
        with self.changed:
            self.version += 1
            gone = self.objects[resource].pop(name)
            gone["metadata"]["resourceVersion"] = str(self.version)
            self.notify(resource, "DELETED", gone)

    def notify(self, resource, kind, known):
        self.events.append((self.version, resource, {"type": kind, "object": known}))
        self.changed.notify_all()

    def end(self):
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def events_after(self, version, resource):
        """Waits for some; none: the end."""
        with self.changed:
            while True:
                found = [(number, event) for number, of, event in self.events
                         if number > version and of == resource]
                if found or self.ended:
                    return [] if self.ended else found
                self.changed.wait(60)


def handler_of(hub):
    class Handler(JsonHandler):
        def do_GET(self):
            url = urllib.parse.urlsplit(self.path)
            query = urllib.parse.parse_qs(url.query)
            resource = url.path.rpartition("/")[2]
            if url.path == f"/apis/{GROUP}":
                return self.reply(200, {"kind": "APIResourceList", "groupVersion": GROUP,
                                        "resources": [{"name": "clusterprofiles",
                                                       "kind": "ClusterProfile",
                                                       "namespaced": True,
                                                       "verbs": ["list", "watch"]}]})
            if url.path == "/apis/multicluster.x-k8s.io":
                version = {"groupVersion": GROUP, "version": "v1alpha1"}
                return self.reply(200, {"kind": "APIGroup", "name": "multicluster.x-k8s.io",
                                        "versions": [version], "preferredVersion": version})
            if resource not in hub.kinds or resource in hub.refused:
                code = 403 if resource in hub.kinds else 404
                return self.reply(code, {"kind": "Status", "apiVersion": "v1",
                                         "status": "Failure", "code": code,
                                         "reason": "Forbidden" if code == 403 else "NotFound",
                                         "message": resource + " is refused"})
            if "sendInitialEvents" in query:  # an older server
                return self.reply(400, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                        "code": 400, "reason": "BadRequest",
                                        "message": "unknown parameter sendInitialEvents"})
            if "watch" in query:
                return self.watch(resource, int(query.get("resourceVersion", ["0"])[0]))
            with hub.changed:
                version, kind = hub.kinds[resource]
                body = {"kind": kind + "List", "apiVersion": version,
                        "metadata": {"resourceVersion": str(hub.version)},
                        "items": list(hub.objects[resource].values())}
            return self.reply(200, body)

        def watch(self, resource, version):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                while events := hub.events_after(version, resource):
                    for version, event in events:
                        line = json.dumps(event).encode() + b"\n"
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")

    return Handler


@contextlib.contextmanager
def simulated_hub(kinds=None):
    """A hub, or another server with these kinds, and its URL."""
    hub = Hub(kinds)
    with server_with(handler_of(hub)) as url:
        try:
            yield hub, url
        finally:
            hub.end()
