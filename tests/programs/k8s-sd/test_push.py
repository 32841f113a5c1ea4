"""k8s-sd pushes changes: long polls, held requests, streams, files, and `k8s-sd follow`."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import queue
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from harness import TIMEOUT, JsonHandler, replace_file, run, running, server_with
from test_serving import JOBS, STATIC, UNREACHABLE, serving, serving_file

# A change of this list is much shorter than the list.
MANY = """
scrape_configs:
- job_name: one
  static_configs:
  - {targets: ['10.0.0.2:80', '10.0.0.1:80'], labels: {team: red}}
  - {targets: ['10.0.1.1:80'], labels: {team: green, note: NOTE}}
""".replace("NOTE", "n" * 1000)
OTHER = STATIC.replace("10.0.0.2", "10.0.0.3")


@contextlib.contextmanager
def connected(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        yield connection


def ask(connection, path, **headers):
    """Status, headers and body, on a persistent connection."""
    connection.request("GET", path, headers={
        name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def configure(server, path, text):
    replace_file(path, text)
    assert server.text("/-/reload", method="POST") == (200, "ok\n")


def wait_for_waiting(server, count, job="one"):
    end = time.monotonic() + TIMEOUT
    while server.metric(f'held_requests{{job="{job}"}}') != count:
        assert time.monotonic() < end
        time.sleep(0.01)


def wait_for_list(server, path, text):
    """Waits until it has this text."""
    end = time.monotonic() + TIMEOUT
    while text not in server.ask(path)[2]:
        assert time.monotonic() < end
        time.sleep(0.01)


class LongPoll(unittest.TestCase):
    def test_a_reader_that_knows_the_list_gets_the_next_one_when_it_is_there(self):
        with serving_file(STATIC) as (server, path), \
                concurrent.futures.ThreadPoolExecutor() as readers:
            tag = server.ask("/sd/one")[1]["ETag"]
            waiting = [readers.submit(server.ask, "/sd/one", If_None_Match=tag, Prefer="wait=250",
                                      Accept_Encoding=coding) for coding in ("gzip", "identity")]
            wait_for_waiting(server, 2)
            configure(server, path, OTHER)
            for answer in waiting:
                status, headers, _ = answer.result(timeout=TIMEOUT)
                self.assertEqual((status, headers["Preference-Applied"]), (200, "wait=250"))
                self.assertNotEqual(headers["ETag"], tag)

    def test_when_nothing_changes_the_time_ends_with_304(self):
        with serving_file(STATIC) as (server, _):
            tag = server.ask("/sd/one")[1]["ETag"]
            begun = time.monotonic()
            status, headers, body = server.ask("/sd/one", If_None_Match=tag,
                                               Prefer="respond-async, wait=1")
            self.assertEqual((status, body), (304, b""))
            self.assertEqual((headers["ETag"], headers["Preference-Applied"]), (tag, "wait=1"))
            self.assertGreaterEqual(time.monotonic() - begun, 0.99)

    def test_who_does_not_know_the_list_does_not_wait(self):
        with serving_file(STATIC) as (server, _):
            for headers in ({}, {"If_None_Match": '"x"'}):
                status, got, _ = server.ask("/sd/one", Prefer="wait=4000000000", **headers)
                self.assertEqual((status, got["Preference-Applied"]), (200, "wait=300"))
            tag = server.ask("/sd/one")[1]["ETag"]
            # None of these many tags is ours.
            tags = ", ".join(['"x"'] * 60 + [tag])
            self.assertEqual(server.ask("/sd/one", If_None_Match=tags, Prefer="wait=250")[0], 304)

    def test_who_waits_is_answered_when_the_job_or_the_program_ends(self):
        with serving_file(STATIC) as (server, path), \
                concurrent.futures.ThreadPoolExecutor() as readers:
            tag = server.ask("/sd/one")[1]["ETag"]

            def waiting():
                answer = readers.submit(server.ask, "/sd/one", If_None_Match=tag,
                                        Prefer="wait=250")
                wait_for_waiting(server, 1)
                return answer
            answer = waiting()
            configure(server, path, STATIC.replace("one", "two"))
            self.assertEqual(answer.result(timeout=TIMEOUT)[0], 304)
            configure(server, path, STATIC)
            answer = waiting()
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)
            self.assertEqual(answer.result(timeout=TIMEOUT)[0], 304)


    def test_who_is_gone_does_not_wait(self):
        with serving_file(STATIC) as (server, _):
            tag = server.ask("/sd/one")[1]["ETag"]
            request = (f"GET /sd/one HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\n"
                       "Prefer: wait=300\r\n\r\n").encode()
            readers = []
            for _ in range(20):
                readers.append(socket.create_connection(("127.0.0.1", server.port)))
                readers[-1].sendall(request)
            wait_for_waiting(server, 20)
            for reader in readers:
                reader.close()
            wait_for_waiting(server, 0)


class HeldAnswers(unittest.TestCase):
    def test_a_connection_gets_a_list_once_and_then_when_it_changes(self):
        with serving_file(STATIC) as (server, path), connected(server) as agent, \
                concurrent.futures.ThreadPoolExecutor() as readers:
            first = ask(agent, "/sd/one?hold=1")
            self.assertEqual(first[0], 200)
            again = readers.submit(ask, agent, "/sd/one?hold=1",
                                   X_Prometheus_Refresh_Interval_Seconds="250")
            wait_for_waiting(server, 1)
            # A new connection may come from a new agent.
            self.assertEqual(server.ask("/sd/one?hold=1")[2], first[2])
            configure(server, path, OTHER)
            status, _, body = again.result(timeout=TIMEOUT)
            self.assertEqual((status, b"10.0.0.3" in body), (200, True))

    def test_who_asks_for_the_head_has_not_been_sent_the_list(self):
        with serving_file(STATIC) as (server, _), connected(server) as agent:
            agent.request("HEAD", "/sd/one?hold=1")
            agent.getresponse().read()
            begun = time.monotonic()
            self.assertEqual(ask(agent, "/sd/one?hold=1",
                                 X_Prometheus_Refresh_Interval_Seconds="300")[0], 200)
            self.assertLess(time.monotonic() - begun, 60)

    def test_when_nothing_changes_the_list_comes_in_the_interval(self):
        with serving_file(STATIC) as (server, _), connected(server) as agent:
            interval = {"X_Prometheus_Refresh_Interval_Seconds": "0.5"}
            first = ask(agent, "/sd/one?hold=1", **interval)
            begun = time.monotonic()
            self.assertEqual(ask(agent, "/sd/one?hold=1", **interval)[2], first[2])
            self.assertGreaterEqual(time.monotonic() - begun, 0.39)

    def test_another_list_of_the_connection_is_answered_at_once(self):
        with serving_file(STATIC) as (server, _), connected(server) as agent:
            for path in ("/sd/one", "/sd/one/targets") * 3:
                self.assertEqual(ask(agent, path + "?hold=1",
                                     X_Prometheus_Refresh_Interval_Seconds="300")[0], 200)

    def test_a_job_that_is_not_complete_is_waited_for_as_ever(self):
        with serving_file(UNREACHABLE, "--sim", "--hold", 0.05) as (server, _):
            self.assertEqual(server.ask("/sd/pods?hold=1", Prefer="wait=250")[0], 503)


class Stream:
    """Reads events of /v1/watch, and keeps the targets as a reader does."""

    def __init__(self, answer):
        self.answer = answer
        self.sse = answer.headers["Content-Type"] == "text/event-stream"
        self.version = None
        self.targets = None

    def line(self):
        return self.answer.readline().decode()

    def event(self):
        """The next event, with the fields of its SSE frame."""
        if not self.sse:
            return json.loads(self.line())
        frame = {}
        for line in iter(self.line, "\n"):
            name, _, value = line.rstrip("\n").partition(": ")
            assert name not in frame, frame
            frame[name] = value
        event = json.loads(frame.pop("data"))
        assert frame.pop("event") == event["type"]
        frame.pop("retry", None)
        assert frame.pop("id", event.get("version")) == event.get("version") and not frame
        return event

    def take(self):
        """The next event that is not a heartbeat, applied."""
        while True:
            event = self.event()
            if event["type"] == "full":
                self.targets = pairs(event["targets"])
            elif event["type"] == "diff":
                assert event["from"] == self.version
                assert pairs(event["removed"]) <= self.targets
                assert not pairs(event["added"]) & self.targets
                self.targets = self.targets - pairs(event["removed"]) | pairs(event["added"])
            if event["type"] != "heartbeat":
                self.version = event.get("version")
                return event


def pairs(groups):
    return {(target, *sorted(group["labels"].items())) for group in groups
            for target in group["targets"]}


@contextlib.contextmanager
def watching(server, query, buffer=None, **headers):
    """buffer: the receive buffer of the reader's socket, in bytes"""
    with connected(server) as connection:
        if buffer:
            connection.sock = socket.socket()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            connection.sock.settimeout(TIMEOUT)
            connection.sock.connect(("127.0.0.1", server.port))
        connection.request("GET", "/v1/watch?" + query, headers={
            name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        with answer:  # the response keeps the connection open, too
            yield Stream(answer)


SSE = {"Accept": "text/event-stream"}


class Watch(unittest.TestCase):
    def test_a_stream_is_the_list_and_its_changes(self):
        for form in ({}, SSE):
            with self.subTest(form=form), serving_file(MANY) as (server, path), \
                    watching(server, "job=one&list=discovered", **form) as stream:
                self.assertEqual(stream.take()["type"], "full")
                self.assertEqual(stream.targets, pairs(json.loads(server.ask("/sd/one")[2])))
                self.assertEqual(stream.version, server.ask("/sd/one")[1]["ETag"].strip('"'))
                configure(server, path, MANY.replace("0.0.2", "0.0.3"))
                before, event = stream.version, stream.take()
                self.assertEqual(event, {
                    "type": "diff", "from": before, "version": stream.version,
                    "removed": [{"targets": ["10.0.0.2:80"], "labels": {"team": "red"}}],
                    "added": [{"targets": ["10.0.0.3:80"], "labels": {"team": "red"}}]})
                self.assertEqual(stream.targets, pairs(json.loads(server.ask("/sd/one")[2])))

    def test_after_any_changes_the_reader_has_the_list(self):
        with serving("--sim") as server, watching(server, "job=pods", **SSE) as stream:
            for _ in range(4):
                stream.take()
            end = time.monotonic() + TIMEOUT
            while True:
                status, headers, body = server.ask("/sd/pods/targets")
                self.assertEqual(status, 200)
                if headers["ETag"] == f'"{stream.version}"':
                    break
                self.assertLess(time.monotonic(), end)
                stream.take()
            self.assertEqual(stream.targets, pairs(json.loads(body)))

    def test_selections_and_forms_are_those_of_the_lists(self):
        with serving("--sim") as server:
            for query, path in (("shard=1&shards=3", "/sd/pods/targets?shard=1&shards=3"),
                                ("form=urls", "/sd/pods/targets?form=urls")):
                for _ in range(20):
                    with watching(server, "job=pods&" + query) as stream:
                        stream.take()
                        _, headers, body = server.ask(path)
                    if headers["ETag"] == f'"{stream.version}"':
                        break
                self.assertEqual(stream.targets, pairs(json.loads(body)))

    def test_who_comes_back_with_a_known_version_gets_what_has_changed(self):
        with serving_file(MANY) as (server, path):
            with watching(server, "job=one", **SSE) as stream:
                version = stream.take()["version"]
            with watching(server, "job=one", Last_Event_ID=version, **SSE) as stream:
                self.assertEqual(stream.event(), {"type": "heartbeat", "version": version})
            configure(server, path, MANY.replace("0.0.2", "0.0.3"))
            wait_for_list(server, "/sd/one", b"10.0.0.3")
            for query, headers in (("", {"Last_Event_ID": version, **SSE}),
                                   ("&after=" + version, {}), (f'&after="{version}"', {}),
                                   ("&after=" + "0" * 32, {"Last_Event_ID": version})):
                with watching(server, "job=one" + query, **headers) as stream:
                    event = stream.event()
                    self.assertEqual((event["type"], event["from"]), ("diff", version))

    def test_another_replica_goes_on_where_the_content_is_the_same(self):
        with serving_file(STATIC) as (first, _), serving_file(STATIC) as (second, _):
            with watching(first, "job=one") as stream:
                version = stream.take()["version"]
            with watching(second, "job=one&after=" + version) as stream:
                self.assertEqual(stream.event(), {"type": "heartbeat", "version": version})

    def test_an_unknown_version_gets_all_targets(self):
        with serving_file(STATIC) as (server, _):
            for after in ("0" * 32, "x", '"', "%22%0a", "9" * 8000):
                with watching(server, "job=one&after=" + after) as stream:
                    self.assertEqual(stream.event()["type"], "full")

    def test_nothing_of_a_job_is_delivered_before_it_is_complete(self):
        with serving_file(UNREACHABLE, "--sim", "--heartbeat", 0.05) as (server, path), \
                watching(server, "job=pods") as stream:
            for _ in range(3):
                event = stream.event()
                self.assertEqual(event["type"], "heartbeat")
                self.assertIn("job pods has not been discovered completely", event["reason"])
            configure(server, path, JOBS)
            self.assertEqual(stream.take()["type"], "full")
            self.assertTrue(stream.targets)

    def test_a_job_that_leaves_ends_its_streams(self):
        with serving_file(STATIC) as (server, path):
            for form in ({}, SSE):
                with watching(server, "job=one", **form) as stream:
                    stream.take()
                    configure(server, path, STATIC.replace("one", "two"))
                    self.assertEqual(stream.take(), {
                        "type": "end",
                        "reason": "the configuration no longer has this job"})
                    self.assertEqual(stream.line(), "")
                configure(server, path, STATIC)

    def test_a_reader_that_stalls_gets_the_newest_state_and_costs_nothing(self):
        # Lists that do not fit into the buffers of sockets.
        def big(team):
            return STATIC.replace("red", team * 3_000_000)
        with serving_file(big("a")) as (server, path), \
                watching(server, "job=one", buffer=1 << 16) as stalled:
            for team in "bcdefg":
                configure(server, path, big(team))
                wait_for_list(server, "/sd/one", team.encode() * 80)
            # Fast readers are unaffected.
            with watching(server, "job=one") as other:
                other.take()
            seen = []
            while stalled.version != other.version:
                seen.append(stalled.take()["type"])
            self.assertEqual(stalled.targets, other.targets)
            # Events are coalesced.
            self.assertLess(len(seen), 7, seen)

    def test_readers_are_limited_and_those_who_left_do_not_count(self):
        with serving_file(STATIC, "--max-watches", 1, "--heartbeat", 0.05) as (server, _):
            with watching(server, "job=one") as stream:
                stream.take()
                status, headers, body = server.ask("/v1/watch?job=one")
                self.assertEqual((status, headers["Retry-After"]), (503, "5"))
                self.assertEqual(body, b"1 readers watch lists, which is the limit "
                                       b"(--max-watches)\n")
            end = time.monotonic() + TIMEOUT
            while server.metric("watch_readers") != 0:
                self.assertLess(time.monotonic(), end)
            with watching(server, "job=one") as stream:
                stream.take()

    def test_what_cannot_be_watched_is_said_in_words(self):
        table = {
            "": (400, "job=NAME is required: it names the watched list"),
            "?job=none": (404, "there is no job none"),
            "?job=on": (404, "there is no job on (did you mean one?)"),
            "?job=one&job=one": (400, "job is there twice"),
            "?job=one&list=all": (400, 'list: "all" is not allowed; allowed are targets'),
            "?job=one&list=discovered&form=urls":
                (400, "form=urls: is a form of the relabelled list"),
            "?job=one&hold=1": (400, "hold: applies to lists"),
            "?job=one&shard=1": (400, "shards and one of shard and member belong together"),
        }
        with serving_file(STATIC) as (server, _):
            for query, (status, words) in table.items():
                with self.subTest(query=query):
                    got, text = server.text("/v1/watch" + query)
                    self.assertEqual(got, status)
                    self.assertIn(words, text)
            self.assertEqual(server.metric('watches_total{code="400"}'), len(table) - 2)

    def test_the_end_of_the_program_ends_streams(self):
        with serving_file(STATIC) as (server, _), watching(server, "job=one") as stream:
            stream.take()
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)


def content(folder, name):
    """The content of a file; None if it does not exist."""
    with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name), "rb") as file:
        return file.read()
    return None


def wait_for_file(folder, name, wanted):
    """wanted: its content, or a predicate of the content"""
    if not callable(wanted):
        return wait_for_file(folder, name, lambda text: text == wanted)
    end = time.monotonic() + TIMEOUT
    while not wanted(content(folder, name)):
        assert time.monotonic() < end, content(folder, name)
        time.sleep(0.01)


def put(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def visible(folder):
    return sorted(name for name in os.listdir(folder) if name != ".k8s-sd")


class WrittenFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_each_job_has_a_file_with_the_bytes_of_its_list(self):
        with serving_file(STATIC + JOBS.split(":\n", 1)[1], "--sim", "--write-dir", self.folder,
                          "--write-list", "discovered") as (server, path):
            wait_for_file(self.folder, "serviceMonitor%2Fshop%2Fa%20b%2F0.json", bool)
            wait_for_file(self.folder, "one.json", server.ask("/sd/one")[2])
            configure(server, path, OTHER)
            wait_for_file(self.folder, "one.json", lambda text: b"10.0.0.3" in text)
            self.assertEqual(content(self.folder, "one.json"), server.ask("/sd/one")[2])
            wait_for_file(self.folder, "pods.json", lambda text: text is None)
            self.assertEqual(visible(self.folder), ["one.json"])
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)
        # The end of the program does not remove the targets.
        self.assertEqual(visible(self.folder), ["one.json"])

    def test_a_job_that_leaves_and_returns_has_its_file_again(self):
        with serving_file(STATIC, "--write-dir", self.folder) as (server, path):
            for _ in range(2):
                wait_for_file(self.folder, "one.json", server.ask("/sd/one/targets")[2])
                configure(server, path, STATIC.replace("one", "two"))
                wait_for_file(self.folder, "one.json", lambda text: text is None)
                configure(server, path, STATIC)
            wait_for_file(self.folder, "one.json", server.ask("/sd/one/targets")[2])
            wait_for_file(self.folder, "two.json", lambda text: text is None)

    def test_by_default_the_list_is_relabelled(self):
        with serving_file(STATIC, "--write-dir", self.folder) as (server, _):
            wait_for_file(self.folder, "one.json", server.ask("/sd/one/targets")[2])

    def test_a_file_stays_as_long_as_the_job_is_not_complete(self):
        put(self.folder, "pods.json", "[]")
        with serving_file(UNREACHABLE, "--sim", "--write-dir", self.folder) as (server, path):
            wait_for_file(self.folder, "serviceMonitor%2Fshop%2Fa%20b%2F0.json", bool)
            self.assertEqual(content(self.folder, "pods.json"), b"[]")
            configure(server, path, JOBS)
            wait_for_file(self.folder, "pods.json", lambda text: b"10." in text)

    def test_after_a_restart_only_own_files_are_removed(self):
        put(self.folder, "theirs.json", "[]")
        for jobs in (STATIC, STATIC.replace("one", "two")):
            with serving_file(jobs, "--write-dir", self.folder) as (_, _):
                wait_for_file(self.folder, "one.json", lambda text: bool(text) == (jobs == STATIC))
                if jobs != STATIC:
                    wait_for_file(self.folder, "two.json", bool)
        self.assertEqual(visible(self.folder), ["theirs.json", "two.json"])

    def test_an_error_is_reported_and_the_file_written_when_it_is_gone(self):
        os.mkdir(os.path.join(self.folder, "one.json"))
        with serving_file(STATIC, "--write-dir", self.folder) as (server, _):
            self.assertRegex(server.program.error_line(),
                             r"k8s-sd: job one: cannot write .*/one.json: Is a directory; it is "
                             r"tried again")
            server.wait_for("/readyz", "ok\njob one: cannot write "
                            f"{self.folder}/one.json: Is a directory\n")
            os.rmdir(os.path.join(self.folder, "one.json"))
            wait_for_file(self.folder, "one.json", bool)
            self.assertGreaterEqual(server.metric("file_errors_total"), 1)
            self.assertEqual(server.metric("file_writes_total"), 1)

    def test_a_restart_with_a_mistake_keeps_the_files_of_jobs(self):
        bad = STATIC + "- job_name: two\n  static_configs: [{targets: ['x:1']}]\n"
        with serving_file(bad, "--write-dir", self.folder):
            wait_for_file(self.folder, "two.json", bool)
        before = content(self.folder, "two.json")
        with serving_file(bad + "  scrape_intervall: 5s\n", "--write-dir", self.folder) \
                as (server, _):
            server.wait_for("/readyz", 503)
            self.assertEqual(len(server.targets("/sd/one")), 2)
            self.assertEqual(server.text("/sd/two")[0], 503)
        self.assertEqual(content(self.folder, "two.json"), before)

    def test_a_folder_is_for_one_program(self):
        with serving_file(STATIC, "--write-dir", self.folder):
            result = run("k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--write-dir", self.folder)
        self.assertEqual((result.returncode, result.stderr),
                         (2, f"k8s-sd: --write-dir: another k8s-sd writes to {self.folder}; each "
                             "needs a directory of its own\n"))

    def test_a_folder_that_cannot_be_used_is_named_with_its_option_and_the_remedy(self):
        table = {__file__: " is not a directory; specify an existing one, or one to create",
                 "/proc/none/x": "cannot create or access the directory /proc/none/x: No such file "
                                 "or directory; the parent directory must exist",
                 "/proc": "cannot write /proc/.k8s-sd/lock: No such file or directory; the user of "
                          "k8s-sd needs permission to write there"}
        for program in (("k8s-sd", "--sim", "--listen", "127.0.0.1:0"),
                        ("k8s-sd", "follow", "http://127.0.0.1:1/sd/pods")):
            for folder, message in table.items():
                result = run(*program, "--write-dir", folder)
                self.assertEqual(result.returncode, 2)
                self.assertIn("--write-dir: ", result.stderr)
                self.assertIn(message, result.stderr)

    def test_unusable_arguments(self):
        table = {("--write-list", "targets"): "--write-list: needs --write-dir",
                 ("--write-dir", __file__): __file__ + " is not a directory",
                 ("--write-dir", "/proc/none/x"): ("cannot create or access the "
                                                   "directory /proc/none/x"),
                 ("--write-dir", self.folder, "--write-list", "x"): "--write-list: "}
        for arguments, message in table.items():
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", "--sim", "--listen", "127.0.0.1:0", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)


class Liar:
    """A server that sends prescribed responses."""

    def __init__(self):
        self.url = None
        self.answers = queue.Queue()
        self.asked = queue.Queue()

    def answer(self, handler):
        self.asked.put((handler.path, handler.headers))
        answer = self.answers.get()
        if answer is None:  # stops responding
            handler.close_connection = True
            return
        status, body, *headers = answer
        has_length = any(name == "Content-Length" for name, _ in headers)
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        if not has_length and status != 304:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        if has_length:
            handler.close_connection = True


@contextlib.contextmanager
def lying(context=None):
    liar = Liar()

    class Handler(JsonHandler):
        def do_GET(self):
            liar.answer(self)

        def handle(self):
            with contextlib.suppress(OSError):  # the client has disconnected
                super().handle()

    try:
        with server_with(Handler, context) as liar.url:
            yield liar
    finally:
        for _ in range(100):
            liar.answers.put(None)


@contextlib.contextmanager
def following(folder, *arguments):
    with running("k8s-sd", "follow", "--write-dir", folder, *arguments) as program:
        program.line_with("^follows ")
        yield program


ONE = b'[{"targets": ["10.0.0.1:80"], "labels": {}}]'
TWO = ONE.replace(b"0.1:", b"0.2:")


class Follow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def wait_for(self, wanted, name="one.json"):
        wait_for_file(self.folder, name, wanted)

    def test_a_change_of_a_list_is_a_change_of_its_file(self):
        with serving_file(STATIC) as (server, path):
            url = f"http://127.0.0.1:{server.port}/sd/one"
            with following(self.folder, url, f"mine={url}/targets") as program:
                self.wait_for(server.ask("/sd/one")[2])
                self.wait_for(server.ask("/sd/one/targets")[2], "mine.json")
                wait_for_waiting(server, 2)
                configure(server, path, OTHER)
                wait_for_list(server, "/sd/one", b"10.0.0.3")
                self.wait_for(server.ask("/sd/one")[2])
                self.wait_for(server.ask("/sd/one/targets")[2], "mine.json")
                wait_for_waiting(server, 2)
                # While it waits for a response.
                self.assertEqual(program.signal(signal.SIGTERM), 0)
        self.assertEqual(visible(self.folder), ["mine.json", "one.json"])

    def test_stale_beats_empty(self):
        with lying() as liar, \
                following(self.folder, f"{liar.url}/sd/one") as program:
            liar.answers.put((200, ONE, ("ETag", '"1"')))
            self.wait_for(ONE)
            bad = [((503, b"later\n"), "status 503: later"),
                   ((404, b"there is no job one\n"), "status 404: there is no job one"),
                   ((200, b"<html>"), "the answer is no list of targets"),
                   ((200, ONE[:-1], ("Content-Length", str(len(ONE)))), "partial message"),
                   ((302, b"", ("Location", "/elsewhere")), "status 302: ")]
            for answer, words in bad:
                liar.answers.put(answer)
                if words == "partial message":  # the failure may come from an old connection
                    liar.answers.put(answer)
                self.assertIn(words, program.error_line())
                self.assertEqual(content(self.folder, "one.json"), ONE)
                if words == "the answer is no list of targets":
                    # A good response, so that the next attempt comes soon.
                    liar.answers.put((304, b""))
            liar.answers.put((200, TWO))
            self.wait_for(TWO)

    def test_a_list_is_waited_for_with_its_tag(self):
        with lying() as liar, \
                following(self.folder, f"{liar.url}/sd/one?hold=1", "--wait", 7,
                          "--interval", 0.01):
            path, headers = liar.asked.get(timeout=TIMEOUT)
            self.assertEqual((path, headers["If-None-Match"], headers["Prefer"]),
                             ("/sd/one?hold=1", None, None))
            liar.answers.put((200, ONE, ("ETag", '"1"')))
            for answer in ((304, b""), (200, TWO, ("ETag", '"2"'))):
                _, headers = liar.asked.get(timeout=TIMEOUT)
                self.assertEqual((headers["If-None-Match"], headers["Prefer"]), ('"1"', "wait=7"))
                liar.answers.put(answer)
            self.wait_for(TWO)
            self.assertEqual(liar.asked.get(timeout=TIMEOUT)[1]["If-None-Match"], '"2"')

    def test_a_server_that_goes_away_and_comes_back_is_found_again(self):
        with serving_file(STATIC) as (server, path):
            url = f"http://127.0.0.1:{server.port}/sd/one"
            with following(self.folder, url) as program:
                before = server.ask("/sd/one")[2]
                self.wait_for(before)
                wait_for_waiting(server, 1)
                server.program.process.kill()
                # The connection is open or not yet established.
                self.assertRegex(program.error_line(), "connection (refused|reset)")
                self.assertEqual(content(self.folder, "one.json"), before)
                replace_file(path, OTHER)
                with running("k8s-sd", "--listen", f"127.0.0.1:{server.port}", "--config", path):
                    wait_for_file(self.folder, "one.json", lambda text: b"10.0.0.3" in text)

    def test_an_answer_that_is_too_long_is_refused(self):
        with lying() as liar, \
                following(self.folder, f"{liar.url}/sd/one", "--max-bytes", 10) \
                as program:
            liar.answers.put((200, ONE))
            self.assertIn("body limit exceeded", program.error_line())
            self.assertEqual(visible(self.folder), [])

    def test_a_server_that_stalls_does_not_keep_the_program_from_its_end(self):
        with lying() as liar, \
                following(self.folder, f"{liar.url}/sd/one") as program:
            liar.asked.get(timeout=TIMEOUT)
            self.assertEqual(program.signal(signal.SIGINT), 0)

    def certificate(self):
        """For 127.0.0.1 only."""
        files = [os.path.join(self.folder, "key.pem"), os.path.join(self.folder, "cert.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", files[0], "-out",
                        files[1], "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        return files

    def test_servers_and_clients_are_verified(self):
        key, cert = self.certificate()
        put(self.folder, "token", "secret\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.load_verify_locations(cert)
        context.verify_mode = ssl.CERT_REQUIRED
        ours = ("--client-cert", cert, "--client-key", key, "--token-file",
                os.path.join(self.folder, "token"))
        with lying(context) as liar:
            url = f"{liar.url}/sd/one"
            with following(self.folder, url, "--ca-file", cert, *ours):
                self.assertEqual(liar.asked.get(timeout=TIMEOUT)[1]["Authorization"],
                                 "Bearer secret")
                liar.answers.put((200, ONE))
                self.wait_for(ONE)
            for arguments in ((url, *ours),
                              (url.replace("127.0.0.1", "localhost"), "--ca-file", cert, *ours)):
                with following(self.folder, *arguments) as program:
                    self.assertIn("certificate verify failed", program.error_line())

    def test_a_broken_certificate_of_the_bundle_does_not_affect_the_others(self):
        key, cert = self.certificate()
        with open(cert, encoding="ascii") as file:
            good = file.read()
        broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        put(self.folder, "bundle.pem", broken + good + broken)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        with lying(context) as liar:
            url = f"{liar.url}/sd/one"
            with following(self.folder, url, "--ca-file",
                           os.path.join(self.folder, "bundle.pem")) as program:
                self.assertIn("bundle.pem: 2 of 3 certificates cannot be read, so they are not "
                              "trusted (", program.error_line())
                for _ in range(2):
                    liar.asked.get(timeout=TIMEOUT)
                    liar.answers.put((200, ONE))
                    self.wait_for(ONE)

    def test_unusable_arguments(self):
        url = "http://127.0.0.1:1/sd/one"
        table = {(): "needs the URL of a list",
                 (url, url + "/targets"): "two lists are called one; give NAME=URL",
                 ("ftp://x/y",): "\"ftp://x/y\" is no URL",
                 (url, "--wait", "301"): "--wait: ",
                 (url, "--ca-file", "/nonexistent"): "--ca-file: cannot read the file",
                 (url, "--token-file", "/dev/zero"): "/dev/zero: it is not a regular file",
                 (url, "--client-key", __file__): "--client-key: needs --client-cert FILE"}
        for arguments, message in table.items():
            with self.subTest(arguments=arguments):
                result = run("k8s-sd", "follow", "--write-dir", self.folder, *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)
        self.assertIn("--write-dir DIR is missing", run("k8s-sd", "follow", url).stderr)
        self.assertIn("Usage: k8s-sd follow --write-dir DIR [OPTION]... [URL]...",
                      run("k8s-sd", "follow", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
