"""Kubeconfig users with credentials from an exec program."""

import json
import os
import ssl
import time

from certificates import Authority
from scenario import TOKEN, in_namespaces, populate, scenario, status
from scenarios.connecting import Tokens

# Every scenario fails if the program's output contains TOKEN.
VERSION = "client.authentication.k8s.io/v1"


class Login:
    """A program that prints the content of the file `answer`, a kubeconfig with an exec user of
    this program, and a TLS server: without TLS, kubeconfig credentials are not sent."""

    def __init__(self, w, text="", **members):
        self.w = w
        self.authority = Authority(w.folder)
        w.serve(tls=self.authority.server())
        self.runs_file = os.path.join(w.folder, "runs")
        self.write(text)
        self.config = {"apiVersion": VERSION, "command": os.path.join(w.folder, "login"),
                       "interactiveMode": "IfAvailable", **members}

    def write(self, text=""):
        """Writes the shell script, which records each run and its process ID."""
        path = self.w.file("login", f"#!/bin/sh\necho $$ >> {self.runs_file}\n{text}\n"
                                    f"cat {self.w.folder}/answer\n")
        os.chmod(path, 0o700)

    def issue(self, **members):
        """`lifetime`: seconds of the program's clock."""
        lifetime = members.pop("lifetime", None)
        if lifetime is not None:
            began = self.w.server.began
            now = time.time() + (time.monotonic() - began) * (self.w.factor - 1)
            members["expirationTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                           time.gmtime(now + lifetime))
        self.w.file("answer", json.dumps(
            {"kind": "ExecCredential", "apiVersion": VERSION, "status": members}))

    def start(self, *arguments, **options):
        path = self.w.file("kubeconfig", json.dumps({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {
                "server": self.w.server.url,
                "certificate-authority": self.authority.certificate}}],
            "users": [{"name": "u", "user": {"exec": self.config}}]}))
        return self.w.start("--kubeconfig", path, *arguments, url="", token=None, **options)

    def runs(self):
        """The process IDs of the runs."""
        try:
            with open(self.runs_file, encoding="ascii") as file:
                return file.read().split()
        except OSError:
            return []


def is_running(number):
    """Ignores a process that has ended but was not reaped yet."""
    try:
        with open(f"/proc/{number}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def bearers(w):
    return [r.headers.get("authorization") for r in w.server.requests]


@scenario(factor=20)
def many_watches_share_one_run(w):
    """Ten watches begin: the program runs once."""
    names = [f"ns-{i}" for i in range(10)]
    populate(w, names)
    login = Login(w)
    login.issue(token=TOKEN)
    login.start(*in_namespaces(names))
    w.until(lambda: w.server.count("watch") == 10, 20, "ten watches")
    w.check(len(login.runs()) == 1, f"{len(login.runs())} runs")
    w.check(set(bearers(w)) == {"Bearer " + TOKEN}, "the token is not used")


@scenario(factor=60)
def a_token_is_renewed_before_it_expires(w):
    """A token lives for five minutes: it is renewed earlier, and no watch is dropped."""
    login = Login(w)
    w.server.began = time.monotonic()
    login.issue(token="token-of-the-beginning-1", lifetime=300)
    login.start()
    login.issue(token="token-of-later-times-2", lifetime=3600)
    w.sleep(285)
    w.check(len(login.runs()) == 1, "it ran without a request")
    w.server.end_watches()
    w.change()
    w.settles(20)
    w.check(len(login.runs()) == 2, f"{len(login.runs())} runs")
    w.check(bearers(w)[-1] == "Bearer token-of-later-times-2", "the old token is used")
    w.at_most(1, "list page")


@scenario(factor=20)
def a_token_that_is_refused(w):
    """The server refuses the token: the program runs once for eight watches, and its new token is
    used at once."""
    names = [f"ns-{i}" for i in range(8)]
    populate(w, names)
    login = Login(w)
    tokens = Tokens(w, "old-token-of-program-1")
    login.issue(token="old-token-of-program-1")
    login.start(*in_namespaces(names))
    w.until(lambda: w.server.count("watch") == 8, 20, "eight watches")
    w.sleep(15)
    tokens.valid = "new-token-of-program-2"
    login.issue(token="new-token-of-program-2")
    w.server.end_watches()
    for ns in names:
        w.cluster.put("pods", "web", ns)
    w.settles(15)
    w.check(len(login.runs()) == 2, f"{len(login.runs())} runs")


@scenario(factor=60)
def a_token_that_is_always_refused(w):
    """Each new token is refused: few runs, few requests, and the log has the server's message."""
    login = Login(w)
    w.server.on("all", status(401, "Unauthorized", "Unauthorized"))
    login.issue(token=TOKEN)
    login.start(synced=False)
    w.sleep(300)
    w.logged("401", at_most=6)
    w.check(3 <= len(login.runs()) <= 9, f"{len(login.runs())} runs in five minutes")
    w.at_most_per_minute(14)


@scenario(factor=20)
def a_program_that_hangs(w):
    """It is killed after 30 s and reported; runs are rare, and the fixed program works at once."""
    login = Login(w, f"echo {TOKEN}; sleep 10000 & sleep 10000")
    login.issue(token=TOKEN)
    login.start(synced=False)
    w.logged("did not end in 30 s", within=45)
    w.sleep(150)
    w.check(2 <= len(login.runs()) <= 5, f"{len(login.runs())} runs in three minutes")
    w.log_lines(6)
    login.write()
    w.settles(w.after_outage(150))
    for number in login.runs():
        w.check(not is_running(number), "a process was left behind")


@scenario(factor=60)
def a_program_that_is_missing(w):
    """The log has its name and the hint; it is searched rarely, and used when it appears."""
    login = Login(w, installHint="Install it with: apt-get install login-of-cloud")
    login.issue(token=TOKEN)
    there = login.config["command"]
    os.rename(there, there + ".away")
    login.start(synced=False)
    w.logged("there is no such program.*Install it with: apt-get install login-of-cloud", within=20)
    w.logged("exec .*/login", at_most=6)
    w.sleep(300)
    w.log_lines(8)
    os.rename(there + ".away", there)
    w.settles(w.after_outage(100))
    w.check(len(login.runs()) == 1, f"{len(login.runs())} runs")


FAILURES = {
    "it-shows-the-token": f"echo 'no login for {TOKEN}' >&2; exit 3",
    "garbage": f"echo {TOKEN}; exit 0",
    "half-an-answer": "head -c 60 $0.answer; exit 0",
    "ten-megabytes": f"yes {TOKEN} | head -c 10000000; exit 0",
    "a-signal": f"echo {TOKEN} >&2; kill -9 $$",
    "another-version": "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": "
                       "\"client.authentication.k8s.io/v1alpha1\", \"status\": "
                       f"{{\"token\": \"{TOKEN}\"}}}}'; exit 0",
    "an-environment-that-is-printed": "env >&2; exit 1",
}


@scenario(factor=60, variants=FAILURES)
def a_program_that_fails(w, text):
    """Reported without secrets, in few lines; recovers when the program does."""
    login = Login(w, text, env=[{"name": "LOGIN_SECRET", "value": TOKEN}])
    login.issue(token=TOKEN)
    os.symlink(os.path.join(w.folder, "answer"), login.config["command"] + ".answer")
    login.start(synced=False)
    w.logged("exec .*/login: (it|what)", within=40)
    w.sleep(120)
    w.log_lines(6)
    w.check(2 <= len(login.runs()) <= 6, f"{len(login.runs())} runs in two minutes")
    login.write()
    w.settles(w.after_outage(200))


@scenario(factor=20)
def a_program_that_leaves_a_child(w):
    """A child of the program keeps its output open: the host does not wait, and the child is
    killed."""
    login = Login(w, f"sleep 10000 &\necho $! > {w.folder}/child")
    login.issue(token=TOKEN)
    login.start(within=10)
    with open(os.path.join(w.folder, "child"), encoding="ascii") as file:
        child = file.read().strip()
    w.until(lambda: not is_running(child), 20, "the child has ended")


@scenario(factor=1)
def the_end_comes_while_a_program_hangs(w):
    """SIGTERM ends the program at once, and the plugin with it."""
    login = Login(w, "sleep 10000")
    login.start(synced=False)
    w.until(login.runs, 5, "the plugin runs")
    number = login.runs()[0]
    w.ends(within=1)
    time.sleep(0.2)
    w.check(not is_running(number), "the plugin was left behind")


@scenario(factor=20)
def a_client_certificate_of_a_program(w):
    """New connections use the certificate that the program printed last."""
    login = Login(w)
    authority = login.authority
    w.server.tls.load_verify_locations(authority.certificate)
    w.server.tls.verify_mode = ssl.CERT_REQUIRED
    names = []
    w.server.on("all", lambda x: (names.append(x.sock.getpeercert()["subject"][0][0][1]),
                                  x.behave()))

    def issue(name, lifetime):
        authority.client(name)
        texts = {}
        for member, file in (("clientCertificateData", "client.pem"),
                             ("clientKeyData", "client.key")):
            with open(os.path.join(w.folder, file), encoding="ascii") as pem:
                texts[member] = pem.read()
        login.issue(**texts, lifetime=lifetime)
    w.server.began = time.monotonic()
    issue("first", 60)
    login.start()
    w.check(set(names) == {"first"}, f"{names}")
    issue("second", 3600)
    w.sleep(60)
    w.server.end_watches()
    w.change()
    w.settles(20)
    w.check(names[-1] == "second", f"{names}")
    w.at_most(1, "list page")
