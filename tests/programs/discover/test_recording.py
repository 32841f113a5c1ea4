"""discover --record and --replay, and k8s-sd --record."""

import gzip
import hashlib
import json
import os
import re
import signal
import tempfile
import time
import unittest
import urllib.request

import harness
from harness import TIMEOUT, JsonHandler, run, running, server_with, simulated_cluster


class BigList(JsonHandler):
    """An API server with 2 MB of pods that compress badly."""
    # Each has other words.
    pods = [{"metadata": {"namespace": "a", "name": f"p{i}", "uid": str(i), "annotations": {
        "x": "".join(hashlib.sha256(f"{i} {j}".encode()).hexdigest() for j in range(32))}}}
        for i in range(1000)]

    def do_GET(self):
        is_list = "/pods?" in self.path and "watch=" not in self.path
        if is_list:
            self.reply(200, {"kind": "PodList", "apiVersion": "v1", "items": self.pods,
                             "metadata": {"resourceVersion": "1"}})
        else:
            self.reply(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                             "code": 404, "reason": "NotFound"})


class BusyWatch(JsonHandler):
    """An API server whose first watch brings 2.5 MB that compress badly, and ends. Its second list
    has another pod."""
    lists = []  # targets of the requests

    @staticmethod
    def pod(name, version, filling=""):
        return {"kind": "Pod", "apiVersion": "v1", "metadata": {
            "namespace": "a", "name": name, "uid": name, "resourceVersion": str(version)},
            "spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}],
                     "filling": filling},
            "status": {"podIP": "10.0.0.1"}}

    def do_GET(self):
        if "/pods?" not in self.path:
            self.reply(404, {})
        elif "sendInitialEvents" in self.path:
            self.reply(422, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                             "code": 422, "reason": "Invalid"})
        elif "watch=1" in self.path:
            self.watch()
        elif "limit=1&" in self.path + "&":  # a look at the server's version
            self.reply(200, {"kind": "PodList", "apiVersion": "v1", "items": [],
                             "metadata": {"resourceVersion": "100"}})
        else:
            self.lists.append(self.path)
            names = ("one", "two")[:len(self.lists)]
            self.reply(200, {"kind": "PodList", "apiVersion": "v1",
                             "items": [self.pod(name, 1) for name in names],
                             "metadata": {"resourceVersion": str(100 * len(self.lists))}})

    def watch(self):
        if len(self.lists) > 1:
            self.hold()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for version in range(101, 126):
            filling = "".join(hashlib.sha256(f"{version} {i}".encode()).hexdigest()
                              for i in range(1600))
            event = json.dumps({"type": "MODIFIED", "object": self.pod("one", version, filling)})
            self.wfile.write(f"{len(event):x}\r\n{event}\r\n".encode())
        self.wfile.write(b"0\r\n\r\n")


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "recording.gz")

    def record(self, *arguments, diffs=4):
        """Records so many diffs, and returns the output."""
        with running("discover", "--sim", "--output", "json", "--record", self.file,
                     *arguments) as program:
            lines = [program.line() for _ in range(diffs)]
            program.process.send_signal(signal.SIGINT)
            rest, _ = program.process.communicate(timeout=TIMEOUT)
        return "\n".join(lines) + "\n" + rest

    def replay(self, *arguments):
        result = run("discover", "--replay", self.file, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_replay_prints_the_bytes_of_the_recorded_run(self):
        recorded = self.record()
        for _ in range(3):
            result = self.replay("--output", "json")
            self.assertEqual(result.stdout, recorded)
            self.assertEqual(result.stderr, "")

    def test_a_replay_in_text_is_the_same_each_time(self):
        self.record("--role", "endpointslice")
        first = self.replay("--role", "endpointslice")
        self.assertIn("\n00:00:0", first.stdout)
        self.assertEqual(self.replay("--role", "endpointslice").stdout, first.stdout)

    def test_options_of_the_server_are_ignored(self):
        recorded = self.record()
        result = self.replay("--output", "json", "--api-server", "https://192.0.2.1/prefix",
                             "--as", "someone")
        self.assertEqual(result.stdout, recorded)

    def test_a_cut_file_is_replayed_to_there(self):
        recorded = self.record()
        size = os.path.getsize(self.file)
        os.truncate(self.file, size - size // 10)
        result = self.replay("--output", "json")
        self.assertTrue(recorded.startswith(result.stdout))
        self.assertEqual(result.stderr,
                         "00:00:00.000  discover: the recording is cut; it is replayed to there\n")

    def test_a_recording_that_ends_before_the_state_is_complete_is_no_success(self):
        self.record()
        self.assertEqual(self.replay("--once", "--output", "quiet").stderr, "")
        result = run("discover", "--replay", self.file, "--once", "--output", "quiet", "--role",
                     "node")
        self.assertEqual(result.returncode, 3)
        self.assertIn("not synced by the end of the recording:", result.stderr)

    def test_other_options_than_recorded_are_noticed(self):
        self.record()
        self.assertRegex(self.replay("--role", "node").stderr,
                         r"\d+ requests are not in the recording; are the options")

    def test_k8s_sd_records_as_well(self):
        with simulated_cluster() as url, running(
                "k8s-sd", "--role", "pod", "--api-server", url, "--listen", "127.0.0.1:0",
                "--record", self.file) as program:
            while "its list is complete" not in program.log_line():
                pass
            self.assertEqual(program.signal(signal.SIGTERM), 0)
        diff = json.loads(self.replay("--output", "json").stdout.splitlines()[0])
        self.assertTrue(diff["full"])
        self.assertGreater(len(diff["updated"]), 10)

    def test_a_token_is_not_recorded(self):
        token = os.path.join(os.path.dirname(self.file), "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("a-long-secret")
        with simulated_cluster() as url:
            result = run("discover", "--api-server", url, "--token-file", token, "--once",
                         "--header", "X-Key: another-secret", "--record", self.file)
            self.assertEqual(result.returncode, 0, result.stderr)
        with gzip.open(self.file, "rb") as file:
            text = file.read()
        self.assertTrue(text.startswith(b"k8s_sd recording 1\n"))
        self.assertTrue(text.endswith(b"\nend complete\n"))
        self.assertIn(b"GET /api/v1/pods", text)
        self.assertNotIn(b"secret", text)

    def test_an_anonymous_recording_replays_with_the_same_structure(self):
        recorded = self.record("--anonymise")
        replayed = self.replay("--output", "json").stdout
        with open(self.file + ".names", encoding="utf-8") as file:
            originals = dict(line.split() for line in file)
        names = re.compile("|".join(sorted(map(re.escape, originals), key=len, reverse=True)))

        def original(text):
            return re.sub(r"[0-9A-Za-z]+(?:[.][0-9]+[.][0-9]+[.][0-9]+)?",
                          lambda word: originals.get(word[0], word[0]), text)
        self.assertTrue(names.search(replayed))
        self.assertEqual([self.groups(line, original) for line in replayed.splitlines()],
                         [self.groups(line, str) for line in recorded.splitlines()])
        with gzip.open(self.file, "rb") as file:
            text = file.read()
        for name in (b"orders", b"shop", b"node-a1", b"10.244."):
            self.assertNotIn(name, text)
        self.assertEqual(os.stat(self.file + ".names").st_mode & 0o777, 0o600)

    @staticmethod
    def groups(line, original):
        """The diff with the original names, in the order of those."""
        diff = json.loads(line)
        for part in diff.values():
            if isinstance(part, list):
                part[:] = sorted(original(json.dumps(item, sort_keys=True)) for item in part)
        return diff

    def test_former_recordings_are_kept(self):
        folder = os.path.dirname(self.file)
        sizes = []
        for kept in ("2", "2", "2", "2"):
            run("discover", "--sim", "--once", "--anonymise", "--record", self.file,
                "--record-keep", kept, "--role", "node" if len(sizes) % 2 else "pod")
            sizes.append(os.path.getsize(self.file))
        self.assertEqual(sorted(os.listdir(folder)), sorted(
            "recording.gz" + number + names
            for number in ("", ".1", ".2") for names in ("", ".names")))
        self.assertEqual([os.path.getsize(self.file + number) for number in (".2", ".1", "")],
                         sizes[1:])

    def test_a_full_recording_ends_and_the_program_does_not(self):
        with server_with(BigList) as url:
            result = run("discover", "--role", "pod", "--once", "--gzip", "off", "--output",
                         "quiet", "--record", self.file, "--record-max-size", "1", "--api-server",
                         url)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the recording ends early: it has reached its limit of 1048576 bytes",
                      result.stderr)
        self.assertLess(os.path.getsize(self.file), 1048577)
        with gzip.open(self.file, "rb") as file:
            self.assertTrue(file.read().endswith(b"\nend full\n"))

    def test_a_full_recording_goes_on_in_a_file_that_replays_alone(self):
        BusyWatch.lists.clear()
        with server_with(BusyWatch) as url, running(
                "discover", "--role", "pod", "--output", "json", "--api-server", url, "--record",
                self.file, "--record-max-size", "1", "--record-keep", "2") as program:
            while "pod/a/two" not in program.line():
                pass
            program.process.send_signal(signal.SIGINT)
            _, log = program.process.communicate(timeout=TIMEOUT)
        # One list more than without a recording.
        self.assertEqual(len(BusyWatch.lists), 2, BusyWatch.lists)
        self.assertIn("the recording goes on in a new file, for which everything is listed again; "
                      f"the full one is now {self.file}.1\n", log)
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.file))),
                         ["recording.gz", "recording.gz.1"])
        for file, pods in ((self.file + ".1", ["pod/a/one"]),
                           (self.file, ["pod/a/one", "pod/a/two"])):
            self.assertLess(os.path.getsize(file), 1048577)
            result = run("discover", "--replay", file, "--output", "json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            diff = json.loads(result.stdout.splitlines()[0])
            self.assertTrue(diff["full"])
            self.assertEqual([group["source"] for group in diff["updated"]], pods)
        with gzip.open(self.file + ".1", "rb") as file:
            self.assertTrue(file.read().endswith(b"\nend full\n"))

    @unittest.skipUnless(os.path.exists(harness.command("k8s-sd", ())[0]),
                         "built without k8s_sd::scrape")
    def test_k8s_sd_goes_on_in_a_file_that_replays_alone(self):
        BusyWatch.lists.clear()
        log = []
        with server_with(BusyWatch) as url, running(
                "k8s-sd", "--role", "pod", "--api-server", url, "--listen", "127.0.0.1:0",
                "--record", self.file, "--record-max-size", "1", "--record-keep",
                "2") as program:
            sd = program.line_with(r"^listens at (http://.*)$").group(1)
            while not log or "the recording goes on in a new file" not in log[-1]:
                log.append(program.log_line())
                self.assertTrue(log[-1], log)
            self.assertIn(f"the full one is now {self.file}.1", log[-1])
            end = time.monotonic() + TIMEOUT
            targets = ""
            while '"two"' not in targets and time.monotonic() < end:
                with urllib.request.urlopen(sd + "/sd/pod", timeout=TIMEOUT) as answer:
                    targets = answer.read().decode()
                time.sleep(0.05)
            self.assertIn('"two"', targets)
            self.assertEqual(program.signal(signal.SIGTERM), 0)
        self.assertEqual(sorted(os.listdir(os.path.dirname(self.file))),
                         ["recording.gz", "recording.gz.1"])
        for file, pods in ((self.file + ".1", ["pod/a/one"]),
                           (self.file, ["pod/a/one", "pod/a/two"])):
            self.assertLess(os.path.getsize(file), 1048577)
            result = run("discover", "--replay", file, "--output", "json")
            self.assertEqual(result.returncode, 0, result.stderr)
            diff = json.loads(result.stdout.splitlines()[0])
            self.assertEqual([group["source"] for group in diff["updated"]], pods)

    def test_a_replay_until_a_moment_has_the_diffs_before_it(self):
        recorded = self.record()
        sizes = []
        for until in ("0.001", "1.5", "2.5", "100000"):
            output = self.replay("--output", "json", "--until", until).stdout
            self.assertTrue(recorded.startswith(output))
            sizes.append(len(output))
        self.assertEqual(sizes, sorted(sizes))
        self.assertEqual((sizes[0], sizes[-1]), (0, len(recorded)))

    def test_lists_are_requested_compressed_unless_options_choose(self):
        for options, compressed in (((), True), (("--gzip", "off"), False),
                                    (("--anonymise",), False)):
            with self.subTest(options=options):
                recorded = self.record(*options)
                with gzip.open(self.file, "rb") as file:
                    self.assertEqual(b"\nAccept-Encoding: gzip\r\n" in file.read(), compressed)
                # A replay requests what was recorded.
                for replaying in ((), ("--gzip", "off"), ("--gzip", "on")):
                    result = self.replay("--output", "json", *replaying)
                    self.assertEqual(result.stderr, "")
                    if "--anonymise" not in options:
                        self.assertEqual(result.stdout, recorded)

    def test_the_speed_of_a_replay_does_not_change_its_output(self):
        recorded = self.record()
        self.assertEqual(self.replay("--output", "json", "--speed", "20").stdout, recorded)

    def test_a_slow_replay_takes_its_time(self):
        self.record(diffs=2)
        with gzip.open(self.file, "rt", encoding="latin-1") as file:
            times = re.findall(r"^[cqbex] \d+ (\d+) \d+$", file.read(), re.MULTILINE)
        recorded = int(times[-1]) / 1e6
        self.assertGreater(recorded, 0.5)  # the simulated cluster changes once a second
        begin = time.monotonic()
        self.replay("--output", "quiet", "--speed", "0.5")
        # With the speed of the recording, or any greater one, it would be over before.
        self.assertGreater(time.monotonic() - begin, 0.9 * 2 * recorded)

    def test_unusable_files_and_options_are_said(self):
        for arguments, text in (
                (("--replay", "/nonexistent/file"), "--replay: /nonexistent/file: cannot be read"),
                (("--replay", __file__), "is no recording of k8s_sd"),
                (("--sim", "--record", "/nonexistent/file"), "--record: /nonexistent/file: No"),
                (("--replay", "x", "--sim"), "--sim: cannot be used together with --replay"),
                (("--replay", "x", "--record", "y"), "--record: cannot be used together"),
                (("--anonymise",), "--anonymise: needs --record FILE"),
                (("--record-max-size", "3"), "--record-max-size: needs --record FILE"),
                (("--record", "x", "--record-max-size", "0"), "--record-max-size"),
                (("--until", "3"), "--until: needs --replay FILE"),
                (("--replay", "x", "--speed", "0"), "--speed")):
            result = run("discover", *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()
