"""A kubeconfig that changes while the program runs."""

import json

from certificates import Authority
from scenario import scenario, status

OLD, NEW = "old-token-of-the-kubeconfig", "new-token-of-the-kubeconfig"


class Kubeconfig:
    """A kubeconfig for a server that accepts one token at a time."""

    def __init__(self, w):
        self.w, self.valid = w, OLD
        self.authority = Authority(w.folder)
        w.serve(tls=self.authority.server())
        self.guard(w.server)
        self.write(w.server.url, OLD)
        w.start("--kubeconfig", w.file("kubeconfig", self.text), "--log-level", "info", url="",
                token=None)

    def guard(self, server):
        server.on("all", status(401, "Unauthorized", "Unauthorized"),
                  when=lambda r: r.headers.get("authorization") != "Bearer " + self.valid)

    def write(self, url, token):
        self.text = json.dumps({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {
                "server": url, "certificate-authority": self.authority.certificate}}],
            "users": [{"name": "u", "user": {"token": token}}]})
        self.w.file("kubeconfig", self.text)


@scenario(factor=20)
def a_new_token(w):
    """The old token is refused, and the kubeconfig has a new one: used at once, without a list."""
    kubeconfig = Kubeconfig(w)
    kubeconfig.write(w.server.url, NEW)
    kubeconfig.valid = NEW
    w.server.end_watches()
    w.change()
    w.settles(8)
    w.at_most(1, "list page")


@scenario(factor=60)
def a_new_token_in_time(w):
    """A new token is used within 70 s, before the old one is refused; the open watch continues."""
    kubeconfig = Kubeconfig(w)
    kubeconfig.write(w.server.url, NEW)
    w.sleep(70)
    w.at_most(1, "watch")
    kubeconfig.valid = NEW
    w.server.end_watches()
    w.change()
    w.settles(8)
    w.at_most(1, "list page")
    w.check(w.server.asked("watch")[-1].headers["authorization"] == "Bearer " + NEW,
            "the old token is used")


@scenario(factor=20)
def the_server_has_moved(w):
    """The server moves to another port, and the kubeconfig names it: found within a minute."""
    kubeconfig = Kubeconfig(w)
    w.server.go_away()
    w.sleep(5)
    other = w.another_server(tls=kubeconfig.authority.server())
    kubeconfig.guard(other)
    kubeconfig.write(other.url, OLD)
    w.change()
    w.settles(60)
    w.logged("kubeconfig .*has changed; the server is " + other.url, at_most=1)
    w.check(other.count("list") >= 1, "the new server got no list request")
    other.stop()


@scenario(factor=20)
def a_broken_kubeconfig(w):
    """The file is incomplete for a while: logged once, no target is lost, and recovery is logged.
    """
    kubeconfig = Kubeconfig(w)
    w.file("kubeconfig", kubeconfig.text[:-40])
    for _ in range(3):
        w.sleep(61)
        w.server.end_watches()
        w.change()
        w.settles(8)
    w.logged("the previous content stays in use", at_most=1)
    kubeconfig.write(w.server.url, OLD)
    w.sleep(61)
    w.server.end_watches()
    w.change()
    w.settles(8)
    w.logged("kubeconfig .*usable again", at_most=1)
    w.at_most(1, "list page")
