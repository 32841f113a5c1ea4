"""Logs for machines: --log-format json and logfmt of k8s-sd and discover."""

import json
import pathlib
import re
import shlex
import signal
import tempfile
import unittest

from harness import file_with, replace_file, run, running

JOBS = "scrape_configs: [{job_name: pods, kubernetes_sd_configs: [{role: pod}]}]\n"
# An address with a slash cannot be scraped.
INVALID = """
scrape_configs:
- job_name: some
  static_configs: [{targets: ['10.0.0.1:80', 'a:1', 'b:1']}]
  relabel_configs: [{source_labels: [__address__], regex: '([ab]):1', target_label: __address__,
                     replacement: '$1/no/address'}]
"""
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
KEYS = ["time", "level", "program", "msg", "event"]


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

    def wait_for(self, program, name):
        """The next event of this name."""
        event = {}
        while event.get("event") != name:
            event = json.loads(program.log_line())
        return event

    def check(self, events):
        for event in events:
            self.assertEqual(list(event)[:5], KEYS)
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

    def test_a_refused_configuration_is_an_event(self):
        with file_with(JOBS) as config, running(
                "k8s-sd", "--sim", "--listen", "127.0.0.1:0", "--config", config,
                "--check-interval", "0.05", "--log-format", "json") as program:
            self.wait_for(program, "job_complete")
            replace_file(config, "scrape_configs: {")
            event = self.wait_for(program, "config_refused")
        self.assertEqual(list(event), KEYS)
        self.assertEqual(event["level"], "warning")
        self.assertIn("the previous configuration stays in use: ", event["msg"])
        self.assertIn(config, event["msg"])

    def test_targets_that_cannot_be_scraped_are_an_event(self):
        with file_with(INVALID) as config, running(
                "k8s-sd", "--listen", "127.0.0.1:0", "--config", config, "--log-format",
                "json") as program:
            event = self.wait_for(program, "targets_failed")
        self.assertEqual(list(event), [*KEYS, "job", "targets"])
        self.assertEqual((event["level"], event["job"], event["targets"]), ("warning", "some", 2))
        self.assertIn("__address__ must be host:port", event["msg"])

    def test_lines_of_the_library_have_the_same_form(self):
        with running("k8s-sd", "--role", "pod", "--api-server", "http://127.0.0.1:1", "--listen",
                     "127.0.0.1:0", "--log-format", "json") as program:
            event = {}
            while event.get("level") != "warning":
                event = json.loads(program.log_line())
        self.assertEqual((event["event"], event["resource"]), ("watch_failed", "pods"))
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
        self.assertEqual((event["level"], event["event"]), ("error", "failed"))
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
        self.assertEqual(list(event)[:5], KEYS)
        self.assertRegex(event["time"], f"^{TIME}$")
        self.assertEqual((event["level"], event["program"]), ("warning", "k8s-sd follow"))
        self.assertEqual(event["event"], "file_problem")
        self.assertIn("http://127.0.0.1:1/sd/pods", event["msg"])
        event = read_logfmt(self.first_warning("--log-format", "logfmt", "--no-log-times"))
        self.assertEqual(list(event), KEYS[1:])
        self.assertEqual((event["level"], event["program"]), ("warning", "k8s-sd follow"))


class OfThePage(unittest.TestCase):
    """docs/guide/logs.md has the events of the code, with their meanings and keys."""
    ROOT = pathlib.Path(__file__).parents[3]
    WITH_FIELDS = re.compile(r'(\w+),[^{}]*\{(\{"\w+",.*?\})\}\);', re.DOTALL)

    def setUp(self):
        self.page = self.text("docs/guide/logs.md")

    def text(self, path):
        return (self.ROOT / path).read_text(encoding="utf-8")

    def events_of(self, header, enumeration):
        """Names and meanings."""
        body = re.search(rf"enum class {enumeration} .*?\{{(.*?)\n\}};", self.text(header),
                         re.DOTALL)
        events = re.findall(r"^ +(\w+), +///< (.*)$", body[1], re.MULTILINE)
        self.assertEqual(len(events), body[1].strip().count("\n") + 1, "a line for each event")
        return events

    def keys_of_events(self):
        keys = {}
        for path in (self.ROOT / "src/programs").rglob("*.cpp"):
            for call in path.read_text(encoding="utf-8").split(" Event::")[1:]:
                if match := self.WITH_FIELDS.match(call):
                    keys[match[1]] = re.findall(r'\{"(\w+)",', match[2])
        return keys

    def test_it_has_the_events_of_the_programs_with_their_keys(self):
        keys = self.keys_of_events()
        self.assertGreater(len(keys), 5)
        for name, meaning in self.events_of("src/programs/cli/event_log.hpp", "Event"):
            listed = ", ".join(f"`{key}`" for key in keys.get(name, []))
            self.assertIn(f"| `{name}` | {meaning} |" + (f" {listed} |\n" if listed else " |\n"),
                          self.page)

    def test_it_has_the_events_of_the_library(self):
        for name, meaning in self.events_of("include/k8s_sd/logger.hpp", "LogEvent"):
            self.assertIn(f"| `{name}` | {meaning} |\n", self.page)

    def test_it_has_no_other_events(self):
        listed = re.findall(r"^\| `(\w+)` \|", self.page.partition("## Events")[2], re.MULTILINE)
        known = [name for name, _ in self.events_of("src/programs/cli/event_log.hpp", "Event") +
                 self.events_of("include/k8s_sd/logger.hpp", "LogEvent")]
        self.assertEqual(listed, known)
        self.assertEqual(len(set(known)), len(known))

    def test_each_event_is_written_somewhere(self):
        code = "".join(path.read_text(encoding="utf-8") for folder in ("src/programs", "include")
                       for path in (self.ROOT / folder).rglob("*.?pp"))
        for name, _ in self.events_of("src/programs/cli/event_log.hpp", "Event"):
            self.assertGreater(len(re.findall(rf"\bEvent::{name}\b", code)), 1, name)
        for name, _ in self.events_of("include/k8s_sd/logger.hpp", "LogEvent"):
            self.assertGreater(len(re.findall(rf"\bLogEvent::{name}\b", code)), 1, name)

    def test_it_has_each_key(self):
        first = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", self.page.partition("## Events")[0],
                           re.MULTILINE)
        keys = {key for cell in first for key in re.findall(r"`(\w+)`", cell)}
        used = {key for of_event in self.keys_of_events().values() for key in of_event}
        self.assertEqual(keys, used | {"resource", "namespace", "error", *KEYS})


class OfDiscover(unittest.TestCase):
    def test_each_line_is_an_event(self):
        result = run("discover", "--api-server", "http://127.0.0.1:1", "--once", "--timeout", "0.2",
                     "--log-format", "json")
        self.assertEqual(result.returncode, 3)
        events = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertEqual({event["program"] for event in events}, {"discover"})
        self.assertEqual([event["event"] for event in events], ["watch_failed", "not_synced"])
        self.assertRegex(events[-1]["msg"], r"^not synced after 0\.2 s:\n  pods: ")
        self.assertTrue(all(re.fullmatch(TIME, event["time"]) for event in events))

    def test_the_last_error_has_the_same_form(self):
        result = run("discover", "--log-format", "json", "--kubeconfig", "/nonexistent/file")
        self.assertEqual(result.returncode, 2)
        event = json.loads(result.stderr)
        self.assertEqual((event["level"], event["event"]), ("error", "failed"))
        self.assertIn("/nonexistent/file", event["msg"])


if __name__ == "__main__":
    unittest.main()
