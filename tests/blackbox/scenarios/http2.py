"""Requests by HTTP/2 to nghttpx, in front of a server that speaks HTTP/1.1."""

import dataclasses
import functools
import random
import signal

from api_server import Exchange
from certificates import Authority
from real_proxies import Nghttpx
from scenario import in_namespaces, populate, reset, scenario, status
from scenarios import streams as plain_streams
from scenarios.random_servers import change, misbehave

MODES = ("plain", "default")


def start(w, *arguments, streams=100, **options):
    """Starts proxy and program; the proxy is returned."""
    authority = Authority(w.folder)
    proxy = Nghttpx(w, authority, streams).begin()
    w.start("--ca-file", authority.certificate, "--http-version", "2", *arguments,
            url=proxy.url(), **options)
    return proxy


def by_http2(function):
    """A scenario of another topic with the proxy in front of the server."""
    @functools.wraps(function)
    def played(w, *given):
        w.setup = dataclasses.replace(
            w.setup, http2=lambda world: Nghttpx(world, Authority(world.folder)))
        function(w, *given)
    played.__module__ = __name__
    return played


scenario(factor=10, modes=MODES)(by_http2(plain_streams.follows_what_changes))
scenario(factor=10, modes=MODES, variants={"reset": reset, "close": Exchange.close})(
    by_http2(plain_streams.a_stream_ends_in_the_middle_of_an_event))


@scenario(factor=10, modes=MODES, variants={"one-connection": (100, 1), "five-streams": (5, 4)})
def watches_share_connections(w, given):
    """Watches of twelve namespaces share a connection, or a few if a connection has few streams."""
    streams, connections = given
    names = [f"ns-{number}" for number in range(12)]
    populate(w, names)
    proxy = start(w, *in_namespaces(names), streams=streams)
    w.until(lambda: w.server.count("watch") >= len(names), 60, "it watches each namespace")
    found = proxy.connections()
    w.check(found <= connections, f"{found} connections")


@scenario(factor=10, modes=MODES)
def a_reload_of_the_proxy(w):
    """The proxy sends GOAWAY and continues with another process: no list, and nothing is logged."""
    proxy = start(w)
    for _ in range(3):
        proxy.process.send_signal(signal.SIGHUP)
        w.sleep(5)
        w.change()
        w.settles(60)
    w.at_most(1, "list page")
    w.log_lines(0)


@scenario(factor=10, modes=MODES)
def the_proxy_is_away(w):
    """The connection breaks: the watch resumes once the proxy is back."""
    proxy = start(w)
    proxy.kill()
    w.change()
    w.logged("refused", within=60)
    proxy.begin()
    w.settles(120)
    w.at_most(1, "list page")


@scenario(factor=10, modes=MODES, variants={"503": status(503, "Unavailable", "later"),
                                            "401": status(401, "Unauthorized", "who are you"),
                                            "403": status(403, "Forbidden", "no")})
def failures_of_the_server(w, failure):
    """They are reported, and requests are few."""
    start(w)
    w.server.on("all", failure)
    w.server.end_watches()
    began = w.now()
    w.change()
    w.sleep(60)
    w.at_most_per_minute(30, since=began)
    w.check(w.program.log_text(), "nothing is logged")
    w.server.heal()
    w.settles(120)


@scenario(factor=10, modes=("default",))
def many_objects(w):
    """A list of many frames arrives completely."""
    for number in range(3000):
        w.cluster.put("pods", f"many-{number}")
    start(w)
    w.change()
    w.settles(5)
    w.log_lines(0)


@scenario(factor=20, slow=True, modes=MODES, variants={f"seed-{n}": n for n in range(4)})
def gets_there_whatever_the_server_does(w, seed):
    """Random faults for a while, then none: the state is exact, and there were few requests."""
    w.seed, w.random = seed, random.Random(seed)
    start(w, synced=False)
    for phase in range(3):
        misbehave(w, phase)
        w.server.end_watches(w.random.choice((reset, Exchange.end, Exchange.close)))
        for _ in range(2):
            w.sleep(w.random.uniform(2, 15))
            change(w)
    w.server.heal()
    change(w)
    w.settles(1000)
    w.at_most_per_minute(150)
    w.at_most_per_minute(45, "list page")
    w.log_lines(150)
