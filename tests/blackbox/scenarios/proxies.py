"""Connections through Debian's proxies; skipped if they are not installed."""

from api_server import Exchange
from certificates import Authority
from real_proxies import PASSWORD, USER, Dante, Microsocks, Squid, Tinyproxy, free_port
from scenario import in_namespaces, populate, scenario

NAME = "cluster.test"

KINDS = {
    "tinyproxy": lambda w, login: Tinyproxy(w, login),
    "squid": lambda w, login: Squid(w, login),
    "squid-https": lambda w, login: Squid(w, login, tls=Authority(w.folder, "proxy-authority")),
    "microsocks": lambda w, login: Microsocks(w, login),
    "dante": lambda w, login: Dante(w, login),
}
# dante only accepts users of the machine.
WITH_LOGIN = {name: make for name, make in KINDS.items() if name != "dante"}


def secure_server(w):
    """An https server; returns the options to trust it."""
    authority = Authority(w.folder)
    w.serve(tls=authority.server())
    return authority


def trust(w, authority, proxy):
    """One file with the authorities of the server and of the proxy."""
    text = authority.text()
    if getattr(proxy, "tls", None):
        text += proxy.tls.text()
    return ["--ca-file", w.file("trusted.pem", text)]


def start(w, make, login, synced=True, **credentials):
    """Starts server, proxy and program; the proxy is returned."""
    authority = secure_server(w)
    proxy = make(w, login)
    proxy.begin()
    w.start(*trust(w, authority, proxy), "--proxy", proxy.url(**credentials), synced=synced)
    return proxy


def nothing_of_it_is_logged(w):
    for program in w.programs:
        w.check(PASSWORD not in program.everything_printed(), "the proxy's password is printed")


def is_the_way(w, proxy):
    """Without the proxy there is no connection."""
    proxy.kill()
    w.logged(f"refused by the proxy {proxy.shown()}", within=60)
    nothing_of_it_is_logged(w)


@scenario(factor=10, slow=True, variants=KINDS)
def a_server_is_reached(w, make):
    """Lists and watches go through the proxy, and changes arrive."""
    proxy = start(w, make, login=False)
    w.change()
    w.settles(10)
    is_the_way(w, proxy)


@scenario(factor=10, slow=True, variants=WITH_LOGIN)
def a_server_is_reached_with_credentials(w, make):
    """The proxy requires the user and password from its URL."""
    proxy = start(w, make, login=True)
    w.change()
    w.settles(10)
    is_the_way(w, proxy)


@scenario(factor=10, slow=True, variants=WITH_LOGIN)
def wrong_credentials_are_reported(w, make):
    """The proxy refuses the password: reported without it, and the server gets no request."""
    proxy = start(w, make, login=True, synced=False, password="Another-Word-of-Nobody")
    w.logged(f"the proxy {proxy.shown()} does not accept the user and password of its URL",
           within=30)
    w.sleep(60)
    w.log_lines(4)
    w.at_most(0)
    w.check("Another-Word-of-Nobody" not in w.program.everything_printed(), "it is printed")


@scenario(factor=10, slow=True, variants=WITH_LOGIN)
def missing_credentials_are_reported(w, make):
    """The proxy requires credentials, but its URL has none."""
    proxy = start(w, make, login=True, synced=False, with_login=False)
    w.logged(f"the proxy {proxy.shown()} demands credentials.*user:password@", within=30)
    w.at_most(0)


@scenario(factor=10, slow=True, variants=KINDS)
def a_proxy_that_dies_comes_back(w, make):
    """The proxy dies during a watch: no target is dropped, and the watch recovers with the proxy.
    """
    proxy = start(w, make, login=False)
    proxy.kill()
    w.logged(f"the proxy {proxy.shown()}", within=60)
    w.check(not w.program.removals(), "something was removed")
    w.change()
    w.sleep(30)
    proxy.begin()
    w.settles(75)
    w.works_again()


@scenario(factor=10, variants=KINDS)
def a_proxy_that_is_down(w, make):
    """The proxy's port is closed: reported as the proxy's failure, and used once it is open."""
    authority = secure_server(w)
    proxy = make(w, False)
    proxy.command()
    w.start(*trust(w, authority, proxy), "--proxy", proxy.url(), synced=False)
    w.logged(f"connection refused by the proxy {proxy.shown()}", within=20)
    proxy.begin()
    w.settles(75)


@scenario(factor=10, slow=True, variants=KINDS)
def a_server_behind_a_proxy_that_is_down(w, make):
    """The proxy works and the server does not: reported as the server's failure."""
    authority = Authority(w.folder)
    proxy = make(w, False)
    proxy.begin()
    port = free_port()
    w.start(*trust(w, authority, proxy), "--proxy", proxy.url(), url=f"https://127.0.0.1:{port}",
            synced=False)
    w.logged(f"the proxy {proxy.shown()} cannot (reach|connect to) 127.0.0.1:{port}", within=60)


@scenario(factor=10, variants={"tinyproxy": Tinyproxy, "squid": Squid, "dante": Dante})
def a_proxy_that_forbids_it(w, kind):
    """The proxy's rules forbid the server: reported with host and port."""
    authority = secure_server(w)
    proxy = kind(w)
    proxy.ports = "ConnectPort 1\n"
    proxy.refuses = True
    proxy.rules = "socks block { from: 0.0.0.0/0 to: 0.0.0.0/0 }\n"
    proxy.begin()
    w.start(*trust(w, authority, proxy), "--proxy", proxy.url(), synced=False)
    w.logged(f"the proxy {proxy.shown()} (refuses a connection|cannot connect) to "
           f"127.0.0.1:{w.server.port}.*rules", within=30)


@scenario(factor=10)
def a_server_of_plain_http(w):
    """CONNECT also reaches a plain http server."""
    proxy = Tinyproxy(w).begin()
    w.start("--proxy", proxy.url())
    w.check(w.server.requests[0].target.startswith("/api/v1/"), "the proxy changed the request")
    is_the_way(w, proxy)


@scenario(factor=10)
def a_proxy_of_an_unknown_authority(w):
    """An untrusted certificate of an https proxy is reported as the proxy's, not the server's."""
    authority = secure_server(w)
    proxy = KINDS["squid-https"](w, False)
    proxy.begin()
    w.start("--ca-file", authority.certificate, "--proxy", proxy.url(), synced=False)
    w.logged("certificate of the proxy 127.0.0.1 .*is not trusted", within=30)
    w.at_most(0)


@scenario(factor=10, variants={"http": "https", "https": "http"})
def a_proxy_of_the_other_scheme(w, scheme):
    """https to an http proxy, or vice versa: reported."""
    authority = secure_server(w)
    proxy = KINDS["squid-https" if scheme == "http" else "squid"](w, False)
    proxy.begin()
    proxy.scheme = scheme
    w.start(*trust(w, authority, proxy), "--proxy", proxy.url(), synced=False)
    w.logged(f"the proxy {proxy.shown()} (does not speak TLS|does not speak HTTP|closed|cannot"
           "|answers|broke)", within=30)


def behind_squid(w):
    """A server name that squid can resolve as well."""
    authority = Authority(w.folder)
    w.serve(tls=authority.server(f"DNS:{NAME},DNS:direct.test"))
    proxy = Squid(w)
    proxy.hosts = f"127.0.0.1 {NAME}\n"
    proxy.begin()
    return authority, proxy, {"TEST_HOSTS": "direct.test=127.0.0.1"}


@scenario(factor=10)
def the_environment_names_the_proxy(w):
    """HTTPS_PROXY leads to a server with a name known to the proxy alone."""
    authority, proxy, environment = behind_squid(w)
    w.start("--ca-file", authority.certificate, "--proxy-from-environment",
            url=f"https://{NAME}:{w.server.port}",
            environment={**environment, "HTTPS_PROXY": f"127.0.0.1:{proxy.port}"})
    is_the_way(w, proxy)


@scenario(factor=10)
def the_environment_makes_exceptions(w):
    """NO_PROXY: the server is contacted directly."""
    authority, proxy, environment = behind_squid(w)
    proxy.kill()
    w.start("--ca-file", authority.certificate, "--proxy-from-environment",
            url=f"https://direct.test:{w.server.port}",
            environment={**environment, "HTTPS_PROXY": f"127.0.0.1:{proxy.port}",
                         "NO_PROXY": ".example,direct.test"})


@scenario(factor=10)
def the_environment_does_not_matter(w):
    """Without the option, HTTPS_PROXY is ignored; a loopback address needs no proxy anyway."""
    w.start(environment={"HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"})


@scenario(factor=10)
def many_watches_through_one_proxy(w):
    """Eight namespaces, all through the proxy; cutting all connections there costs no list."""
    names = [f"ns-{i}" for i in range(8)]
    populate(w, names)
    authority = secure_server(w)
    proxy = Squid(w).begin()
    w.start(*in_namespaces(names),
            *trust(w, authority, proxy), "--proxy", proxy.url())
    w.until(lambda: w.server.count("watch") == 8, 20, "eight watches")
    w.server.end_watches(Exchange.reset)
    for ns in names:
        w.cluster.put("pods", "web", ns)
    w.settles(20)
    w.check(USER not in w.program.everything_printed(), "a user is printed")
