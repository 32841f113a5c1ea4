"""The output of discover on a terminal, with colours and a limited width."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata
import unittest

from cluster_profiles import simulated_hub
from harness import (TIMEOUT, JsonHandler, SilentHandler, command, environment, file_with, run,
                     server_with)

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CLEAR_LINE = "\r\x1b[K"


class OnTerminal:
    """A program whose output is a terminal with this many columns."""

    def __init__(self, program, *arguments, width=100, variables=None):
        self.master, slave = pty.openpty()
        self.resize(width)
        self.process = subprocess.Popen(
            command(program, arguments), stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
            env={**environment(), "TERM": "xterm", "NO_COLOR": "", **(variables or {})})
        os.close(slave)
        self.text = ""

    def resize(self, width):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))

    def read_until(self, pattern):
        """The entire output up to the pattern."""
        deadline = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.text):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {pattern} in {self.text!r}")
            if not self._read():
                raise AssertionError(f"ended without {pattern}: {self.text!r}")
        return self.text

    def read_all(self):
        while self._read():
            pass
        self.status = self.process.wait(TIMEOUT)
        return self.text

    def _read(self):
        try:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            data = os.read(self.master, 65536) if ready else None
        except OSError:  # the last one has closed the terminal
            return False
        if data is None:
            return True
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@contextlib.contextmanager
def on_terminal(*arguments, **options):
    instance = OnTerminal(*arguments, **options)
    try:
        yield instance
    finally:
        instance.close()


def shown(program, *arguments, **options):
    """The entire output of a program until it ends."""
    with on_terminal(program, *arguments, **options) as terminal:
        return terminal.read_all()


def lines_of(text):
    """The lines that stay on the screen, without colours."""
    lines = COLOUR.sub("", text).replace("\r\n", "\n").split("\n")
    return [line.rpartition(CLEAR_LINE)[2] for line in lines]


def width_of(line):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide


class Colours(unittest.TestCase):
    ONCE = ("discover", "--sim", "--once")

    def test_a_terminal_has_colours(self):
        self.assertRegex(shown(*self.ONCE), COLOUR)

    def test_whoever_wants_none_has_none(self):
        for variables, arguments in (({"NO_COLOR": "1"}, []), ({"TERM": "dumb"}, []),
                                     ({"TERM": ""}, []), ({}, ["--color", "never"])):
            with self.subTest(variables=variables, arguments=arguments):
                text = shown(*self.ONCE, *arguments, variables=variables)
                without_cursor = "TERM" in variables
                self.assertNotIn("\x1b[", text if without_cursor else text.replace(CLEAR_LINE, ""))

    def test_a_terminal_without_a_cursor_gets_no_line_of_progress(self):
        text = shown("discover", "--timeout", "0.7", "--api-server", "http://127.0.0.1:1",
                     variables={"TERM": "dumb"})
        self.assertIn("not synced", text)
        self.assertNotIn("\x1b", text)

    def test_always_means_always(self):
        self.assertRegex(shown(*self.ONCE, "--color=always", variables={"NO_COLOR": "1"}), COLOUR)
        self.assertRegex(run(*self.ONCE, "--color", "always").stdout, COLOUR)

    def test_a_pipe_has_neither_colours_nor_a_width(self):
        for arguments in ([], ["--color", "auto"]):
            result = run(*self.ONCE, *arguments, variables={"TERM": "xterm", "COLUMNS": "20"})
            self.assertNotIn("\x1b", result.stdout + result.stderr)
            self.assertNotIn("…", result.stdout)

    def test_changes_have_a_colour_each(self):
        with on_terminal("discover", "--sim", "--role", "pod", width=200) as terminal:
            for colour, sign in (("32", r"\+"), ("33", "~"), ("31", "-")):
                terminal.read_until(rf"\d\d:\d\d:\d\d\.\d{{3}}  \x1b\[0m\x1b\[{colour}m{sign} pod/")
            self.assertRegex(terminal.text, r"\x1b\[36m# ")

    def test_the_formats_of_programs_are_never_coloured(self):
        for output in ("json", "targets", "quiet"):
            text = shown(*self.ONCE, "--output", output, "--color", "always")
            self.assertNotRegex(text, COLOUR)

    def test_warnings_are_coloured(self):
        text = shown("discover", "--timeout", "0.5", "--api-server", "http://127.0.0.1:1")
        self.assertRegex(text, r"\x1b\[1;33mk8s_sd: warning: \x1b\[0m")
        self.assertRegex(text, r"\x1b\[1;33mdiscover: not synced after 0.5 s:\x1b\[0m")


class Progress(unittest.TestCase):
    def test_it_ends_with_the_cluster_that_it_is_about(self):
        with simulated_hub() as (hub, url), server_with(SilentHandler) as blue:
            hub.cluster("blue", blue)
            with on_terminal("discover", "--api-server", url, "--cluster-profiles-namespace",
                             "fleet", "--role", "node") as program:
                program.read_until("listing:")
                hub.remove("clusterprofiles", "blue")
                program.read_until("is gone")
                time.sleep(0.5)  # a line of progress would come each 0.2 s
                program.process.send_signal(signal.SIGTERM)
                text = program.read_all()
        self.assertRegex(text, "fleet/blue is gone")
        self.assertNotIn("listing:", text.partition("is gone")[2])


class Width(unittest.TestCase):
    def test_lines_fit_the_window(self):
        for width in (20, 40, 72):
            with self.subTest(width):
                lines = lines_of(shown("discover", "--sim", "--once", width=width))
                self.assertGreater(len(lines), 20)
                self.assertLessEqual(max(map(width_of, lines)), width)
                self.assertTrue(any(line.endswith("…") for line in lines))

    def test_a_check_has_colours_and_fits_the_window_but_cuts_no_failure(self):
        text = shown("discover", "--sim", "--check", width=40)
        self.assertRegex(text, r"\x1b\[32mok       \x1b\[0mTCP: ")
        self.assertLessEqual(max(map(width_of, lines_of(text))), 40)
        text = shown("discover", "--check", "--api-server", "http://127.0.0.1:1", width=40)
        failed = [line for line in lines_of(text) if line.startswith("FAILED   ")]
        self.assertTrue(failed[0].endswith("that a server listens there"), failed)

    def test_a_wide_window_cuts_nothing(self):
        self.assertNotIn("…", shown("discover", "--sim", "--once", width=400))

    def test_a_window_may_change(self):
        with on_terminal("discover", "--sim", width=300) as terminal:
            terminal.read_until("From now on.*\n")
            terminal.resize(30)
            before = len(terminal.text)
            terminal.read_until("(?s)From now on.*(\n.*){6}")
            later = lines_of(terminal.text[before:])
            self.assertLessEqual(max(map(width_of, later)), 30)

    def test_targets_that_change_alike_share_a_line(self):
        with on_terminal("discover", "--sim", "--role", "endpointslice", "--namespace", "payments",
                         width=200) as terminal:
            text = COLOUR.sub("", terminal.read_until(r"~ endpointslice/.* more .*[^\r]*ready: "))
        line = next(line for line in text.splitlines() if " more  " in line)
        self.assertRegex(line, r"~ endpointslice/payments/\S+ [0-9.:]+ and \d+ more  ")
        self.assertNotIn("endpointslice_endpoint_conditions", text)


HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u009b32m \u202egnp \u65e5\u672c\u8a9e"


def hostile_cluster():
    """An API server with one pod that tries to control the terminal."""
    pod = {"metadata": {"name": HOSTILE, "namespace": "shop", "uid": "u",
                        "resourceVersion": "1", "labels": {"a": HOSTILE}},
           "spec": {"nodeName": HOSTILE, "containers": [
               {"name": HOSTILE, "ports": [{"name": HOSTILE, "containerPort": 80}]}]},
           "status": {"podIP": "10.0.0.1", "phase": HOSTILE}}
    page = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
            "items": [pod]}

    class Handler(JsonHandler):
        def do_GET(self):
            if "watch=" not in self.path:
                self.reply(200, page)
                return
            changed = json.loads(json.dumps(pod))
            changed["status"]["phase"] = HOSTILE + "!"
            changed["metadata"]["resourceVersion"] = "2"
            self.hold({"type": "MODIFIED", "object": changed})

    return server_with(Handler)


class HostileText(unittest.TestCase):
    def check(self, text):
        rest = COLOUR.sub("", text.replace(CLEAR_LINE, "").replace("\r\n", "\n"))
        for bad in ("\x1b", "\x07", "\u009b", "\u202e", "\r"):
            self.assertNotIn(bad, rest)

    def test_no_text_of_the_cluster_reaches_the_terminal_as_an_escape(self):
        with hostile_cluster() as url:
            with on_terminal("discover", "--no-watch-list", "--api-server", url,
                             width=60) as terminal:
                terminal.read_until(r"~ pod/[^\n]*\n")
                terminal.process.send_signal(signal.SIGTERM)
                text = terminal.read_all()
            self.check(text)
            self.assertLessEqual(max(map(width_of, lines_of(text))), 60)
            self.check(run("discover", "--no-watch-list", "--api-server", url, "--once").stdout)

    def test_nor_does_any_text_of_a_kubeconfig(self):
        quoted = json.dumps("x\x1b]0;owned\x07\x1b[31m")
        kubeconfig = (f"clusters: [{{name: {quoted}, cluster: {{server: 'https://127.0.0.1:1', "
                      f"certificate-authority: {quoted}}}}}]\ncontexts: [{{name: {quoted}, context: "
                      f"{{cluster: CLUSTER}}}}]\ncurrent-context: CONTEXT\n")
        for context, cluster in (("none", quoted), (quoted, "none"), (quoted, quoted)):
            text = kubeconfig.replace("CONTEXT", context).replace("CLUSTER", cluster)
            with file_with(text, "kc") as path:
                for way in ("--once", "--check"):
                    result = run("discover", way, "--timeout", "1", "--kubeconfig", path)
                    self.assertNotEqual(result.returncode, 0)
                    if way == "--once" or context != cluster:  # the check reads no authority
                        self.assertRegex(result.stdout + result.stderr, r"x \]0;owned +\[31m")
                    self.check(result.stdout + result.stderr)
        self.check(run("discover", "--once", "--kubeconfig", "x\x1b[31md\n").stderr)
        self.check(run("discover", "--once", "--\x1b[31md").stderr)

    def test_nor_does_it_when_it_is_explained(self):
        with hostile_cluster() as url:
            text = shown("discover", "--api-server", url, "--explain", "pod/shop/" + HOSTILE)
            self.assertIn("status.phase", text)
            self.check(text)
            self.check(shown("discover", "--api-server", url, "--explain", "pod/shop/other"))


if __name__ == "__main__":
    unittest.main()
