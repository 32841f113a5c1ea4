"""Names, addresses, TLS, credentials, and the end of the program."""

import json
import os
import signal
import socket
import ssl
import time

from api_server import Exchange
from certificates import Authority
from scenario import Skipped, in_namespaces, no_answer, populate, reset, scenario, silence, status

NAME = "cluster.test"


# --- several addresses --------------------------------------------------------------------------

class DeadAddress:
    """An address without response: its accept queue is full."""

    def __init__(self, address, port):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.waiting = []
        self.listener = socket.socket(family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.listener.bind((address, port))
        except OSError as error:
            raise Skipped(f"{address}: {error}") from None
        self.listener.listen(0)
        for _ in range(3):
            client = socket.socket(family)
            client.setblocking(False)
            client.connect_ex((address, port))
            self.waiting.append(client)
        time.sleep(0.05)


def named(w, addresses, seconds=0):
    """The arguments of start() for a server with that name."""
    return {"url": f"http://{NAME}:{w.server.port}",
            "environment": {"TEST_HOSTS": f"{NAME}={','.join(addresses)}",
                            "TEST_LOOKUP_SECONDS": str(seconds)}}


@scenario(factor=4, variants={"ipv4": "127.0.0.2", "ipv6": "::1"})
def the_first_address_is_dead(w, address):
    """The first address of a name does not respond: the second one is used within a second."""
    dead = DeadAddress(address, w.server.port)
    w.start(**named(w, [address, "127.0.0.1"]), within=8)
    took = w.server.requests[0].at
    w.check(took <= 3, f"connected after {took:.1f} s")
    del dead


@scenario(factor=4)
def two_addresses_are_dead(w):
    """The third address of a name works."""
    dead = [DeadAddress(f"127.0.0.{i}", w.server.port) for i in (2, 3)]
    w.start(**named(w, ["127.0.0.2", "127.0.0.3", "127.0.0.1"]), within=12)
    del dead


@scenario(factor=4)
def the_first_address_refuses(w):
    """The first address of a name refuses connections: the second one is used at once."""
    w.start(**named(w, ["127.0.0.2", "127.0.0.1"]), within=5)


@scenario(factor=10)
def the_first_address_dies_later(w):
    """The first of two addresses works, then dies: the other one is used soon."""
    other = w.another_server(address="127.0.0.2", port=w.server.port)
    w.start(**named(w, ["127.0.0.2", "127.0.0.1"]), synced=False)
    w.until(lambda: w.server.count("watch") + other.count("watch"), 30, "it watches")
    other.go_away()
    dead = DeadAddress("127.0.0.2", w.server.port)
    w.server.end_watches(reset)
    w.change()
    w.settles(15)
    other.stop()
    del dead


@scenario(factor=40)
def all_addresses_are_dead(w):
    """No address responds: the log reports it, and retries connect soon after one works."""
    port = w.server.port
    w.server.stop()
    dead = DeadAddress("127.0.0.1", port)
    w.start(url=f"http://127.0.0.1:{port}", synced=False)
    w.logged("connect|timeout|answer", within=45)
    w.check(not w.program.diffs, "something was shown")
    del dead


@scenario(factor=10)
def lookups_that_are_slow(w):
    """A lookup takes 4 s: sixteen watches do not wait for one another."""
    names = [f"ns-{i}" for i in range(16)]
    populate(w, names)
    w.start(*in_namespaces(names), **named(w, ["127.0.0.1"], 4), synced=False)
    # The second eight lists wait for the first ones, whose streams may be ignored.
    w.settles(40 if w.mode.streams == "ignored" else 20)


@scenario(factor=1)
def the_end_comes_while_a_lookup_hangs(w):
    """A name server that is silent does not delay SIGTERM."""
    w.start(**named(w, ["127.0.0.1"], 60), synced=False)
    w.sleep(0.5)
    w.ends(within=1)


@scenario(factor=20)
def a_name_that_does_not_exist(w):
    """The log names the unknown host, and lookups are repeated with pauses."""
    w.start(url=f"http://nowhere.invalid:{w.server.port}", synced=False)
    w.logged("nowhere.invalid", within=30)
    w.sleep(30)
    w.log_lines(3)


@scenario(factor=10)
def an_ipv6_address_in_the_url(w):
    """http://[::1]:PORT is a server like any other."""
    try:
        w.serve(address="::1")
    except OSError as error:
        raise Skipped(f"::1: {error}") from None
    w.start(url=f"http://[::1]:{w.server.port}")
    w.check(w.server.requests[0].headers["host"] == f"[::1]:{w.server.port}", "the header Host")


@scenario(factor=10)
def a_path_in_the_url(w):
    """A path in the server's URL prefixes all request paths."""
    w.start(url=w.server.url + "/k8s/clusters/c-1/")
    w.check(all(r.target.startswith("/k8s/clusters/c-1/") for r in w.server.requests),
            "the path was lost")


# --- connections --------------------------------------------------------------------------------

@scenario()
def sockets_are_closed_on_exec(w):
    """A host that starts other programs does not leak its connections to them."""
    w.start()
    sockets = w.program.sockets()
    w.check(sockets, "there is no connection")
    w.check(all(flags & os.O_CLOEXEC for flags in sockets.values()),
            "a connection is inherited by children")


@scenario(factor=20, slow=True)
def descriptors_do_not_leak(w):
    """After thirty broken connections the number of descriptors is unchanged."""
    w.start()
    before = len(w.program.sockets())
    for _ in range(30):
        w.server.end_watches(reset)
        w.sleep(3)
    w.change()
    w.settles(75)
    after = len(w.program.sockets())
    w.check(after <= before + 1, f"{after} connections, {before} before")


@scenario()
def an_idle_connection_that_was_closed(w):
    """The server silently closes each connection after a response: this is no failure."""
    def list_and_close(x):
        x.list()
        x.close()
    w.server.on("list page probe", list_and_close)
    w.start(within=10)
    w.log_lines(0)


@scenario(factor=40)
def accepted_and_never_answered(w):
    """The server accepts connections and never responds: given up, reported, tried again."""
    w.server.on("all", no_answer)
    w.start(synced=False)
    w.logged("/api/v1/pods", within=130)
    w.server.heal()
    w.settles(150)


ENDS = {"while-watching": None, "while-a-list-is-silent": ("list", no_answer),
        "while-a-watch-is-silent": ("watch", silence), "in-a-pause": ("list", status(500)),
        "in-a-long-pause": ("list", status(429, headers={"Retry-After": "3000"}))}


@scenario(variants={f"{number.name}-{name}": (number, fault) for name, fault in ENDS.items()
                    for number in (signal.SIGTERM, signal.SIGINT)})
def the_end_comes_at_any_time(w, given):
    """SIGTERM and SIGINT end the program at once with status 0, in any state."""
    number, fault = given
    if fault:
        w.server.on(*fault)
    w.start(synced=False)
    w.until(lambda: w.server.requests, 30, "the first request")
    w.sleep(4)
    w.ends(number, within=1)


@scenario(factor=4)
def the_end_comes_while_connecting(w):
    """The server's machine does not respond: SIGTERM still ends the program."""
    port = w.server.port
    w.server.stop()
    dead = DeadAddress("127.0.0.1", port)
    w.start(url=f"http://127.0.0.1:{port}", synced=False)
    w.sleep(2)
    w.ends(within=1)
    del dead


# --- TLS ----------------------------------------------------------------------------------------

def serve_tls(w, authority=None, **options):
    authority = authority or Authority(w.folder)
    w.serve(tls=authority.server(**options))
    return authority


@scenario(factor=10, variants={"address": ("IP:127.0.0.1", None), "name": (f"DNS:{NAME}", NAME)})
def a_certificate_of_its_authority(w, given):
    """A server with a certificate of the given authority is trusted, by address and by name."""
    names, name = given
    authority = serve_tls(w, names=names)
    more = ["--tls-server-name", name] if name else []
    w.start("--ca-file", authority.certificate, *more)
    w.change()
    w.settles(5)


@scenario(factor=10, variants={"of-another-authority": "authority", "with-another-name": "name",
                               "expired": "expired", "with-another-address": "address"})
def a_wrong_certificate(w, wrong):
    """An invalid certificate is reported, and the token is sent to no server."""
    authority = Authority(w.folder)
    other = Authority(w.folder, "other") if wrong == "authority" else authority
    serve_tls(w, other, days=-1 if wrong == "expired" else 30,
              names={"name": "DNS:another.test", "address": "IP:127.0.0.9"}.get(
                  wrong, "IP:127.0.0.1"))
    w.start("--ca-file", authority.certificate, synced=False)
    w.logged("certificate", within=30)
    w.sleep(20)
    w.check(not w.server.requests, "a request was sent")
    w.check(w.server.connections <= 12, f"{w.server.connections} connections in a minute")


@scenario(factor=10)
def plain_text_where_tls_is_expected(w):
    """The server does not use TLS: reported, and no request is sent in plain text."""
    w.start(url=w.server.url.replace("http:", "https:"), synced=False)
    w.logged("TLS|SSL", within=30)
    w.check(not any("list" == r.verb for r in w.server.requests), "a request was sent")


@scenario(factor=10)
def tls_where_plain_text_is_expected(w):
    """The server accepts TLS only: reported."""
    serve_tls(w)
    w.start(url=w.server.url.replace("https:", "http:"), synced=False)
    w.logged("http|TLS|closed|broke", within=30)


@scenario(factor=20)
def the_authority_changes(w):
    """The authority's file is replaced, and then the server's certificate: the watch continues."""
    old, new = Authority(w.folder, "old"), Authority(w.folder, "new")
    serve_tls(w, old)
    file = w.file("ca.pem", old.text())
    w.start("--ca-file", file)
    w.file("ca.pem", old.text() + new.text())
    w.sleep(5)
    w.server.tls = new.server()
    w.server.end_watches(reset)
    w.change()
    w.settles(30)


@scenario(factor=20, variants={"garbage": "this is no certificate\n", "empty": "",
                               "half": None})
def a_broken_file_of_the_authority(w, text):
    """The authority's file is overwritten with nonsense: the old content stays in use, and the log
    warns once."""
    authority = serve_tls(w)
    file = w.file("ca.pem", authority.text())
    w.start("--ca-file", file)
    w.sleep(3)
    w.file("ca.pem", authority.text()[:200] if text is None else text)
    for _ in range(4):
        w.sleep(10)
        w.server.end_watches(reset)
        w.change()
        w.settles(20)
    w.logged("ca.pem", at_most=1)
    w.file("ca.pem", authority.text())
    w.sleep(3)
    w.server.end_watches(reset)
    w.change()
    w.settles(20)


@scenario(factor=20)
def a_handshake_that_hangs(w):
    """The server accepts a TLS client but never responds: given up, and tried again."""
    authority = Authority(w.folder)
    w.serve()
    w.server.on("all", no_answer)
    tls = authority.server()
    silent, w.server._serve = w.server._serve, lambda sock, number: time.sleep(4)
    w.start("--ca-file", authority.certificate,
            url=w.server.url.replace("http:", "https:"), synced=False)
    w.logged("/api/v1/pods", within=45)
    w.server.heal()
    w.server.tls, w.server._serve = tls, silent
    w.settles(75)


@scenario(factor=10)
def the_end_of_tls_without_a_word(w):
    """A list delimited by the end of the connection, without a TLS close: the list is incomplete.
    """
    authority = serve_tls(w)

    def cut(x):
        x.answer(200, x.list_object(), framing="close")
        x.reset()
    w.server.on("list", cut, times=1)
    w.start("--ca-file", authority.certificate)
    w.server.end_watches(Exchange.close)
    w.change()
    w.settles(15)


@scenario(factor=20)
def a_client_certificate_that_was_rotated(w):
    """The certificate and the key of a kubeconfig are read again for new connections."""
    authority = Authority(w.folder)
    w.serve(tls=authority.server())
    w.server.tls.load_verify_locations(authority.certificate)
    w.server.tls.verify_mode = ssl.CERT_REQUIRED
    names = []
    w.server.on("all", lambda x: (names.append(x.sock.getpeercert()["subject"][0][0][1]),
                                  x.behave()))
    authority.client("first")
    kubeconfig = w.file("kubeconfig", json.dumps({
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": w.server.url,
                                               "certificate-authority": authority.certificate}}],
        "users": [{"name": "u", "user": {
            "client-certificate": os.path.join(w.folder, "client.pem"),
            "client-key": os.path.join(w.folder, "client.key")}}]}))
    w.start("--kubeconfig", kubeconfig, url="", token=None)
    w.check(set(names) == {"first"}, f"{names}")
    authority.client("second")
    w.sleep(5)
    w.server.end_watches(reset)
    w.change()
    w.settles(20)
    w.check(names[-1] == "second", f"{names}")


# --- tokens -------------------------------------------------------------------------------------

class Tokens:
    """The server accepts one token at a time."""

    def __init__(self, w, valid):
        self.w, self.valid = w, valid
        w.server.on("all", status(401, "Unauthorized", "Unauthorized"),
                    when=lambda r: r.headers.get("authorization") != "Bearer " + self.valid)


@scenario(factor=20)
def a_token_that_was_rotated(w):
    """The old token is refused, and the file has a new one: it is used at once."""
    tokens = Tokens(w, "old-token-1")
    w.start(token="old-token-1")
    tokens.valid = "new-token-2"
    w.file("token", "new-token-2")
    w.server.end_watches()
    w.change()
    w.settles(8)
    w.at_most(1, "list page")


@scenario(factor=20)
def a_token_that_many_share(w):
    """Eight watches are refused when the token changes: each is retried once, and at once."""
    names = [f"ns-{i}" for i in range(8)]
    populate(w, names)
    tokens = Tokens(w, "old-token-1")
    w.start(*in_namespaces(names), token="old-token-1")
    w.until(lambda: w.server.count("watch") == 8, 20, "eight watches")
    tokens.valid = "new-token-2"
    w.file("token", "new-token-2")
    began = w.now()
    w.server.end_watches()
    for ns in names:
        w.cluster.put("pods", "web", ns)
    w.settles(10)
    w.at_most(18, since=began)


@scenario(factor=20)
def a_token_that_comes_late(w):
    """The old token is refused, and the new one appears a minute later."""
    tokens = Tokens(w, "old-token-1")
    w.start(token="old-token-1")
    tokens.valid = "new-token-2"
    w.server.end_watches()
    w.sleep(60)
    w.logged("401|credentials|token", at_most=3)
    w.at_most_per_minute(14)
    w.file("token", "new-token-2")
    w.change()
    w.settles(75)


@scenario(factor=60)
def a_token_is_read_again_in_time(w):
    """A new token in the file is used within 70 s, before the old one is refused."""
    w.start(token="old-token-1")
    w.file("token", "new-token-2")
    w.sleep(70)
    w.server.end_watches()
    w.until(lambda: w.server.count("watch") >= 2, 20, "it watches again")
    w.check(w.server.asked("watch")[-1].headers["authorization"] == "Bearer new-token-2",
            "the old token is used")


@scenario(factor=60, variants={"empty": "", "gone": None, "two-lines": "a\nb\n"})
def a_broken_file_of_the_token(w, text):
    """The token file is broken for a while: the last good token stays in use."""
    w.start(token="old-token-1")
    if text is None:
        os.remove(os.path.join(w.folder, "token"))
    else:
        w.file("token", text)
    w.sleep(70)
    w.server.end_watches()
    w.change()
    w.settles(40)


@scenario(factor=60)
def the_file_of_the_token_hangs(w):
    """A FIFO without a writer in place of the token file: the program continues."""
    w.start()
    path = os.path.join(w.folder, "token")
    os.mkfifo(path + ".fifo")
    os.rename(path + ".fifo", path)
    for _ in range(3):
        w.sleep(65)
        w.server.end_watches()
        w.change()
        w.settles(40)


@scenario(factor=20)
def no_token_in_the_clear_for_others(w):
    """Every request has the token from the file, and no other server gets it."""
    w.start(token="  spaces-around-it \n")
    w.change()
    w.settles(5)
    tokens = {r.headers.get("authorization") for r in w.server.requests}
    w.check(tokens == {"Bearer spaces-around-it"}, f"{tokens}")
