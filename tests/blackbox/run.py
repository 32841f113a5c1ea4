#!/usr/bin/env python3
"""Plays fault scenarios against the program `discover`: misbehaving scripted servers on loopback,
and a fast clock. A scenario is a function in scenarios/; its first sentence states the expected
behaviour.

usage: run.py --discover PATH --fast-clock PATH [--only PATTERN] [--but PATTERN] [--modes MODES]
              [--seed N] [--seeds N] [--jobs J] [--announces] [--http2]
       run.py --list [--only PATTERN] [--but PATTERN] [--modes MODES]

--only    scenarios with this text in TOPIC/NAME@MODE; several are separated by commas
--but     none of those with this text; several are separated by commas
--modes   only these of modes.py, separated by commas
--seed    the first seed of random servers (--only random --seed 7 --seeds 1 plays one again)
--seeds   how many random servers
--jobs    how many scenarios run at a time; they mostly sleep (default 16)
--announces  the program starts slowly, and then writes a line {"step": ""}: its time begins there
--http2   the program speaks HTTP/2 to nghttpx, which stands in front of the server, unless the
          scenario itself names the server; scenarios with a fast clock are left out, because a
          TLS handshake takes real time

A failed scenario is played once more, with few others, because half a second of load on the machine
is half a minute of the program's time. If it fails again, the report has the requests, the output
and the log. The last line is "N passed, M failed"; the exit status is 0 if none failed.
"""

import argparse
import importlib
import os
import pickle
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass

import scenario
from certificates import Authority
from real_proxies import Nghttpx
from scenario import SCENARIOS, Failed, Skipped, World

TOPICS = ("streams", "watch_lists", "versions", "decoding", "overload", "connecting", "credentials",
          "kubeconfigs", "permissions", "privacy", "proxies", "http2", "status", "random_servers")
TIMEOUT = 120  # real seconds; only a hanging scenario takes that long
MAX_HTTP2_FACTOR = 20
MAX_AGAIN = 30  # retry at most this many failures


@dataclass
class Setup:
    discover: str
    fast_clock: str
    folder: str
    # A sanitizer needs more memory and time.
    memory_factor: float = 1
    slowness: float = 1
    announces: bool = False
    http2: object = None  # makes the Nghttpx of a World; None: HTTP/1.1


@dataclass
class Result:
    verdict: str  # passed, failed, skipped
    seconds: float
    complaint: str = ""
    transcript: str = ""


def play(item, setup, seed):
    world = World(setup, item.factor, item.mode, seed)
    began = time.monotonic()
    verdict, complaint, transcript = "passed", "", ""
    try:
        item.function(world, *item.arguments)
        world.finish()
    except Skipped as reason:
        verdict, complaint = "skipped", str(reason)
    except Failed as failure:
        verdict, complaint, transcript = "failed", str(failure), world.transcript()
    except Exception:  # a mistake in the scenario fails it, and the others continue
        verdict, complaint, transcript = "failed", traceback.format_exc(), world.transcript()
    finally:
        world.close()
    return Result(verdict, time.monotonic() - began, complaint, transcript)


class Player:
    """A scenario in a separate process, isolated from the others."""

    def __init__(self, item, setup, seed):
        self.item, self.seed = item, seed
        self.began = time.monotonic()
        self.data = b""
        self.pipe, end = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            os.close(self.pipe)
            result = play(item, setup, seed)
            with os.fdopen(end, "wb") as file:
                pickle.dump(result, file)
            os._exit(0)
        os.close(end)

    def read(self):
        """The result, once it is available."""
        data = os.read(self.pipe, 1 << 20)
        self.data += data
        return None if data else self._end()

    def late(self):
        return time.monotonic() - self.began > TIMEOUT

    def give_up(self):
        self.data = pickle.dumps(Result("failed", TIMEOUT, "the scenario hangs"))
        return self._end()

    def _end(self):
        os.close(self.pipe)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        if not self.data:
            return Result("failed", time.monotonic() - self.began, "the scenario died")
        return pickle.loads(self.data)


def play_all(items, setup, jobs, on_result):
    waiting, players = list(items), {}
    while waiting or players:
        while waiting and len(players) < jobs:
            item, seed = waiting.pop(0)
            player = Player(item, setup, seed)
            players[player.pipe] = player
        ready, _, _ = select.select(list(players), [], [], 1)
        late = [pipe for pipe, player in players.items() if player.late()]
        for pipe in {*ready, *late}:
            player = players[pipe]
            result = player.read() if pipe in ready else player.give_up()
            if result:
                del players[pipe]
                on_result(player.item, player.seed, result)


def sanitized(program):
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def selected(only, but, modes):
    patterns, excluded, modes = ([text for text in (texts or "").split(",") if text]
                                 for texts in (only, but, modes))
    for topic in TOPICS:
        importlib.import_module("scenarios." + topic)
    found = [item for item in SCENARIOS
             if (not patterns or any(text in item.title for text in patterns))
             and not any(text in item.title for text in excluded)
             and (not modes or item.mode in modes)]
    return sorted(found, key=lambda item: not item.slow)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--help", action="help")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--but")
    parser.add_argument("--modes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--announces", action="store_true")
    parser.add_argument("--http2", action="store_true")
    parser.add_argument("--discover")
    parser.add_argument("--fast-clock")
    options = parser.parse_args()
    items = selected(options.only, options.but, options.modes)
    if options.http2:
        items = [item for item in items if item.factor <= MAX_HTTP2_FACTOR]
    if options.list:
        for item in items:
            print(f"{item.title} (x{item.factor}): {item.sentence}")
        return 0
    if not options.discover or not options.fast_clock:
        parser.error("--discover and --fast-clock are needed")
    if not items:
        parser.error(f"no scenario is called {options.only}")
    return run(items, options)


def run(items, options):
    folder = tempfile.mkdtemp(prefix="blackbox-")
    setup = Setup(os.path.abspath(options.discover), os.path.abspath(options.fast_clock), folder,
                  announces=options.announces)
    if sanitized(setup.discover):
        setup.memory_factor, setup.slowness = 8, 4
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    again = []

    def on_first_result(item, seed, result):
        if result.verdict == "failed" and len(again) < MAX_AGAIN:
            again.append((item, seed))
            print(f"again   {result.seconds:5.1f} s  {item.title}\n  {result.complaint.rstrip()}",
                  flush=True)
        else:
            on_result(item, seed, result)

    def on_result(item, _, result):
        counts[result.verdict] += 1
        print(f"{result.verdict:7} {result.seconds:5.1f} s  {item.title}", flush=True)
        if result.verdict == "failed":
            print(f"  {item.sentence}\n  {result.complaint.rstrip()}\n{result.transcript}",
                  flush=True)
        elif result.complaint:
            print(f"  {result.complaint}", flush=True)

    try:
        if options.http2:
            authority = Authority(folder)
            authority.server()
            setup.http2 = lambda world: Nghttpx(world, authority)
        play_all(with_seeds(items, options), setup, options.jobs, on_first_result)
        play_all(again, setup, max(options.jobs // 4, 1), on_result)
    except Skipped as reason:
        print(reason)
        return 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] else 0


def with_seeds(items, options):
    """(scenario, seed); random ones once per seed."""
    for item in items:
        if item.topic != "random_servers":
            yield item, options.seed
            continue
        for seed in range(options.seed, options.seed + options.seeds):
            yield scenario.Scenario(item.function, item.topic, f"{item.name}:seed-{seed}",
                                    item.factor, item.slow, item.arguments, item.mode), seed


if __name__ == "__main__":
    sys.exit(main())
