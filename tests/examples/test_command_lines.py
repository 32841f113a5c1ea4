"""The command lines of all programs and examples share their conventions. Without scraping there
are fewer programs."""

import os
import re
import unittest

from harness import FOLDER, run

SMALL = ("existing_app", "coroutine", "watch_url", "agent", "balancer", "crd_watch",
         "object_cache", "clusters")
LARGE = ("discover", "k8s-sd", "relabel", "scraper")
PROGRAMS = [name for name in (*SMALL, "many_jobs", *LARGE)
            if os.path.exists(os.path.join(FOLDER, name))]

# An option with a value for each program, and its required options.
VALUE_OPTION = {"many_jobs": "--steps", "discover": "--jobs", "relabel": "--dialect",
                "scraper": "--scrapes", "k8s-sd": "--hold"}
NEEDED = {"relabel": ["--rules", "x"], "scraper": ["--sim"], "k8s-sd": ["--sim"]}


def for_each_program(test):
    def all_programs(self):
        for program in PROGRAMS:
            with self.subTest(program):
                test(self, program, VALUE_OPTION.get(program, "--diffs"))
    return all_programs


class CommandLines(unittest.TestCase):
    def refused(self, program, *arguments):
        result = run(program, *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 2, result.stderr)
        self.assertTrue(lines[0].startswith(program + ": "), result.stderr)
        self.assertEqual(lines[1], f"Try '{program} --help'.")
        return lines[0].removeprefix(program + ": ")

    @for_each_program
    def test_help(self, program, option):
        result = run(program, "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith(f"Usage: {program} "))
        for name in (option, "--help, --version"):
            self.assertRegex(result.stdout, f"(?m)^  {name} ")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)
        self.assertNotRegex(result.stdout, "(?m)[ \t]$")
        self.assertEqual(run(program, "-h").stdout, result.stdout)
        # Help needs no other option, and no other option prevents it.
        self.assertEqual(run(program, option, "x", "--help").stdout, result.stdout)

    @for_each_program
    def test_version(self, program, option):
        result = run(program, "--version")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, rf"^{program} \(k8s_sd\) \d+\.\d+\.\d+\n$")

    @for_each_program
    def test_unknown_options(self, program, option):
        self.assertEqual(self.refused(program, "--bogus"),
                         "unknown option --bogus; --help lists the options")
        self.assertEqual(self.refused(program, "-q"), "unknown option -q; --help lists the options")
        self.assertEqual(self.refused(program, "--bogus=1"), self.refused(program, "--bogus"))
        long_name = "--" + "x" * 5000
        self.assertEqual(self.refused(program, long_name),
                         f"unknown option {long_name}; --help lists the options")

    @for_each_program
    def test_what_was_probably_meant(self, program, option):
        for text in (option[:-1], option.replace("s", "z", 1), option + "s", option[1:]):
            if text == option:
                continue
            self.assertEqual(self.refused(program, text),
                             f"unknown option {text} (did you mean {option}?); "
                             "--help lists the options")
        for text in ("--hlep", "--helpme"):
            self.assertIn("(did you mean --help?)", self.refused(program, text))

    @for_each_program
    def test_values(self, program, option):
        self.assertEqual(self.refused(program, option), f"{option} needs a value")
        self.assertEqual(self.refused(program, option + "="), f"{option} needs a value")
        self.assertEqual(self.refused(program, "--help=yes"), "--help takes no value")
        needed = NEEDED.get(program, [])
        for value in ("x", "2x", "-1", " 1", "99999999999999999999"):
            error = self.refused(program, *needed, option, value)
            self.assertRegex(error, f'^{option}: "{re.escape(value)}" is not allowed; allowed ')

    @for_each_program
    def test_arguments_without_a_name(self, program, option):
        too_many = ["b"] if program in LARGE else ["http://127.0.0.1:1", "b"]
        self.assertEqual(self.refused(program, *too_many),
                         "unexpected argument b; --help lists the options")

    def test_urls_that_cannot_be_used(self):
        for program in (*SMALL, "many_jobs"):
            with self.subTest(program):
                result = run(program, "ftp://127.0.0.1")
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr,
                                 f"^{program}: .*url: the scheme must be http or https.*\n$")

    def test_values_that_were_probably_meant(self):
        for arguments, meant in ((("--role", "pods"), "pod"),
                                 (("--role", "endpointslces"), "endpointslice"),
                                 (("--selector", "nod:label:a=b"), "node"),
                                 (("--dialect", "prom"), "prometheus"),
                                 (("--attach", "node,cronjobs"), "cronjob"),
                                 (("--output", "target"), "targets"),
                                 (("--log-level", "warn"), "warning")):
            with self.subTest(arguments):
                error = self.refused("discover", *arguments)
                self.assertTrue(error.startswith(arguments[0] + ": "), error)
                self.assertIn(f" (did you mean {meant}?)", error)

    def test_help_has_sections_of_one_screen(self):
        for program in PROGRAMS:
            for section in run(program, "--help").stdout.split("\n\n"):
                self.assertLessEqual(len(section.splitlines()), 24, section)

    def test_discover_names_every_role(self):
        text = " ".join(run("discover", "--help").stdout.split())
        self.assertIn("--role ROLE node, pod (default), service, endpoints, endpointslice, ingress, "
                      "gateway, httproute, grpcroute or tlsroute ", text)
        self.assertIn("--dialect DIALECT dialect of labels: prometheus (default) or victoriametrics; with a "
                      "version of Prometheus from 3.5 (default) to 3.15: prometheus@3.14 ", text)


if __name__ == "__main__":
    unittest.main()
