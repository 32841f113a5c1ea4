"""A TLS server in front of a simulated cluster: it requires a token or a client certificate."""

import contextlib
import os
import pathlib
import select
import socket
import ssl
import sys
import tempfile
import threading

from harness import simulated_cluster

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))
from certificates import Authority  # noqa: E402

TOKEN = "token-of-the-test"
_REFUSAL = (b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n"
            b"Content-Length: 2\r\nConnection: close\r\n\r\n{}")


def _listen(serve):
    """A listening socket with one thread per connection, until it is closed."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener


class Gate:
    """Its files: ca.pem, client.pem, client.key, token, and kubeconfigs on demand."""

    def __init__(self, cluster_url, folder, names):
        self.folder = folder
        self.upstream = int(cluster_url.rpartition(":")[2])
        authority = Authority(folder, "ca")
        authority.client("somebody")
        self.context = authority.server(names)
        self.context.load_verify_locations(self.file("ca.pem"))
        self.context.verify_mode = ssl.CERT_OPTIONAL
        self.write("token", TOKEN + "\n")
        self.listener = _listen(self._serve)
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.file(name)

    def kubeconfig(self, authority="ca.pem", user="{tokenFile: token}"):
        """Its contexts: nowhere, the current one, and gate."""
        return self.write("config", f"""apiVersion: v1
kind: Config
current-context: nowhere
clusters:
- {{name: gate, cluster: {{server: "{self.url}", certificate-authority: {authority}}}}}
- {{name: nowhere, cluster: {{server: "http://127.0.0.1:1"}}}}
users:
- {{name: me, user: {user}}}
contexts:
- {{name: gate, context: {{cluster: gate, user: me}}}}
- {{name: nowhere, context: {{cluster: nowhere}}}}
""")

    def _serve(self, connection):
        with contextlib.suppress(OSError), self.context.wrap_socket(connection,
                                                                    server_side=True) as client:
            head = client.recv(65536)
            if not client.getpeercert() and f"Bearer {TOKEN}\r\n".encode() not in head:
                return client.sendall(_REFUSAL)
            with socket.create_connection(("127.0.0.1", self.upstream)) as server:
                server.sendall(head)
                _relay(client, server)


class Proxy:
    """An HTTP proxy that supports only CONNECT, and counts its connections."""

    def __init__(self):
        self.connects = 0
        self.listener = _listen(self._serve)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def _serve(self, client):
        with contextlib.suppress(OSError), client:
            method, authority, _ = client.recv(65536).decode().split("\r\n")[0].split()
            host, _, port = authority.rpartition(":")
            assert method == "CONNECT"
            with socket.create_connection((host, int(port))) as server:
                self.connects += 1
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                _relay(client, server)


@contextlib.contextmanager
def connect_proxy():
    proxy = Proxy()
    try:
        yield proxy
    finally:
        proxy.listener.close()


def _relay(client, server):
    """Until one side closes. In one thread: a TLS connection must not be shared."""
    while True:
        waiting = getattr(client, "pending", int)()
        for source in [client] if waiting else select.select([client, server], [], [])[0]:
            data = source.recv(65536)
            if not data:
                return
            (server if source is client else client).sendall(data)


@contextlib.contextmanager
def tls_gate(names="IP:127.0.0.1"):
    with simulated_cluster() as url, tempfile.TemporaryDirectory() as folder:
        gate = Gate(url, folder, names)
        try:
            yield gate
        finally:
            gate.listener.close()
