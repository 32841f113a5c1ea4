"""k8s-sd tells changes: long polls, held answers, streams, files, and `k8s-sd follow`."""

import concurrent.futures
import contextlib
import http.client
import signal
import time
import unittest

from harness import PATIENCE
from test_k8s_sd import STATIC, UNREACHABLE, replace, serving_file

OTHER = STATIC.replace("10.0.0.2", "10.0.0.3")


@contextlib.contextmanager
def connected(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        yield connection


def ask(connection, path, **headers):
    """Status, headers, body, on a connection that stays."""
    connection.request("GET", path, headers={
        name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def configure(server, path, text):
    replace(path, text)
    assert server.text("/-/reload", method="POST") == (200, "ok\n")


def wait_for_waiting(server, count, job="one"):
    end = time.monotonic() + PATIENCE
    while server.metric(f'held_requests{{job="{job}"}}') != count:
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
                status, headers, _ = answer.result(timeout=PATIENCE)
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
            # So many tags are none of ours.
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
            self.assertEqual(answer.result(timeout=PATIENCE)[0], 304)
            configure(server, path, STATIC)
            answer = waiting()
            self.assertEqual(server.program.signal(signal.SIGTERM), 0)
            self.assertEqual(answer.result(timeout=PATIENCE)[0], 304)


class HeldAnswers(unittest.TestCase):
    def test_a_connection_gets_a_list_once_and_then_when_it_changes(self):
        with serving_file(STATIC) as (server, path), connected(server) as agent, \
                concurrent.futures.ThreadPoolExecutor() as readers:
            first = ask(agent, "/sd/one?hold=1")
            self.assertEqual(first[0], 200)
            again = readers.submit(ask, agent, "/sd/one?hold=1",
                                   X_Prometheus_Refresh_Interval_Seconds="250")
            wait_for_waiting(server, 1)
            # A new connection may be a new agent.
            self.assertEqual(server.ask("/sd/one?hold=1")[2], first[2])
            configure(server, path, OTHER)
            status, _, body = again.result(timeout=PATIENCE)
            self.assertEqual((status, b"10.0.0.3" in body), (200, True))

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


if __name__ == "__main__":
    unittest.main()
