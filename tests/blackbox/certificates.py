"""Certificate authorities and server certificates, made by the program openssl in a folder."""

import os
import shutil
import ssl
import subprocess

from scenario import Skipped


class Authority:
    def __init__(self, folder, name="authority"):
        if not shutil.which("openssl"):
            raise Skipped("there is no program openssl")
        self.folder, self.name = folder, name
        self.certificate = self._path("pem")
        _openssl("req", "-x509", *_NEW_KEY, "-keyout", self._path("key"), "-out", self.certificate,
                 "-subj", f"/CN={name}", "-days", "30",
                 "-addext", "basicConstraints=critical,CA:TRUE")

    def _path(self, extension):
        return os.path.join(self.folder, f"{self.name}.{extension}")

    def text(self):
        with open(self.certificate, encoding="ascii") as file:
            return file.read()

    def server(self, names="IP:127.0.0.1", days=30):
        """An ssl.SSLContext of a server with these names; negative days: expired."""
        base = self._path("server")
        self._sign(base, "server", days, f"subjectAltName={names}\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(base + ".pem", base + ".key")
        return context

    def client(self, name):
        """Writes client.pem and client.key for a client with this name."""
        self._sign(os.path.join(self.folder, "client"), name, 30, "extendedKeyUsage=clientAuth\n")

    def _sign(self, base, name, days, extensions):
        _openssl("req", *_NEW_KEY, "-keyout", base + ".key", "-out", base + ".csr",
                 "-subj", f"/CN={name}")
        with open(base + ".ext", "w", encoding="ascii") as file:
            file.write(extensions)
        _openssl("x509", "-req", "-in", base + ".csr", "-CA", self.certificate,
                 "-CAkey", self._path("key"), "-CAcreateserial", "-out", base + ".pem",
                 "-extfile", base + ".ext", "-days", str(days))


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError("openssl " + " ".join(arguments) + "\n" + done.stderr)
