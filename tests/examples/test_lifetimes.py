"""SIGTERM and SIGINT end each program with status 0 at any moment of its life.

Signals are sent at random moments of the start and of a reload, to many programs at a time. The
seed is printed; $K8S_SD_SEED repeats it. $K8S_SD_MOMENTS sets the number of moments per program,
and $K8S_SD_SLOWNESS the slowdown of the program, as with a sanitizer.
"""

import concurrent.futures
import contextlib
import fcntl
import os
import random
import select
import signal
import subprocess
import tempfile
import time
import unittest

from harness import FOLDER, TIMEOUT, command, environment, simulated_cluster

MOMENTS = int(os.environ.get("K8S_SD_MOMENTS", "500"))
SLOWNESS = float(os.environ.get("K8S_SD_SLOWNESS", "1"))
AT_A_TIME = 16  # most of them wait
START = 0.15 * SLOWNESS  # seconds until a program has read its configuration
# Test machines are busy; a program with a real hang takes longer than this.
END = 10 * SLOWNESS
ENDING = (signal.SIGTERM, signal.SIGINT)

CONFIG = """
scrape_configs:
- job_name: &name "JOB"
  static_configs: [{targets: ["127.0.0.1:1"]}]
  relabel_configs:
  - {source_labels: [__address__], action: hashmod, modulus: 8, target_label: shard}
  - {source_labels: [x], regex: '(.+)-(?P<rest>[a-z]+)', replacement: $rest, target_label: y}
"""


def config_text(jobs):
    """Long enough for a signal to arrive while it is read."""
    text = CONFIG.replace("JOB", "job")
    job = CONFIG.partition("scrape_configs:\n")[2]
    return text + "".join(job.replace("JOB", f"job-{i}").replace("&name ", "") + "" for i in
                          range(jobs))


def catches(pid, number):
    """Whether the process handles the signal: main() has begun."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("SigCgt:"):
                    return int(line.split()[1], 16) >> (number - 1) & 1 == 1
    except OSError:
        pass
    return False


class Moment:
    """One program that gets signals."""

    def __init__(self, rng, program, arguments, reloads):
        self.command = command(program, arguments)
        self.reloads = reloads and rng.random() < 0.5
        self.pause = rng.random() ** 2 * START
        self.second_pause = rng.random() ** 2 * START / 4
        self.ending = rng.choice(ENDING)

    def play(self):
        """Returns the problem; empty: none."""
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(self.command, env=environment(), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors)
            try:
                return self.signal(process, errors)
            finally:
                process.kill()
                process.wait()

    def signal(self, process, errors):
        deadline = time.monotonic() + TIMEOUT
        while not catches(process.pid, self.ending):
            if process.poll() == 0:  # it ends by itself
                return ""
            if process.poll() is not None or time.monotonic() > deadline:
                return self.wrong("no handler of signals", process, errors)
            time.sleep(0.0005)
        time.sleep(self.pause)
        if self.reloads:
            process.send_signal(signal.SIGHUP)
            time.sleep(self.second_pause)
        process.send_signal(self.ending)
        begun = time.monotonic()
        try:
            status = process.wait(timeout=END)
        except subprocess.TimeoutExpired:
            return self.wrong(f"still runs after {END} s", process, errors)
        if status != 0:
            return self.wrong(f"ended with {status} after {time.monotonic() - begun:.3f} s",
                              process, errors)
        return ""

    def wrong(self, what, process, errors):
        errors.seek(0)
        return (f"{' '.join(self.command)}: {what}; {signal.Signals(self.ending).name} after "
                f"{self.pause:.4f} s, reload: {self.reloads}, status: {process.poll()}\n"
                + errors.read().decode(errors="replace")[-4000:])


class Lifetimes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        folder = cls.stack.enter_context(tempfile.TemporaryDirectory())
        cls.config = os.path.join(folder, "scrape.yml")
        with open(cls.config, "w", encoding="utf-8") as file:
            file.write(config_text(60))
        cls.cluster = cls.stack.enter_context(simulated_cluster(timeout=600))
        cls.seed = int(os.environ.get("K8S_SD_SEED", "0")) or random.randrange(1, 1 << 32)
        print(f"K8S_SD_SEED={cls.seed}", flush=True)

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def check(self, program, *choices, reloads=False, moments=MOMENTS):
        if not os.path.exists(os.path.join(FOLDER, program)):
            self.skipTest(f"{program} is not built here")
        rng = random.Random(f"{self.seed} {program}")
        plays = [Moment(rng, program, rng.choice(choices), reloads) for _ in range(moments)]
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            wrong = [text for text in pool.map(Moment.play, plays) if text]
        self.assertEqual(len(wrong), 0, f"K8S_SD_SEED={self.seed}\n" + "\n".join(wrong[:3]))

    def test_k8s_sd_ends_at_any_moment(self):
        self.check("k8s-sd", ("--config", self.config, "--listen", "127.0.0.1:0"),
                   ("--config", self.config, "--listen", "127.0.0.1:0", "--threads", 3),
                   ("--sim", "--listen", "127.0.0.1:0"),
                   ("--sim", "--listen", "127.0.0.1:0", "--threads", 3), reloads=True)

    def test_the_scraper_ends_at_any_moment(self):
        self.check("scraper", ("--config", self.config), ("--config", self.config, "--threads", 3),
                   ("--sim",), ("--sim", "--threads", 3),
                   ("--config", self.config, "--report-interval", "10ms"), reloads=True)

    def test_a_scraper_that_ends_by_itself_ends_at_any_moment(self):
        self.check("scraper", ("--config", self.config, "--timeout", "5ms"),
                   ("--sim", "--timeout", "20ms"), moments=MOMENTS // 5)

    def test_discover_ends_at_any_moment(self):
        self.check("discover", ("--sim",), ("--api-server", self.cluster, "--role", "pod"),
                   ("--api-server", self.cluster, "--role", "pod", "--jobs", 20),
                   ("--api-server", "http://127.0.0.1:1", "--role", "node"))

    def test_a_scraper_whose_reader_takes_nothing_ends(self):
        reading, writing = os.pipe()
        with open(reading, "rb"), open(writing, "wb") as output:
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
            process = subprocess.Popen(
                command("scraper", ("--sim", "--report-interval", "1ms", "--threads", 3)),
                env=environment(), stdin=subprocess.DEVNULL, stdout=output)
            try:
                while select.select([], [writing], [], 0.05)[1]:
                    time.sleep(0.01)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=END), 0)
            finally:
                process.kill()
                process.wait()

    def test_the_fleet_ends_at_any_moment(self):
        self.check("fleet", ("--targets", 3), moments=MOMENTS // 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
