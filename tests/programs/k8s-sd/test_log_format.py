"""Logs for machines: --log-format json and logfmt of k8s-sd and discover."""

import json
import pathlib
import re
import shlex
import signal
import tempfile
import unittest

from harness import file_with, run, running

JOBS = "scrape_configs: [{job_name: pods, kubernetes_sd_configs: [{role: pod}]}]\n"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
KEYS = ["time", "level", "program", "msg"]


def read_logfmt(line):
    return dict(word.split("=", 1) for word in shlex.split(line))


class OfK8sSd(unittest.TestCase):
    def events(self, *arguments, read=json.loads):
        with running("k8s-sd", "--sim", "--listen", "127.0.0.1:0", *arguments) as program:
            events = []
            while not events or events[-1].get("event") != "job_complete":
                events.append(read(program.log_line()))
            program.process.send_signal(signal.SIGTERM)
            for line in program.process.communicate()[1].splitlines():
                events.append(read(line))
        return events

    def check(self, events):
        for event in events:
            self.assertEqual(list(event)[:4], KEYS)
            self.assertRegex(event["time"], f"^{TIME}$")
            self.assertEqual((event["level"], event["program"]), ("info", "k8s-sd"))
        names = [event.get("event") for event in events]
        self.assertEqual(names[0], "config_applied")
        self.assertEqual(names[-1], "end")
        complete = events[names.index("job_complete")]
        self.assertEqual(complete["job"], "pods")
        self.assertGreater(int(complete["discovered"]), 0)
        self.assertEqual(events[-1]["signal"], "SIGTERM")

    def test_as_json(self):
        with file_with(JOBS) as config:
            events = self.events("--config", config, "--log-format", "json")
        self.check(events)
        self.assertEqual(events[0]["jobs"], 1)

    def test_as_logfmt(self):
        with file_with(JOBS) as config:
            self.check(self.events("--config", config, "--log-format", "logfmt",
                                   read=read_logfmt))

    def test_lines_of_the_library_have_the_same_form(self):
        with running("k8s-sd", "--role", "pod", "--api-server", "http://127.0.0.1:1", "--listen",
                     "127.0.0.1:0", "--log-format", "json") as program:
            event = {}
            while event.get("level") != "warning":
                event = json.loads(program.log_line())
        self.assertEqual(event["resource"], "pods")
        self.assertIn("http://127.0.0.1:1", event["msg"])
        self.assertIn("refused", event["error"])

    def test_lines_of_the_library_have_a_time_as_text(self):
        with running("k8s-sd", "--role", "pod", "--api-server", "http://127.0.0.1:1", "--listen",
                     "127.0.0.1:0") as program:
            line = program.log_line()
            while "k8s_sd: warning: " not in line:
                line = program.log_line()
        self.assertRegex(line, f"^{TIME} k8s_sd: warning: ")

    def test_the_last_error_has_the_same_form(self):
        result = run("k8s-sd", "--config", "/nonexistent/file", "--log-format", "json")
        self.assertEqual(result.returncode, 2)
        event = json.loads(result.stderr)
        self.assertEqual(event["level"], "error")
        self.assertIn("/nonexistent/file", event["msg"])

    def test_an_unknown_form_is_refused(self):
        result = run("k8s-sd", "--sim", "--log-format", "xml")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "--log-format: .*text, json.*logfmt")


class OfFollow(unittest.TestCase):
    def first_warning(self, *arguments):
        with tempfile.TemporaryDirectory() as folder, \
                running("k8s-sd", "follow", "http://127.0.0.1:1/sd/pods", "--write-dir", folder,
                        *arguments) as program:
            return program.log_line()

    def test_lines_are_events(self):
        event = json.loads(self.first_warning("--log-format", "json"))
        self.assertEqual(list(event)[:4], KEYS)
        self.assertRegex(event["time"], f"^{TIME}$")
        self.assertEqual((event["level"], event["program"]), ("warning", "k8s-sd follow"))
        self.assertIn("http://127.0.0.1:1/sd/pods", event["msg"])
        event = read_logfmt(self.first_warning("--log-format", "logfmt", "--no-log-times"))
        self.assertEqual(list(event), KEYS[1:])
        self.assertEqual((event["level"], event["program"]), ("warning", "k8s-sd follow"))


class OfThePage(unittest.TestCase):
    """docs/guide/logs.md has the events of the code, with their levels and keys."""
    ROOT = pathlib.Path(__file__).parents[3]
    WRITTEN = re.compile(r'write\(\s*(?:k8s_sd::LogLevel::)?(\w+),(?:(?!write\().)*?'
                         r'\{\{"event", "(\w+)"\}(.*?)\}\);', re.DOTALL)

    def events_of_the_code(self):
        events, named = {}, 0
        for path in (self.ROOT / "src/programs").rglob("*.cpp"):
            text = path.read_text(encoding="utf-8")
            named += text.count('{"event", "')
            for level, name, rest in self.WRITTEN.findall(text):
                events[name] = (level, re.findall(r'\{"(\w+)",', rest))
        self.assertEqual(len(events), named)
        return events

    def test_it_has_each_event_and_each_key(self):
        page = (self.ROOT / "docs/guide/logs.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)` \| (info|warning|error) \|(.*)\|$", page, re.MULTILINE)
        listed = {name: (level, re.findall(r"`(\w+)`", keys)) for name, level, keys in rows}
        events = self.events_of_the_code()
        self.assertEqual(listed, events)
        first = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", page.partition("| Event |")[0],
                           re.MULTILINE)
        keys = {key for cell in first for key in re.findall(r"`(\w+)`", cell)}
        used = {key for _, of_event in events.values() for key in of_event}
        self.assertLessEqual(used | {"event", *KEYS}, keys)
        self.assertLessEqual(keys, used | {"event", "resource", "namespace", "error", *KEYS})


class OfDiscover(unittest.TestCase):
    def test_each_line_is_an_event(self):
        result = run("discover", "--api-server", "http://127.0.0.1:1", "--once", "--timeout", "0.2",
                     "--log-format", "json")
        self.assertEqual(result.returncode, 3)
        events = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertEqual({event["program"] for event in events}, {"discover"})
        self.assertRegex(events[-1]["msg"], r"^not synced after 0\.2 s:\n  pods: ")
        self.assertTrue(all(re.fullmatch(TIME, event["time"]) for event in events))


if __name__ == "__main__":
    unittest.main()
