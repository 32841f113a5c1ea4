"""Debian's proxies, each started on ports of 127.0.0.1 and ended by the scenario."""

import os
import pwd
import shutil
import socket
import subprocess
import time

from scenario import Failed, Skipped

USER, PASSWORD = "proxy-user", "Secret-Word-of-the-Proxy-81"
READY = 15  # real seconds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _program(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not path:
        raise Skipped(f"there is no program {name}")
    return path


class Proxy:
    """Started with begin(); a subclass defines how. Class and options determine one URL."""

    scheme = "http"

    def __init__(self, w, login=False):
        self.w, self.login = w, login
        self.folder = os.path.join(w.folder, "proxy")
        os.makedirs(self.folder, exist_ok=True)
        self.port = free_port()
        self.process = None

    def url(self, password=PASSWORD, with_login=True):
        """The proxy's URL, with the required credentials or others."""
        before = f"{USER}:{password}@" if self.login and with_login else ""
        return f"{self.scheme}://{before}127.0.0.1:{self.port}"

    def shown(self):
        """The proxy's name in messages."""
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def command(self):
        raise NotImplementedError

    def begin(self):
        log = os.path.join(self.folder, "output")
        with open(log, "ab") as output:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=output, cwd=self.folder,
                                            start_new_session=True)
        self.w.on_close(self.kill)
        end = time.monotonic() + READY * self.w.setup.slowness
        while time.monotonic() < end:
            with socket.socket() as probe:
                probe.settimeout(1)
                connected = probe.connect_ex(("127.0.0.1", self.port)) == 0
                # Linux connects a socket to itself if it happens to get this port.
                if connected and probe.getsockname()[1] != self.port:
                    return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        with open(log, encoding="utf-8", errors="replace") as output:
            raise Failed(f"{type(self).__name__} does not start: {output.read()[-2000:]}")

    def kill(self):
        """Ends it and its connections at once."""
        if self.process:
            try:
                os.killpg(self.process.pid, 9)
            except OSError:
                pass
            self.process.wait()


class Tinyproxy(Proxy):
    ports = ""  # lines that restrict CONNECT

    def command(self):
        login = f"BasicAuth {USER} {PASSWORD}\n" if self.login else ""
        return [_program("tinyproxy"), "-d", "-c", self.file("tinyproxy.conf", (
            f"Port {self.port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 50\nLogLevel Warning\n"
            f"Allow 127.0.0.1\n{login}{self.ports}"))]


class Squid(Proxy):
    refuses = False
    tls = None  # an Authority: the port uses TLS
    hosts = ""

    def __init__(self, w, login=False, tls=None):
        super().__init__(w, login)
        self.tls = tls
        if tls:
            self.scheme = "https"

    def command(self):
        squid = _program("squid")
        port = f"http_port 127.0.0.1:{self.port}"
        if self.tls:
            built = subprocess.run([squid, "-v"], capture_output=True, text=True).stdout
            if "--with-openssl" not in built:
                raise Skipped("squid was built without OpenSSL (package squid-openssl)")
            self.tls.server()
            for name in ("pem", "key"):
                shutil.copy(os.path.join(self.w.folder, f"{self.tls.name}.server.{name}"),
                            self.folder)
            port = (f"https_port 127.0.0.1:{self.port} "
                    f"tls-cert={self.folder}/{self.tls.name}.server.pem "
                    f"tls-key={self.folder}/{self.tls.name}.server.key")
        rules = "http_access deny all\n" if self.refuses else "http_access allow all\n"
        if self.login:
            helper = "/usr/lib/squid/basic_ncsa_auth"
            if not os.path.exists(helper):
                raise Skipped(f"there is no {helper}")
            word = subprocess.run(["openssl", "passwd", "-apr1", PASSWORD], capture_output=True,
                                  text=True, check=True).stdout
            users = self.file("users", f"{USER}:{word}")
            rules = (f"auth_param basic program {helper} {users}\n"
                     "auth_param basic children 1 startup=1\n"
                     "acl known proxy_auth REQUIRED\nhttp_access allow known\n"
                     "http_access deny all\n")
        config = self.file("squid.conf", (
            f"{port}\n{rules}visible_hostname proxy.test\npid_filename {self.folder}/pid\n"
            f"cache_log {self.folder}/log\naccess_log none\ncache_store_log none\n"
            f"hosts_file {self.file('hosts', self.hosts)}\n"
            "cache deny all\ncache_mem 1 MB\npinger_enable off\nnetdb_filename none\n"
            "shutdown_lifetime 0 seconds\nmax_filedescriptors 256\nconnect_timeout 2 seconds\n"))
        self._let_its_user_in()
        return [squid, "-N", "-f", config]

    def _let_its_user_in(self):
        """If started by root, squid continues as another user."""
        if os.geteuid() != 0:
            return
        try:
            owner = pwd.getpwnam("proxy")
        except KeyError:
            raise Skipped("squid's user `proxy` does not exist") from None
        for path in (self.w.setup.folder, self.w.folder):
            os.chmod(path, 0o711)
        for path in (self.folder, *(os.path.join(self.folder, n) for n in os.listdir(self.folder))):
            os.chown(path, owner.pw_uid, owner.pw_gid)


class Nghttpx(Proxy):
    """Speaks HTTP/2 over TLS to the program, and HTTP/1.1 to the server of the scenario."""

    scheme = "https"

    def __init__(self, w, authority, streams=100):
        super().__init__(w)
        self.authority, self.streams = authority, streams

    def command(self):
        base = os.path.join(self.authority.folder, f"{self.authority.name}.server")
        if not os.path.exists(base + ".pem"):
            self.authority.server()
        return [_program("nghttpx"), "--conf=/dev/null", "--workers=1", "--no-ocsp",
                f"--frontend=127.0.0.1,{self.port}", f"--backend=127.0.0.1,{self.w.server.port}",
                f"--frontend-http2-max-concurrent-streams={self.streams}",
                "--backend-read-timeout=10m", "--backend-write-timeout=10m",
                base + ".key", base + ".pem"]

    def connections(self):
        """The number of established connections to its port."""
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table.readlines()[1:]]
        own = f"0100007F:{self.port:04X}"
        return sum(row[1] == own and row[3] == "01" for row in rows)


class Microsocks(Proxy):
    scheme = "socks5"

    def command(self):
        login = ["-u", USER, "-P", PASSWORD] if self.login else []
        return [_program("microsocks"), "-i", "127.0.0.1", "-p", str(self.port), *login]


class Dante(Proxy):
    scheme = "socks5"
    rules = "socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }\n"

    def command(self):
        return [_program("danted"), "-p", f"{self.folder}/pid", "-f", self.file("danted.conf", (
            f"logoutput: stderr\ninternal: 127.0.0.1 port = {self.port}\nexternal: 127.0.0.1\n"
            "socksmethod: none\nclientmethod: none\n"
            f"client pass {{ from: 0.0.0.0/0 to: 0.0.0.0/0 }}\n{self.rules}"))]
