"""k8s-sd over TLS, with tokens, and for authorised clients only."""

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.parse
import urllib.request
import warnings

from harness import TIMEOUT, file_with, replace_file, run, running

STATIC = """
scrape_configs:
- job_name: one
  static_configs: [{targets: ['10.0.0.1:80']}]
"""


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Authority:
    """A CA of the test."""

    def __init__(self, folder, name):
        self.folder = folder
        self.cert, self.key = self.path(name + ".pem"), self.path(name + ".key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.key, "-out", self.cert, "-days", "2", "-subj", "/CN=" + name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def certificate(self, name, *, usage="serverAuth", days=2, names="", key=None):
        """Paths of a certificate and its key. \param usage  empty: not restricted"""
        cert, own, request = (self.path(name + end) for end in (".pem", ".key", ".csr"))
        extensions = self.path(name + ".ext")
        with open(extensions, "w", encoding="utf-8") as file:
            file.write(f"subjectAltName=IP:127.0.0.1,DNS:localhost{names}\n")
            if usage:
                file.write(f"extendedKeyUsage={usage}\n")
        if key:
            openssl("req", "-new", "-key", key, "-out", request, "-subj", "/CN=" + name)
        else:
            openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", own, "-out", request, "-subj", "/CN=" + name)
        openssl("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key,
                "-CAcreateserial", "-out", cert, "-days", str(days), "-extfile", extensions)
        return cert, key or own


@contextlib.contextmanager
def authority(name="ca"):
    with tempfile.TemporaryDirectory() as folder:
        yield Authority(folder, name)


class Server:
    """A running k8s-sd, and the trust and credentials of its clients."""

    def __init__(self, program):
        url = program.line_with(r"^listens at (https?://.*)$").group(1)
        self.program = program
        self.scheme = urllib.parse.urlsplit(url).scheme
        self.port = urllib.parse.urlsplit(url).port

    def connect(self, ca=None, client=None):
        if self.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        context = ssl.create_default_context(cafile=ca)
        if client:
            context.load_cert_chain(*client)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=TIMEOUT,
                                           context=context)

    def ask(self, path, method="GET", headers=None, **trust):
        """Status and text."""
        with contextlib.closing(self.connect(**trust)) as connection:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def status(self, path, token=None, **options):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.ask(path, headers=headers, **options)[0]

    def raw(self, data):
        """The entire response to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT) as connection:
            connection.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := connection.recv(65536):
                    answer += piece
            return answer

    def certificate(self):
        """The certificate presented to new connections."""
        return ssl.get_server_certificate(("127.0.0.1", self.port)).strip()


@contextlib.contextmanager
def serving(*options):
    with file_with(STATIC, "p.yml") as path, \
            running("k8s-sd", "--listen", "127.0.0.1:0", "--config", path, *options) as program:
        yield Server(program)


@contextlib.contextmanager
def serving_tls(ca, *options, cert=None):
    cert, key = cert or ca.certificate("server")
    with serving("--tls-cert", cert, "--tls-key", key, *options) as server:
        yield server


@contextlib.contextmanager
def few_open_files(soft, hard):
    """Applies to programs started within it."""
    start = subprocess.Popen

    def limited(*arguments, **options):
        return start(*arguments, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (soft, hard)), **options)

    with unittest.mock.patch("subprocess.Popen", limited):
        yield


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


class Tls(unittest.TestCase):
    def test_lists_come_over_tls(self):
        with authority() as ca, serving_tls(ca) as server:
            self.assertEqual(server.scheme, "https")
            status, text = server.ask("/sd/one", ca=ca.cert)
            self.assertEqual(status, 200)
            self.assertIn("10.0.0.1:80", text)

    def test_one_connection_serves_many_requests(self):
        with authority() as ca, serving_tls(ca) as server, \
                contextlib.closing(server.connect(ca=ca.cert)) as connection:
            for _ in range(3):
                connection.request("GET", "/sd/one")
                self.assertEqual(connection.getresponse().read()[:1], b"[")
            self.assertIn(connection.sock.version(), ("TLSv1.2", "TLSv1.3"))

    def test_a_long_list_arrives_whole_however_slowly_it_is_read(self):
        targets = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}:80" for i in range(100_000)]
        text = STATIC.replace("'10.0.0.1:80'", ",".join(f"'{target}'" for target in targets))
        with authority() as ca, file_with(text, "p.yml") as path:
            cert, key = ca.certificate("server")
            with running("k8s-sd", "--listen", "127.0.0.1:0", "--config", path, "--tls-cert", cert,
                         "--tls-key", key) as program:
                server = Server(program)
                with contextlib.closing(server.connect(ca=ca.cert)) as connection:
                    connection.request("GET", "/sd/one")
                    answer = connection.getresponse()
                    body = b""
                    while piece := answer.read(10_000):
                        body += piece
                self.assertEqual(body.count(b":80"), len(targets))

    def test_old_versions_of_tls_are_refused(self):
        with authority() as ca, serving_tls(ca) as server:
            for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
                context = ssl.create_default_context(cafile=ca.cert)
                context.set_ciphers("DEFAULT:@SECLEVEL=0")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    context.minimum_version = context.maximum_version = version
                with self.assertRaises((ssl.SSLError, ConnectionError)), \
                        socket.create_connection(("127.0.0.1", server.port)) as raw:
                    context.wrap_socket(raw, server_hostname="127.0.0.1")
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context = ssl.create_default_context(cafile=ca.cert)
                context.minimum_version = context.maximum_version = version
                with socket.create_connection(("127.0.0.1", server.port)) as raw, \
                        context.wrap_socket(raw, server_hostname="127.0.0.1"):
                    pass

    def test_plain_http_is_reported(self):
        with authority() as ca, serving_tls(ca) as server:
            for method in ("GET", "POST"):
                answer = server.raw(f"{method} /sd/one HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                self.assertTrue(answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer)
                self.assertTrue(answer.endswith(b"this port speaks HTTPS; begin with https://\n"))

    def test_nonsense_ends_a_connection_and_nothing_else(self):
        with authority() as ca, serving_tls(ca) as server:
            for data in (b"\x16\x03\x01\x00\x05hello", b"\0" * 1000, os.urandom(5000)):
                self.assertNotIn(b"HTTP/1.1 200", server.raw(data))
            self.assertEqual(server.status("/sd/one", ca=ca.cert), 200)

    def test_the_program_ends_while_clients_are_silent(self):
        with authority() as ca, serving_tls(ca) as server, \
                contextlib.closing(server.connect(ca=ca.cert)) as idle, \
                socket.create_connection(("127.0.0.1", server.port)):
            idle.connect()
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)


class Renewal(unittest.TestCase):
    def test_a_renewed_certificate_is_noticed_by_itself(self):
        with authority() as ca:
            cert, key = ca.certificate("server")
            other_cert, other_key = ca.certificate("other")
            with serving_tls(ca, cert=(cert, key)) as server, \
                    contextlib.closing(server.connect(ca=ca.cert)) as old:
                old.connect()
                self.assertEqual(server.certificate(), text_of(cert))
                # The key arrives later: until then nothing changes.
                replace_file(cert, text_of(other_cert) + "\n")
                self.assertRegex(server.program.error_line(),
                                 r"the certificates in use stay: .*server\.key holds no usable key, "
                                 r"or not that of .*server\.pem")
                self.assertNotEqual(server.certificate(), text_of(other_cert))
                replace_file(key, text_of(other_key) + "\n")
                self.assertIn("get the renewed certificate of", server.program.error_line())
                self.assertEqual(server.certificate(), text_of(other_cert))
                old.request("GET", "/livez")
                self.assertEqual(old.getresponse().status, 200)

    def test_a_signal_checks_at_once_and_nonsense_changes_nothing(self):
        with authority() as ca:
            cert, key = ca.certificate("server")
            good = text_of(cert)
            with serving_tls(ca, cert=(cert, key)) as server:
                for text in ("", "nonsense\n", good[:len(good) // 2]):
                    replace_file(cert, text)
                    server.program.process.send_signal(signal.SIGHUP)
                    self.assertIn("server.pem holds no usable certificate",
                                  server.program.error_line())
                    self.assertEqual(server.certificate(), good)
                os.remove(cert)
                server.program.process.send_signal(signal.SIGHUP)
                self.assertIn("No such file", server.program.error_line())
                self.assertEqual(server.certificate(), good)


class Ends(unittest.TestCase):
    def test_an_expired_certificate_is_reported_until_it_is_renewed(self):
        with authority() as ca:
            cert, key = ca.certificate("server", days=-1)
            fresh, fresh_key = ca.certificate("fresh")
            with serving_tls(ca, cert=(cert, key)) as server:
                note = r"the certificate of .*server\.pem has expired at .* GMT: clients refuse it"
                self.assertRegex(server.program.error_line(), note)
                trusting = ssl.create_default_context(cafile=ca.cert)
                trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
                ask = lambda path: urllib.request.urlopen(
                    f"https://127.0.0.1:{server.port}{path}", context=trusting).read().decode()
                self.assertRegex(ask("/readyz"), r"^ok\n" + note + "\n$")
                self.assertRegex(json.loads(ask("/api/ui/health"))["notes"][0], note)
                replace_file(cert, text_of(fresh) + "\n")
                server.program.error_line()
                replace_file(key, text_of(fresh_key) + "\n")
                self.assertIn("get the renewed certificate of", server.program.error_line())
                self.assertEqual(ask("/readyz"), "ok\n")

    def test_a_renewal_by_an_expired_certificate_is_reported(self):
        with authority() as ca:
            cert, key = ca.certificate("server")
            old, _ = ca.certificate("server2", days=-1, key=key)
            with serving_tls(ca, cert=(cert, key)) as server:
                replace_file(cert, text_of(old) + "\n")
                self.assertIn("get the renewed certificate of", server.program.error_line())
                self.assertIn("has expired at", server.program.error_line())


class ClientCertificates(unittest.TestCase):
    def test_the_certificate_of_the_server_is_no_client(self):
        with authority() as ca:
            cert = ca.certificate("server", usage="")
            with serving_tls(ca, "--tls-client-ca", ca.cert, cert=cert) as server:
                self.assertRegex(server.program.error_line(),
                                 r"another server with a certificate like .*server\.pem may ask as "
                                 r"a client, for .*ca\.pem vouches for it; use a CA of its own")
                again = ca.certificate("again", usage="", key=cert[1])
                for own in (cert, again):
                    with self.assertRaises((ssl.SSLError, ConnectionError)):
                        server.status("/sd/one", ca=ca.cert, client=own)
                other = ca.certificate("other", usage="")
                self.assertEqual(server.status("/sd/one", ca=ca.cert, client=other), 200)

    def test_a_name_may_be_asked_for(self):
        with authority() as ca:
            agent = lambda name, **more: ca.certificate(name, usage="clientAuth", **more)
            with serving_tls(ca, "--tls-client-ca", ca.cert, "--tls-client-name", "collector",
                             "--tls-client-name", "spiffe://c/agent") as server:
                for client in (agent("collector"), agent("x1", names=",DNS:collector"),
                               agent("x2", names=",URI:spiffe://c/agent"),
                               agent("x3", names=",email:collector")):
                    self.assertEqual(server.status("/sd/one", ca=ca.cert, client=client), 200)
                self.assertEqual(server.status("/sd/one", ca=ca.cert), 200)
                for client in (agent("collector2"), agent("Collector"),
                               agent("x4", names=",DNS:a.collector,DNS:*"),
                               agent("x5", names=",URI:spiffe://c/agent/x")):
                    with self.subTest(client[0]), \
                            self.assertRaises((ssl.SSLError, ConnectionError)):
                        server.status("/sd/one", ca=ca.cert, client=client)

    def test_only_probes_get_through_without_one_where_it_is_required(self):
        with authority() as ca, authority("other-ca") as others:
            agent = ca.certificate("agent", usage="clientAuth")
            with serving_tls(ca, "--tls-client-ca", ca.cert, "--tls-require-client-cert") as server:
                self.assertEqual(server.status("/sd/one", ca=ca.cert, client=agent), 200)
                self.assertEqual(server.status("/livez", ca=ca.cert), 200)
                self.assertEqual(server.ask("/sd/one", ca=ca.cert),
                                 (403, "a client certificate is needed here\n"))
                strangers = {
                    "of another CA": others.certificate("agent", usage="clientAuth"),
                    "for servers": ca.certificate("wrong", usage="serverAuth"),
                }
                for name, stranger in strangers.items():
                    with self.subTest(name), self.assertRaises((ssl.SSLError, ConnectionError)):
                        server.status("/sd/one", ca=ca.cert, client=stranger)

    def test_where_it_is_not_required_others_are_served_as_well(self):
        with authority() as ca:
            agent = ca.certificate("agent", usage="clientAuth")
            with serving_tls(ca, "--tls-client-ca", ca.cert) as server:
                self.assertEqual(server.status("/sd/one", ca=ca.cert, client=agent), 200)
                self.assertEqual(server.status("/sd/one", ca=ca.cert), 200)


class Tokens(unittest.TestCase):
    def test_a_token_is_asked_for_and_may_be_renewed(self):
        with file_with("first\n", "token") as path, \
                serving("--list-token-file", path) as server:
            status, text = server.ask("/sd/one")
            self.assertEqual(status, 401)
            self.assertIn("a token is needed here", text)
            self.assertEqual(server.status("/sd/one", "first"), 200)
            self.assertEqual(server.status("/livez"), 200)
            self.assertEqual(server.status("/metrics"), 200)
            replace_file(path, "second\n")
            end = time.monotonic() + TIMEOUT
            while server.status("/sd/one", "second") != 200:
                self.assertLess(time.monotonic(), end)
            self.assertEqual(server.status("/sd/one", "first"), 401)
            self.assertEqual(server.status("/-/reload", "first", method="POST"), 401)
            self.assertEqual(server.status("/-/reload", "second", method="POST"), 200)

    def test_no_token_is_written_anywhere(self):
        with file_with("k33p-it\n", "token") as path, \
                serving("--list-token-file", path) as server:
            texts = [server.ask("/sd/one", headers={"Authorization": value})[1]
                     for value in ("Bearer k33p-i", "Bearer k33p-it", "Basic azMzcC1pdA==")]
            texts.append(server.ask("/metrics")[1])
            server.program.process.send_signal(signal.SIGTERM)
            texts.extend(server.program.process.communicate())
            self.assertNotIn("k33p", "".join(texts))

    def test_pages_of_other_servers_are_kept_out(self):
        with serving() as server:
            host = f"127.0.0.1:{server.port}"
            reload = lambda **headers: server.ask("/-/reload", method="POST", headers=headers)
            self.assertEqual(reload(Origin="http://evil.example"),
                             (403, "pages of other servers may not do this\n"))
            self.assertEqual(reload(Origin="http://" + host)[0], 200)
            self.assertEqual(server.ask("/sd/one", headers={"Host": "evil.example"}),
                             (403, "evil.example is no name of this server; --allow-host makes it "
                                   "one\n"))
            self.assertEqual(server.ask("/sd/one", headers={"Host": "localhost:1"})[0], 200)
            self.assertEqual(server.ask("/livez", headers={"Host": "evil.example"})[0], 200)


class Requests(unittest.TestCase):
    def test_what_can_be_read_in_two_ways_ends_the_connection(self):
        hidden = b"GET /sd/one HTTP/1.1\r\nHost: localhost\r\n\r\n"
        head = b"POST /-/reload HTTP/1.1\r\nHost: localhost\r\n"
        chunks = b"5\r\nhello\r\n0\r\n\r\n"
        refused = {
            head + b"Transfer-Encoding: xchunked\r\n\r\n" + chunks: 400,
            head + b"Transfer-Encoding: chunked, identity\r\n\r\n" + chunks: 400,
            head + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks: 501,
            head + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + chunks: 400,
            head.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + chunks: 400,
            head + b"Host: localhost\r\n\r\n": 400,
            head + b"X: a\r\n b\r\n\r\n": 400,
            head + b"Expect: nothing\r\n\r\n": 417,
            b"GET /sd/one HTTP/1.1\r\n\r\n": 400,
            b"GET /sd/one HTTP/1.1\r\nHost:\r\n\r\n": 400,
            b"GET /sd/one HTTP/1.1\r\nHost: localhost:8080@evil\r\n\r\n": 400,
        }
        with serving() as server:
            for request, status in refused.items():
                with self.subTest(request):
                    answer = server.raw(request + hidden)
                    self.assertTrue(answer.startswith(b"HTTP/1.1 %d " % status), answer)
                    self.assertEqual(answer.count(b"HTTP/1.1 "), 1, answer)
                    self.assertIn(b"\r\nConnection: close\r\n", answer)
                    self.assertIn(b"\r\nDate: ", answer)

    def test_the_host_of_an_absolute_target_is_the_one_that_counts(self):
        with serving() as server:
            def status(target, host):
                answer = server.raw(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n"
                                    "Connection: close\r\n\r\n".encode())
                return int(answer.split()[1])
            self.assertEqual(status("http://localhost:8080/sd/one", "evil.example"), 200)
            self.assertEqual(status("http://localhost", "localhost"), 200)
            self.assertEqual(status("http://evil.example/sd/one", "localhost"), 403)
            self.assertEqual(status("http://evil.example/livez", "localhost"), 200)
            self.assertEqual(status("http://localhost@evil.example/sd/one", "localhost"), 400)
            self.assertEqual(status("http:///sd/one", "localhost"), 400)

    def test_fields_behind_a_body_are_no_headers(self):
        with file_with("s3cret\n", "token") as path, serving("--list-token-file", path) as server:
            answer = server.raw(b"POST /-/reload HTTP/1.1\r\nHost: localhost\r\n"
                                b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                                b"0\r\nAuthorization: Bearer s3cret\r\n\r\n")
            self.assertTrue(answer.startswith(b"HTTP/1.1 401 "), answer)

    def test_a_client_that_waits_to_send_a_body_receives_100_continue(self):
        with serving() as server, \
                socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as client:
            client.sendall(b"POST /-/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                           b"Expect: 100-continue\r\n\r\n")
            self.assertEqual(client.recv(1000), b"HTTP/1.1 100 Continue\r\n\r\n")
            client.sendall(b"x")
            self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n"))


class Metrics(unittest.TestCase):
    def test_who_is_refused_is_counted(self):
        with authority() as ca, file_with("token", "token") as path, \
                serving_tls(ca, "--list-token-file", path) as server:
            metric = lambda name: int(re.search(
                rf"^k8s_sd_program_{re.escape(name)} (\d+)$", server.ask("/metrics", ca=ca.cert)[1],
                re.MULTILINE).group(1))
            server.status("/sd/one", ca=ca.cert)
            server.status("/sd/one", "wrong", ca=ca.cert)
            server.ask("/sd/one", headers={"Host": "evil.example"}, ca=ca.cert)
            self.assertEqual(metric('refused_requests_total{code="401"}'), 2)
            self.assertEqual(metric('refused_requests_total{code="403"}'), 1)
            left = metric("certificate_end_timestamp_seconds") - time.time()
            self.assertTrue(86_400 < left <= 2 * 86_400, left)
            self.assertEqual(metric("refused_connections_total"), 0)

    def test_who_is_beyond_a_limit_is_counted(self):
        with serving("--max-connections", 2) as server:
            with contextlib.ExitStack() as clients:
                for _ in range(2):
                    client = clients.enter_context(contextlib.closing(server.connect()))
                    client.request("GET", "/v1/watch?job=one")
                    stream = clients.enter_context(client.getresponse())
                    self.assertEqual(stream.status, 200)
                self.assertTrue(server.raw(b"").startswith(b"HTTP/1.1 503 "))
            while (answer := server.ask("/metrics"))[0] == 503:  # until the streams have ended
                pass
            self.assertRegex(text := answer[1],
                             r"\nk8s_sd_program_refused_connections_total [1-9]\d*\n")
            self.assertNotIn("certificate", text)

    def test_clients_without_a_token_keep_no_place_from_a_probe(self):
        with file_with("token", "token") as path, \
                serving("--list-token-file", path, "--max-connections", 2) as server, \
                contextlib.ExitStack() as stack:
            for _ in range(4):
                refused = stack.enter_context(contextlib.closing(server.connect()))
                refused.request("GET", "/sd/one")
                self.assertEqual(refused.getresponse().status, 401)
            self.assertEqual(server.status("/livez"), 200)


class CommandLine(unittest.TestCase):
    def test_unusable_files_and_options_are_said_at_the_start(self):
        with authority() as ca, file_with("\n", "token") as empty:
            cert, key = ca.certificate("server")
            _, other_key = ca.certificate("other")
            table = {
                ("--tls-cert", cert): "--tls-cert: needs --tls-key FILE",
                ("--tls-client-ca", cert): "--tls-client-ca: needs --tls-cert FILE",
                ("--tls-client-name", "a"): "--tls-client-name: needs --tls-client-ca FILE",
                ("--tls-require-client-cert",):
                    "--tls-require-client-cert: needs --tls-client-ca FILE",
                ("--tls-cert", cert, "--tls-key", "/nonexistent"):
                    "--tls-key: cannot read the file",
                ("--tls-cert", cert, "--tls-key", other_key): "or not that of",
                ("--tls-cert", key, "--tls-key", key): "holds no usable certificate",
                ("--tls-cert", cert, "--tls-key", key, "--tls-client-ca", key):
                    "server.key holds no certificate",
                ("--list-token-file", empty): "has no token",
                ("--listen", "no such host:1"): "--listen: there is no address of no such host",
                ("--listen", "::1:8080"): "--listen: must be ADDRESS:PORT",
            }
            for arguments, message in table.items():
                with self.subTest(arguments=arguments):
                    result = run("k8s-sd", "--sim", *arguments)
                    self.assertEqual(result.returncode, 2)
                    self.assertIn(message, result.stderr)

    def test_a_key_with_a_password_prompts_for_none(self):
        with authority() as ca:
            cert, key = ca.certificate("server")
            locked = ca.path("locked.key")
            openssl("ec", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked)
            result = run("k8s-sd", "--sim", "--tls-cert", cert, "--tls-key", locked)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stderr, f"k8s-sd: {locked} must have no password\n")

    def test_as_many_connections_are_admitted_as_files_may_be_open(self):
        with few_open_files(soft=300, hard=500), serving("--max-connections", 1000) as server:
            self.assertEqual(server.program.error_line(),
                             "k8s-sd: as few files may be open, there is room for 300 connections, "
                             "not 1000; see ulimit -n")
            with contextlib.ExitStack() as clients:
                for _ in range(300):
                    client = clients.enter_context(contextlib.closing(server.connect()))
                    client.request("GET", "/livez")
                    client.getresponse().read()
                # The oldest one makes room.
                text = server.ask("/metrics")[1]
                self.assertIn("\nk8s_sd_program_connections 300\n", text)
                self.assertIn("\nk8s_sd_program_refused_connections_total 1\n", text)

    def test_names_of_hosts_may_be_listened_at(self):
        with running("k8s-sd", "--sim", "--listen", "localhost:0") as program:
            self.assertEqual(Server(program).status("/livez"), 200)


if __name__ == "__main__":
    unittest.main()
