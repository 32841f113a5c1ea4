"""Runs the programs and examples from the folder $K8S_SD_EXAMPLES."""

import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

FOLDER = os.environ["K8S_SD_EXAMPLES"]
# Log timestamps of k8s-sd.
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z "
USUAL_EVENT = r"k8s-sd: (applied: |ends: |job .*: its list is complete, )"
TIMEOUT = 60  # seconds; only a failing test waits that long


def environment():
    """An environment that cannot lead a program to a real cluster."""
    hidden = {"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "HOME": "/nonexistent"}


def command(program, arguments):
    return [os.path.join(FOLDER, program), *map(str, arguments)]


def run(program, *arguments, variables=None):
    """Runs a program to its end, with additional environment variables. Returns the result of
    subprocess.run()."""
    return subprocess.run(command(program, arguments), text=True,
                          env={**environment(), **(variables or {})},
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)


def main():
    """unittest.main(), with the status 77 if all tests are skipped: ctest reports that."""
    result = unittest.main(exit=False).result
    if result.wasSuccessful() and result.testsRun <= len(result.skipped):
        sys.exit(77)
    sys.exit(not result.wasSuccessful())


class Running:
    """A running program; its lines are read as they arrive."""

    def __init__(self, program, *arguments, timeout=TIMEOUT, variables=None):
        self.process = subprocess.Popen(command(program, arguments), text=True,
                                        env={**environment(), **(variables or {})},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.watchdog = threading.Timer(timeout, self.process.kill)
        self.watchdog.start()

    def line(self):
        """The next line of standard output."""
        text = self.process.stdout.readline()
        if not text:
            raise AssertionError("ended: " + self.process.stderr.read())
        return text.rstrip("\n")

    def line_with(self, pattern):
        """The first match of the pattern in the lines to come."""
        while True:
            match = re.search(pattern, self.line())
            if match:
                return match

    def log_line(self):
        """The next line of standard error."""
        return self.process.stderr.readline().rstrip("\n")

    def log_line_with(self, text):
        """Reads standard error up to a line with this text."""
        line = self.log_line()
        while text not in line:
            if not line:
                raise AssertionError("ended without a line with " + text)
            line = self.log_line()
        return line

    def error_line(self):
        """The next line of standard error with a warning or an error, without its time."""
        while True:
            line = re.sub(TIME, "", self.log_line())
            if not re.match(USUAL_EVENT, line):
                return line

    def wait_for_list(self, job):
        """Reads the log of k8s-sd up to the complete list of a job."""
        line = self.log_line()
        while f"job {job}: its list is complete" not in line:
            if not line:
                raise AssertionError("ended")
            line = self.log_line()

    def signal(self, number):
        """Sends the signal and returns the exit status."""
        self.process.send_signal(number)
        self.process.communicate()
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.watchdog.cancel()


@contextlib.contextmanager
def running(program, *arguments, timeout=TIMEOUT, variables=None):
    instance = Running(program, *arguments, timeout=timeout, variables=variables)
    try:
        yield instance
    finally:
        instance.close()


@contextlib.contextmanager
def simulated_cluster(timeout=TIMEOUT):
    """The URL of a simulated cluster that changes about once a second."""
    with running("discover", "--sim", "--output", "quiet", timeout=timeout) as cluster:
        yield cluster.error_line().rpartition(" ")[2]


class JsonHandler(http.server.BaseHTTPRequestHandler):
    """Base of a test's HTTP server; it writes no log."""
    protocol_version = "HTTP/1.1"

    def handle(self):
        with contextlib.suppress(ConnectionError):  # a client that was killed
            super().handle()

    def reply(self, status, body):
        self.reply_bytes(status, json.dumps(body).encode(), "application/json")

    def reply_bytes(self, status, body, content_type):
        with contextlib.suppress(ConnectionError):  # a client that has its answer
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def hold(self, *events):
        """Sends the beginning of a watch, and leaves it open until the client closes it."""
        with contextlib.suppress(ConnectionError):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            for event in events:
                self.wfile.write(json.dumps(event).encode() + b"\n")
            self.wait_for_close()

    def wait_for_close(self):
        """Returns when the client closes the connection."""
        with contextlib.suppress(ConnectionError):
            self.rfile.read(1)

    def log_message(self, *_):
        pass


class SilentHandler(JsonHandler):
    """Never answers."""
    def do_GET(self):
        self.wait_for_close()


@contextlib.contextmanager
def server_with(handler, context=None):
    """The URL of an HTTP server in threads of the test; `context`: of its TLS."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http{'s' * bool(context)}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def file_with(text, name="sd.yaml"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        yield path


def replace_file(path, text):
    """Replaces a file atomically, as an editor does, so that a program never reads a part."""
    new = f"{path}.new"
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(new, path)
