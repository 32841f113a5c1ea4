"""An API server with ConfigMaps only."""

import threading
import urllib.parse

from harness import JsonHandler, server_with


class ConfigMaps(JsonHandler):
    """An API server with one ConfigMap in the namespace monitoring, and another one below /bad that
    has a mistake."""
    name = "sd"
    data = {}
    asked_for_nodes = threading.Event()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path.endswith("/nodes"):
            self.asked_for_nodes.set()
        query = urllib.parse.parse_qs(url.query)
        if "watch" in query or not url.path.endswith("/configmaps"):
            return self.reply(404 if "watch" not in query else 403, {
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
                "reason": "Forbidden", "message": "this server only lists ConfigMaps"})
        found = url.path.removeprefix("/bad") == "/api/v1/namespaces/monitoring/configmaps" and (
            query["fieldSelector"] == ["metadata.name=" + self.name])
        is_bad = url.path.startswith("/bad/")
        item = {"metadata": {"namespace": "monitoring", "name": self.name, "uid": "1",
                             "resourceVersion": "1"},
                "data": {"sd.yml": "scrape_configs: {"} if is_bad else self.data}
        return self.reply(200, {"kind": "ConfigMapList", "apiVersion": "v1",
                                "metadata": {"resourceVersion": "1"},
                                "items": [item] if found else []})


def server_of_config_map(data, name="sd"):
    ConfigMaps.data, ConfigMaps.name = data, name
    ConfigMaps.asked_for_nodes.clear()
    return server_with(ConfigMaps)
