"""The program `discover`, seen from outside: its start, its output and its end."""

import json
import os
import signal
import subprocess
import threading
import time

from cluster import SOURCES

# Prevents the program from reaching a real cluster.
HIDDEN = {"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "REQUEST_METHOD",
          "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"}


class Program:
    def __init__(self, discover, preload, arguments, factor, environment, began):
        self.factor = factor
        self.groups = {}  # source: group, after all diffs
        self.diffs = []  # (the program's time, diff)
        self.lines = []  # (the program's time, line) of standard output
        self.log = []  # the same of standard error
        self.problems = []  # violations of rules that hold in every scenario
        self.condition = threading.Condition()
        self.reading = threading.Event()  # cleared: standard output is not read
        self.reading.set()
        self.began = began
        self.process = subprocess.Popen(
            [discover, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={
                **{name: value for name, value in os.environ.items() if name not in HIDDEN},
                "HOME": "/nonexistent", "LD_PRELOAD": preload, "FAST_CLOCK": str(factor),
                # The fast clock precedes the sanitizer's library, which is harmless.
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
                **(environment or {})})
        self.readers = [threading.Thread(target=read, daemon=True) for read in
                        (self._read_output, self._read_log)]
        for reader in self.readers:
            reader.start()

    def now(self):
        return (time.monotonic() - self.began) * self.factor

    def restart_clock(self):
        """Waits for the first line of output, from which on the program's time counts."""
        with self.condition:
            self.condition.wait_for(lambda: self.lines, 60)
        self.began = time.monotonic()

    # --- its output -----------------------------------------------------------------------------

    def _read_output(self):
        for line in self.process.stdout:
            self.reading.wait()
            with self.condition:
                self.lines.append((self.now(), line))
                self._apply(line)
                self.condition.notify_all()

    def _read_log(self):
        for line in self.process.stderr:
            with self.condition:
                self.log.append((self.now(), line.decode("utf-8", "replace").rstrip("\n")))
                self.condition.notify_all()

    def _apply(self, line):
        try:
            diff = json.loads(line.decode("utf-8"))
        except ValueError as error:
            self.problems.append(f"a line that is no JSON ({error}): {line[:300]}")
            return
        if "step" in diff:
            return  # a line of --check
        self.diffs.append((self.now(), diff))
        if diff.get("full"):
            self.groups = {}
        for group in diff["updated"]:
            self.groups[group["source"]] = group
        for source in diff["removed"]:
            self.groups.pop(source, None)

    def state(self, kind="pods"):
        """{source: the label `step`} as the program sees it."""
        prefix, label = SOURCES[kind]
        with self.condition:
            return {source: group["labels"].get(label, "?")
                    for source, group in self.groups.items()
                    if source.startswith(prefix + "/") and group["targets"]}

    def removals(self):
        with self.condition:
            return [source for _, diff in self.diffs for source in diff["removed"]]

    def log_text(self, since=0):
        with self.condition:
            return "\n".join(line for at, line in self.log if at >= since)

    def everything_printed(self):
        with self.condition:
            return (b"".join(line for _, line in self.lines).decode("utf-8", "replace")
                    + self.log_text())

    # --- resources of the process ---------------------------------------------------------------

    def memory(self):
        """The peak resident memory, in MB."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("VmHWM:"):
                        return int(line.split()[1]) / 1024
        except OSError:
            pass
        return 0

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def sockets(self):
        """The descriptor numbers of connections, with their flags."""
        found = {}
        folder = f"/proc/{self.process.pid}"
        for number in os.listdir(folder + "/fd"):
            try:
                if not os.readlink(f"{folder}/fd/{number}").startswith("socket:"):
                    continue
                with open(f"{folder}/fdinfo/{number}", encoding="ascii") as info:
                    found[number] = int(info.read().split("flags:")[1].split()[0], 8)
            except OSError:
                continue
        return found

    # --- its end --------------------------------------------------------------------------------

    def running(self):
        return self.process.poll() is None

    def wait(self, timeout):
        """False: it did not end within this many real seconds, and was killed."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        for reader in self.readers:
            reader.join(5)
        return True

    def end(self, number=signal.SIGTERM, timeout=30):
        """Sends the signal and returns (exit status, real seconds until the end); status None: it
        had to be killed."""
        began = time.monotonic()
        self.process.send_signal(number)
        ended = self.wait(timeout)
        return self.process.returncode if ended else None, time.monotonic() - began
