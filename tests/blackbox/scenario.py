"""The parts of scenarios: their registry, the world they run in, and their checks."""

import os
import random
import re
import shutil
import signal
import tempfile
import time

from api_server import ApiServer, Exchange
from cluster import Cluster
from modes import ALL, MODES
from program import Program

TOKEN = "Secret-Token-7f3a9C-of-this-Scenario"
MEMORY = 80  # MB, the default limit of a scenario
FRONT = 2.0  # real seconds for TLS and the proxy of Setup.http2, on a busy machine
END = 2.0  # real seconds from SIGTERM to the end, on a busy machine


class Failed(Exception):
    """The program did not behave as the scenario requires."""


# The exit status of other hosts of the library in place of `discover`, which have few options.
NO_SUCH_OPTION = 77


class Skipped(Exception):
    """This machine or this program cannot play the scenario."""


class Scenario:
    def __init__(self, function, topic, name, factor, slow, arguments, mode):
        self.function, self.topic, self.factor, self.slow = function, topic, factor, slow
        self.name = name
        self.arguments = arguments
        self.mode = mode
        self.sentence = " ".join((function.__doc__ or "").split())

    @property
    def title(self):
        return f"{self.topic}/{self.name}@{self.mode}"


SCENARIOS = []


def scenario(factor=20, slow=False, variants=None, modes=ALL, but=None):
    """Registers a function of a World. The program's clock runs `factor` times faster. A `slow`
    one takes more than five real seconds and begins before the others.
    `variants`: {suffix of the name: argument}; the function is played once for each.
    `modes`: names of modes.MODES; it is played in each. `but`: {suffix: other modes}."""
    def register(function):
        topic = function.__module__.rpartition(".")[2]
        name = function.__name__.replace("_", "-")
        given = {"": ()} if variants is None else {
            suffix: (argument,) for suffix, argument in variants.items()}
        for suffix, arguments in given.items():
            title = f"{name}:{suffix}" if suffix else name
            for mode in (but or {}).get(suffix, modes):
                SCENARIOS.append(
                    Scenario(function, topic, title, factor, slow, arguments, mode))
        return function
    return register


class World:
    """A server with three pods, and the program. All times are the program's."""

    def __init__(self, setup, factor, mode, seed=0):
        self.setup = setup
        self.mode = MODES[mode]
        self.factor = factor
        self.random = random.Random(seed)
        self.seed = seed
        self.cluster = Cluster()
        self.folder = tempfile.mkdtemp(prefix="blackbox-", dir=setup.folder)
        self._server = None
        self._front = None
        self.program = None
        self.programs = []
        self.ghosts_allowed = False
        self.expected = {}  # programs that ended as expected, with their status
        self.memory_limit = MEMORY
        self.measured = {}
        self._closers = []
        for name in ("a", "b", "c"):
            self.cluster.put("pods", name)

    # --- setup ----------------------------------------------------------------------------------

    def serve(self, **options):
        """Starts the server with options of ApiServer."""
        self._server = self.another_server(**options)
        return self._server

    def another_server(self, **options):
        """Another server of the same cluster, beside `server`."""
        return ApiServer(self.cluster, self.factor, mode=self.mode, **options)

    @property
    def server(self):
        return self._server or self.serve()

    def file(self, name, text):
        """Replaces the file atomically: readers never see half of it."""
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)
        return path

    def start(self, *arguments, synced=True, within=60, url=None, token=TOKEN, environment=None,
              role="pod"):
        """Starts the program, and waits until it shows the state of the cluster. An empty `url`:
        the arguments name the server."""
        given = ["--output", "json", "--role", role, *self.mode.arguments]
        if url is None:
            given += self._way_to_server()
        elif url:
            given += ["--api-server", url]
        if token is not None:
            given += ["--token-file", self.file("token", token)]
        began = time.monotonic()
        if not self.programs:
            self.server.began = began
        self.program = Program(self.setup.discover, self.setup.fast_clock,
                               [*given, *arguments], self.factor, environment, self.server.began)
        self.programs.append(self.program)
        if self.setup.announces:
            self.program.restart_clock()
            if len(self.programs) == 1:
                self.server.began = self.program.began
        if synced:
            self.settles(within)
            self.until(lambda: self.server.count("watch"), within, "it watches")
        return self.program

    def _way_to_server(self):
        """Options of the program; with Setup.http2 through a proxy that speaks HTTP/2."""
        if not self.setup.http2:
            return ["--api-server", self.server.url]
        if not self._front:
            self._front = self.setup.http2(self).begin()
        return ["--api-server", self._front.url(), "--ca-file", self._front.authority.certificate,
                "--http-version", "2"]

    # --- playing --------------------------------------------------------------------------------

    def now(self):
        return self.program.now()

    def sleep(self, seconds):
        time.sleep(seconds / self.factor)

    def until(self, condition, within, what):
        """Waits until condition() holds; returns the elapsed seconds."""
        began = self.now()
        if not self.program.diffs:
            within += self.mode.delay
        if self._front:
            within += FRONT * self.factor
        while not condition():
            if not self.program.running():
                if self.program.process.returncode == NO_SUCH_OPTION:
                    raise Skipped("the program lacks an option")
                raise Failed(f"the program has ended: status {self.program.process.returncode}")
            if self.program.problems:
                raise Failed(self.program.problems[0])
            if self.now() - began > within:
                raise Failed(f"not within {within} s: {what}")
            with self.program.condition:
                self.program.condition.wait(min(0.02, within / self.factor))
        return self.now() - began

    def after_outage(self, seconds):
        """The limit for the first state after everything has failed before. A stream that is not
        served is then one form of the list: refused, it costs a pause; ignored, 75 s, twice."""
        return seconds + {"refused": 75, "ignored": 225}.get(self.mode.streams, 0)

    def settles(self, within, kind="pods"):
        """Waits until the program shows exactly the state of the cluster."""
        def same():
            return (self.program.diffs and self.program.state(kind) == self.cluster.state(kind))
        try:
            return self.until(same, within, "the program shows the state of the cluster")
        except Failed as failure:
            shown, real = self.program.state(kind), self.cluster.state(kind)
            if not self.program.diffs:
                raise Failed(f"{failure}: it has shown nothing at all") from None
            wrong = sorted(source for source in {*shown, *real}
                           if shown.get(source) != real.get(source))
            raise Failed(f"{failure}; wrong: " + ", ".join(
                f"{source} ({shown.get(source, 'missing')} for {real.get(source, 'deleted')})"
                for source in wrong[:5])) from None

    def spoil_lists(self, answer):
        """Answers the first list this way, in each form that precedes the others."""
        self.server.on("LIST", answer, times=1)
        if self.mode.streams == "served":
            self.server.on("streamed", answer, times=1)

    def watches_again(self, within):
        """Heals the server; from then on a watch must be open and deliver changes."""
        self.server.heal()
        healed = self.now()
        self.until(lambda: self.server.is_followed(healed), within, "it watches again")
        self.change()
        self.settles(10)

    def change(self):
        """A pod changes, one appears, and one of the first three is deleted if any is left."""
        self.cluster.put("pods", "a")
        self.cluster.put("pods", f"new-{self.cluster.version}")
        if ("default", "c") in self.cluster.objects["pods"]:
            self.cluster.delete("pods", "c")

    def check(self, condition, complaint):
        if not condition:
            raise Failed(complaint)

    def at_most(self, count, verbs="list page probe watch streamed", since=0, until=1e12,
                **filters):
        """Allows one more request at the start: a streamed-list request that falls back to a LIST.
        """
        if "streamed" in verbs and not since:
            count += self.mode.asides
        asked = self.server.count(verbs, since, until, **filters)
        self.check(asked <= count, f"{asked} requests ({verbs}) from {since:.0f} s on; "
                                   f"{count} are enough")
        return asked

    def at_most_per_minute(self, count, verbs="list page probe watch streamed", since=0,
                           until=None):
        """At most this many in any minute."""
        times = [request.at for request in self.server.asked(verbs, since, until or 1e12)]
        first = 0
        for last, at in enumerate(times):
            while times[first] < at - 60:
                first += 1
            self.check(last - first + 1 <= count,
                       f"{last - first + 1} requests ({verbs}) in the minute before {at:.0f} s; "
                       f"{count} are enough")

    def logged(self, pattern, since=0, at_most=None, within=0):
        """The log matches the pattern, ignoring case."""
        def found():
            return re.findall(pattern, self.program.log_text(since), re.IGNORECASE)
        if within:
            self.until(found, within, f"the log says /{pattern}/")
        count = len(found())
        self.check(count > 0, f"the log does not say /{pattern}/")
        if at_most is not None:
            self.check(count <= at_most, f"the log says /{pattern}/ {count} times")

    def works_again(self):
        self.logged("works again", within=20)

    def never_logged(self, pattern, since=0):
        found = re.search(pattern, self.program.log_text(since), re.IGNORECASE)
        self.check(not found, f"the log says /{pattern}/")

    def log_lines(self, count, since=0):
        """The log has at most this many lines."""
        lines = len(self.program.log_text(since).splitlines())
        self.check(lines <= count, f"{lines} lines in the log; {count} are enough")

    # --- the end, and invariants of every scenario ----------------------------------------------

    def ends(self, number=signal.SIGTERM, within=END):
        """The signal ends the program with status 0 within this many real seconds."""
        self.expected[self.program] = 0
        memory = self.program.memory()
        status, took = self.program.end(number, 20)
        self.check(status is not None, "the program does not end")
        self.check(status == 0, f"exit status {status}")
        self.check(took <= within * self.setup.slowness, f"it took {took:.1f} real seconds to end")
        self.check(memory <= self.memory_limit * self.setup.memory_factor,
                   f"{memory:.0f} MB of memory")

    def ends_alone(self, code, within=60):
        """The program ends by itself, with this status."""
        self.expected[self.program] = code
        self.check(self.program.wait(within), "the program does not end")
        found = self.program.process.returncode
        self.check(found == code, f"exit status {found}, not {code}")

    def finish(self):
        for program in self.programs:
            self.program = program
            if program not in self.expected:
                if not program.running():
                    raise Failed(f"the program has ended: status {program.process.returncode}")
                self.ends()
            self.check(not program.problems, "; ".join(program.problems))
            self.check(TOKEN.lower() not in program.everything_printed().lower(),
                       "the program's output contains the token")
            if not self.ghosts_allowed:
                self._check_ghosts()
        self.check(not self.server.mistakes, "\n".join(self.server.mistakes[:2]))

    def _check_ghosts(self):
        """The program never showed a state that never existed, and never removed an object that was
        not deleted."""
        for at, diff in self.program.diffs:
            for group in diff["updated"]:
                self.check(group["source"] in self.cluster.known,
                           f"at {at:.0f} s {group['source']} appears, which never existed")
            for source in diff["removed"]:
                self.check(source in self.cluster.removed,
                           f"at {at:.0f} s {source} is removed, which was never deleted")

    def on_close(self, function):
        """Called when the scenario is over, however it ended."""
        self._closers.append(function)

    def close(self):
        for function in self._closers:
            function()
        for program in self.programs:
            if program.running():
                program.process.kill()
            program.process.wait()
        if self._server:
            self._server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def transcript(self):
        """A short account of the events."""
        parts = []
        if self._server:
            parts.append("requests:\n" + _shortened([str(r) for r in self._server.requests]))
        for program in self.programs:
            parts.append("output:\n" + _shortened(
                [f"{at:8.1f} {line.decode('utf-8', 'replace').rstrip()[:160]}"
                 for at, line in program.lines], 12))
            parts.append("log:\n" + _shortened([f"{at:8.1f} {line}" for at, line in program.log]))
        return "\n".join(parts)


def populate(w, names):
    """A pod in each of these namespaces, and none elsewhere."""
    for name in "abc":
        w.cluster.delete("pods", name)
    for ns in names:
        w.cluster.put("pods", "web", ns)


def in_namespaces(names):
    """The arguments for these namespaces."""
    return [argument for name in names for argument in ("--namespace", name)]


def _shortened(lines, most=30):
    if len(lines) > most:
        half = most // 2
        lines = [*lines[:half], f"   ... {len(lines) - 2 * half} lines ...", *lines[-half:]]
    return "\n".join("    " + line for line in lines)


# --- answers shared by many scenarios -----------------------------------------------------------

def status(code, reason="", message="", headers=None, **details):
    return lambda x: x.status(code, reason, message, headers, **details)


def plain(code, body, content_type="text/html", headers=None):
    return lambda x: x.answer(code, body, headers, content_type)


def error_event(code, reason="", message="", **members):
    def answer(x):
        x.head()
        x.error_event(code, reason, message, **members)
        x.end()
    return answer


def silence(x):
    """A head, and then nothing."""
    x.head()
    x.silence()


def no_answer(x):
    x.silence()


def empty(x):
    """A stream that ends as soon as it has begun."""
    x.head()
    x.end()


reset = Exchange.reset
