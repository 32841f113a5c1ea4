"""Measured processes: their cost, as the kernel counts it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
SUITE = Path(__file__).resolve().parent


class Process:
    def __init__(self, command, **options):
        self.process = subprocess.Popen([str(part) for part in command], **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()

    def cpu(self):
        """User and system time so far, in seconds."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = stat.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / TICKS

    def memory_mb(self, field):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        return 0.0

    def reset_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


class Server(Process):
    """server.py and its commands."""

    def __init__(self, pods, *, prepare="pods", tls=None, gzip=False, protobuf=False,
                 watch_list=False):
        command = [sys.executable, SUITE / "server.py", "--pods", pods, "--prepare", prepare]
        if tls:
            command += ["--tls", *tls]
        command += ["--gzip"] * gzip + ["--protobuf"] * protobuf + ["--watch-list"] * watch_list
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.scheme = "https" if tls else "http"
        self.port = int(self.process.stdout.readline())
        self.ca = tls[0] if tls else ""
        self.pods = pods

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def send_command(self, command):
        """Starts the command; wait() returns once it is done."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def wait(self):
        return self.process.stdout.readline().strip()

    def requests(self):
        self.send_command("requests")
        return json.loads(self.wait())


class Host(Process):
    """bench_host: reports by itself when it is done, and at which cost."""

    def __init__(self, program, server, **options):
        words = [f"{name}={value}" for name, value in options.items()]
        super().__init__([program, f"url={server.url}", f"ca={server.ca}", *words],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def next_report(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("bench_host has ended")
        return json.loads(line)

    def report(self):
        self.process.stdin.write("report\n")
        self.process.stdin.flush()
        return self.next_report()

    def until(self, met, limit=120.0):
        """Requests reports until one satisfies `met`; figures add up."""
        total = self.report()
        end = time.monotonic() + limit
        while not met(total):
            if time.monotonic() > end:
                raise RuntimeError(f"not done after {limit:.0f} s: {total}")
            time.sleep(0.1)
            more = self.report()
            for name in ("cpu", "changes"):
                more[name] += total[name]
            for name in ("peak_mb", "max_handler_ms"):
                more[name] = max(more[name], total[name])
            total = more
        return total


def busy_until_idle(process, quiet, since=None, limit=600.0):
    """The CPU time of the process until it has been idle for `quiet` seconds.

    since: its CPU time when the work began; None: now.
    """
    start = process.cpu() if since is None else since
    end = time.monotonic() + limit
    marks = [(time.monotonic(), start)]
    while time.monotonic() < end:
        time.sleep(0.25)
        now, cpu = time.monotonic(), process.cpu()
        marks.append((now, cpu))
        before = [mark for mark in marks if mark[0] <= now - quiet]
        # Idle means less than 4 % of a core.
        if before and cpu - before[-1][1] < quiet * 0.04:
            return cpu - start
    raise RuntimeError("never idle")
