"""A simulated API server in a process of its own: tests/c/server.cpp has the commands."""

import json
import os
import pathlib
import subprocess
import tempfile


class Server:
    def __init__(self, tls=False):
        self.folder = tempfile.TemporaryDirectory()
        authority = pathlib.Path(self.folder.name, "authority.pem")
        self.process = subprocess.Popen(
            [os.environ["K8S_SD_TEST_SERVER"], *([authority] if tls else [])], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()
        #: Keys of a configuration.
        self.keys = {"api_server": self.url}
        if tls:
            self.keys["tls_config"] = {"ca_file": str(authority)}

    def tell(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer.startswith("ok"), answer

    def apply(self, **content):
        self.tell("apply", json.dumps(content))

    def pod(self, name, address):
        self.apply(apiVersion="v1", kind="Pod",
                   metadata={"namespace": "shop", "name": name, "labels": {"app": "web"}},
                   spec={"containers": [{"name": "web", "ports": [{"containerPort": 80}]}]},
                   status={"phase": "Running", "podIP": address})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.folder.cleanup()
