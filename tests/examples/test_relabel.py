"""The output and exit status of relabel."""

import json
import os
import subprocess
import unittest

from harness import TIMEOUT, command, environment, file_with

RULES = """\
relabel_configs:
- source_labels: [app]
  target_label: service
- action: drop
  source_labels: [tier]
  regex: test
- action: labeldrop
  regex: __tmp.*
"""


def relabel(text, *arguments, rules=RULES):
    """Runs relabel with this standard input. Returns the result of subprocess.run(), with bytes."""
    with file_with(rules, "rules.yaml") as path:
        words = [path if word == "RULES" else word for word in ("--rules", "RULES", *arguments)]
        return run(text, *words)


def run(text, *arguments):
    data = text if isinstance(text, bytes) else text.encode()
    return subprocess.run(command("relabel", arguments), env=environment(), input=data,
                          capture_output=True, timeout=TIMEOUT)


class Results(unittest.TestCase):
    def results(self, text, *arguments, rules=RULES):
        result = relabel(text, *arguments, rules=rules)
        self.assertEqual(result.stderr, b"")
        self.assertEqual(result.returncode, 0)
        return result.stdout.decode()

    def test_lines_in_lines_out(self):
        output = self.results('{"app": "web", "__tmp": "x"}\n\n  \n{"tier": "test"}\r\n'
                              '{"app": "", "b": "\\u00e9"}')
        self.assertEqual(output, '{"app":"web","service":"web"}\nnull\n{"b":"é"}\n')

    def test_array_in_array_out(self):
        output = self.results('\n [{"app": "web"},\n {"tier": "test"}, {}] \n')
        self.assertEqual(output, '[{"app":"web","service":"web"},null,{}]\n')

    def test_nothing_in_nothing_out(self):
        self.assertEqual(self.results(""), "")
        self.assertEqual(self.results("\n \n"), "")
        self.assertEqual(self.results("[]"), "[]\n")

    def test_a_list_of_rules_needs_no_key(self):
        self.assertEqual(self.results("{}", rules="- {target_label: a, replacement: b}"),
                         '{"a":"b"}\n')

    def test_the_dialect_decides_about_hashes_and_label_references(self):
        rules = "- {action: hashmod, source_labels: [a], modulus: 1000, target_label: h}\n"
        self.assertEqual(json.loads(self.results('{"a": "baz"}', rules=rules))["h"], "976")
        vmagent = ("--dialect", "victoriametrics")
        self.assertEqual(json.loads(self.results('{"a": "abc"}', *vmagent, rules=rules))["h"],
                         str(0x44bc2cf5ad770999 % 1000))
        rules = "- {target_label: b, replacement: '{{a}}'}"
        self.assertEqual(json.loads(self.results('{"a": "x"}', *vmagent, rules=rules))["b"], "x")

    def test_legacy_names(self):
        rules = "- {source_labels: [a], target_label: 'x$1'}"
        self.assertEqual(self.results('{"a": "-"}', rules=rules), '{"a":"-","x-":"-"}\n')
        self.assertEqual(self.results('{"a": "-"}', "--name-validation=legacy", rules=rules),
                         '{"a":"-"}\n')

    def test_explain_prints_every_step(self):
        output = self.results('{"app": "web", "service": "old", "__tmp": "x"}\n{"tier": "test"}',
                              "--explain")
        self.assertEqual(output, """\
label set 1
  rule 0, replace: app is "web", which `(.*)` matches: service becomes "web"
      ~ service: "old" -> "web"
  rule 1, drop: tier is "", which `test` does not match: kept
  rule 2, labeldrop: `__tmp.*` matches 1 of 3 label names: deletes __tmp
      - __tmp: "x"
  result: {"app":"web","service":"web"}
label set 2
  rule 0, replace: app is "", which `(.*)` matches: changes nothing
  rule 1, drop: tier is "test", which `test` matches: dropped
  result: null
""")

    def test_the_targets_of_a_job_are_made_to_the_end(self):
        config = """\
scrape_configs:
- job_name: web
  scheme: https
  scrape_interval: 30s
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_name]
    target_label: pod
- job_name: other
"""
        targets = ('{"__address__": "10.0.0.7:9102", "__meta_kubernetes_pod_name": "p"}\n'
                   '{"__meta_kubernetes_pod_name": "p"}\n')
        with file_with(config) as path:
            result = run(targets, "--config", path, "--job", "web")
            self.assertEqual(result.stderr, b"")
            first, second = result.stdout.decode().splitlines()
            self.assertEqual(json.loads(first), {
                "__address__": "10.0.0.7:9102", "__metrics_path__": "/metrics",
                "__scheme__": "https", "__scrape_interval__": "30s", "__scrape_timeout__": "10s",
                "instance": "10.0.0.7:9102", "job": "web", "pod": "p"})
            self.assertEqual(second, "null")
            result = run(targets, "--config", path, "--job", "web", "--explain")
            lines = result.stdout.decode().splitlines()
            self.assertIn("  instance, which is empty, becomes 10.0.0.7:9102", lines)
            self.assertIn("  scraped: https://10.0.0.7:9102/metrics every 30s, for 10s at most",
                          lines)
            self.assertEqual(lines[-2:], [
                "  failed: there is no address: __address__ is empty", "  result: null"])
            result = run("", "--config", path, "--job", "none")
            self.assertEqual(result.returncode, 2)
            self.assertIn("there is no job none; there are web, other", result.stderr.decode())

    def test_targets_are_those_of_a_version(self):
        config = ("scrape_configs:\n- job_name: web\n  always_scrape_classic_histograms: true\n")
        with file_with(config) as path:
            for dialect, wanted in (("prometheus", None), ("prometheus@3.12", None),
                                    ("prometheus@3.13", "true")):
                result = run('{"__address__": "h:1"}\n', "--config", path, "--job", "web",
                             "--dialect", dialect)
                self.assertEqual(result.stderr, b"")
                labels = json.loads(result.stdout)
                self.assertEqual(labels.get("__always_scrape_classic_histograms__"), wanted)

    def test_a_line_is_answered_before_the_next_is_there(self):
        with file_with(RULES) as path:
            process = subprocess.Popen(command("relabel", ["--rules", path]), env=environment(),
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                for number in range(3):
                    process.stdin.write(b'{"n": "%d"}\n' % number)
                    process.stdin.flush()
                    self.assertEqual(process.stdout.readline(), b'{"n":"%d"}\n' % number)
                process.stdin.close()
                self.assertEqual(process.wait(TIMEOUT), 0)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()

    def test_a_reader_that_goes_away_is_no_error(self):
        with file_with(RULES) as path:
            process = subprocess.Popen(command("relabel", ["--rules", path]), env=environment(),
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            process.stdout.close()
            try:
                process.stdin.write(b"{}\n" * 10)
                process.stdin.close()
            except BrokenPipeError:
                pass
            errors = process.stderr.read()
            process.stderr.close()
            self.assertEqual((process.wait(TIMEOUT), errors), (0, b""))


class Errors(unittest.TestCase):
    def error(self, result, status=2):
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr.decode(errors="replace")

    def test_arguments(self):
        for arguments, text in ((["--rule", "x"], "unknown option --rule"),
                                (["x"], "unexpected argument x"),
                                ([], "--rules FILE is missing, or --config FILE and --job NAME"),
                                (["--rules", "x", "--job", "y"], "--rules is not for --config"),
                                (["--job", "y"], "--job needs --config FILE"),
                                (["--config", "x"], "--config needs --job NAME"),
                                (["--config", "x", "--job", "y", "--name-validation", "legacy"],
                                 "--name-validation is not for --config"),
                                (["--rules"], "--rules needs a value"),
                                (["--rules="], "--rules needs a value"),
                                (["--explain=1"], "--explain takes no value"),
                                (["--dialect", "x"], "allowed are prometheus, victoriametrics"),
                                (["--name-validation", "x"], "allowed are utf8, legacy")):
            with self.subTest(arguments):
                error = self.error(run("", *arguments))
                self.assertIn(text, error)
                self.assertIn("relabel --help", error)

    def test_help_and_version(self):
        for option, text in (("--help", b"Usage: relabel"), ("--version", b"relabel (k8s_sd) ")):
            result = run("", option)
            self.assertEqual(result.returncode, 0)
            self.assertTrue(result.stdout.startswith(text))

    def test_rules_that_cannot_be_read(self):
        missing = os.path.join("no", "such", "file")
        self.assertIn(missing, self.error(run("", "--rules", missing)))

    def test_rules_that_are_wrong_are_named_by_file_line_and_key(self):
        rules = "- target_label: a\n- target_label: b\n  regex: '('\n"
        error = self.error(relabel("", rules=rules))
        self.assertRegex(error,
                         r"^relabel: .*rules\.yaml:3: relabel_configs\[1\]\.regex: .*missing \)")

    def test_bad_input_is_named_by_its_place(self):
        for text, where in (
                ('{"a": "b"}\n{"a": 1}', 'line 2: the value of "a" must be a text in quotes'),
                ('{"a": "b"}\n\n{"a" "b"}', "line 3, byte 6: no JSON: "),
                ("{} {}", "line 1, byte 4: no JSON: extra data"),
                ("7", "line 1: a label set must be an object"),
                ("null", "line 1: a label set must be an object"),
                ("x", "line 1, byte 1: no JSON: "),
                ("{", "line 1, byte 2: no JSON: incomplete JSON"),
                ('\n[{"a": "b"},\n  {"a": null}]', 'element 1: the value of "a" must be'),
                ('\n[{"a": "b"},\n  {"a": x}]', "line 3, byte 9: no JSON: "),
                ("[{}]\n{}", "line 2, byte 1: no JSON: extra data"),
                ("[[]]", "element 0: a label set must be an object"),
                (b'{"a": "\xff"}', "line 1, byte 8: no JSON: "),
                ("[" * 1000, "no JSON: too deep")):
            with self.subTest(text):
                error = self.error(relabel(text))
                self.assertTrue(error.startswith("relabel: standard input: "), error)
                self.assertIn(where, error)

    def test_rules_beyond_a_limit_are_named(self):
        rules = ("- &r {source_labels: [x], target_label: x, replacement: $1$1}\n" +
                 "- *r\n" * 40)
        for options in ((), ("--explain",)):
            result = relabel('{"x": "a"}', *options, rules=rules)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"relabel: relabel_configs[20]: a text would be longer than 1048576 "
                          b"bytes", result.stderr)

    def test_lines_before_a_bad_one_are_answered(self):
        result = relabel('{"a": "b"}\nx\n')
        self.error(result)
        self.assertEqual(result.stdout, b'{"a":"b"}\n')


if __name__ == "__main__":
    unittest.main()
