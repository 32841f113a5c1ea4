"""A TLS server in front of a simulated cluster: it lets those in who show a token or a client
certificate."""

import contextlib
import os
import pathlib
import socket
import ssl
import sys
import tempfile
import threading

from harness import simulated_cluster

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "blackbox"))
from certificates import Authority  # noqa: E402

TOKEN = "token-of-the-test"
_REFUSAL = (b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n"
            b"Content-Length: 2\r\nConnection: close\r\n\r\n{}")


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
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.file(name)

    def kubeconfig(self, authority="ca.pem", user="{tokenFile: token}"):
        """Its contexts: nowhere, which is the current one, and gate."""
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

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), self.context.wrap_socket(connection,
                                                                    server_side=True) as client:
            head = client.recv(65536)
            if not client.getpeercert() and f"Bearer {TOKEN}\r\n".encode() not in head:
                return client.sendall(_REFUSAL)
            with socket.create_connection(("127.0.0.1", self.upstream)) as server:
                server.sendall(head)
                threading.Thread(target=_pump, args=(client, server), daemon=True).start()
                _pump(server, client)


def _pump(source, sink):
    with contextlib.suppress(OSError, ValueError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def tls_gate(names="IP:127.0.0.1"):
    with simulated_cluster() as url, tempfile.TemporaryDirectory() as folder:
        gate = Gate(url, folder, names)
        try:
            yield gate
        finally:
            gate.listener.close()
