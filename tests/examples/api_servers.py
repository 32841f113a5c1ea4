"""Writable API servers: a simulated one, and a real one if the programs etcd and kube-apiserver are
installed or in the folder $K8S_SD_PEERS."""

import contextlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from harness import environment, simulated_cluster

TOKEN = "token-of-the-test"


class Missing(Exception):
    """No such server is available here."""


class ApiServer:
    """The server's URL, the options of programs to reach it, and JSON requests."""

    def __init__(self, url, options=()):
        self.url = url
        self.options = ["--api-server", url, *options]

    def request(self, method, path, body=None, content_type="application/json"):
        """Status and response."""
        request = urllib.request.Request(
            self.url + path, method=method, data=body and json.dumps(body).encode(),
            headers={"Content-Type": content_type, "Authorization": "Bearer " + TOKEN})
        context = ssl._create_unverified_context() if self.url.startswith("https") else None
        try:
            with urllib.request.urlopen(request, timeout=20, context=context) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def create(self, path, body):
        status, answer = self.request("POST", path, body)
        if status not in (200, 201):
            raise AssertionError(f"POST {path}: {status} {answer}")
        return answer


@contextlib.contextmanager
def simulated():
    with simulated_cluster() as url:
        yield ApiServer(url)


def _find(program):
    path = os.pathsep.join(filter(None, [os.environ.get("K8S_SD_PEERS"), os.environ["PATH"]]))
    found = shutil.which(program, path=path)
    if not found:
        raise Missing(f"there is no {program}, neither installed nor in $K8S_SD_PEERS")
    return found


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _wait_for(process, is_ready, what, log):
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            if is_ready():
                return
        time.sleep(0.2)
    log.seek(0)
    raise Missing(f"{what} does not start: {log.read()[-2000:]}")


def _answers(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.status == 200


@contextlib.contextmanager
def real(feature_gates=""):
    """\\raises Missing"""
    etcd, program = _find("etcd"), _find("kube-apiserver")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())

        def start(*command):
            log = stack.enter_context(tempfile.TemporaryFile("w+", dir=folder))
            process = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process, log

        store = f"http://127.0.0.1:{_free_port()}"
        peers = f"http://127.0.0.1:{_free_port()}"
        process, log = start(etcd, "--data-dir", os.path.join(folder, "etcd"),
                             "--listen-client-urls", store, "--advertise-client-urls", store,
                             "--listen-peer-urls", peers)
        _wait_for(process, lambda: _answers(store + "/health"), "etcd", log)

        key = os.path.join(folder, "accounts.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True,
                       capture_output=True, stdin=subprocess.DEVNULL)
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w", encoding="ascii") as file:
            file.write(f"{TOKEN},somebody,somebody,system:masters\n")
        port = _free_port()
        gates = ["--feature-gates", feature_gates] if feature_gates else []
        process, log = start(
            program, "--etcd-servers", store, "--secure-port", str(port),
            "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
            "--cert-dir", os.path.join(folder, "certificates"), "--token-auth-file", tokens,
            "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
            "--service-account-issuer", "https://127.0.0.1", "--service-account-key-file", key,
            "--service-account-signing-key-file", key,
            "--disable-admission-plugins", "ServiceAccount", *gates)
        token_file = os.path.join(folder, "token")
        with open(token_file, "w", encoding="ascii") as file:
            file.write(TOKEN)
        server = ApiServer(f"https://127.0.0.1:{port}",
                           ["--insecure-skip-tls-verify", "--token-file", token_file])
        namespaces = "/api/v1/namespaces/default"
        _wait_for(process, lambda: server.request("GET", namespaces)[0] == 200, "kube-apiserver",
                  log)
        yield server
