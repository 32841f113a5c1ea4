#!/usr/bin/env python3
"""scripts/man-page makes roff of a program's --help."""
import pathlib
import runpy
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts/man-page"
HELP = """Usage: find [OPTION]... [URL]
Finds things. In words.

Try it:  find --sim

Server; without any of these: the usual one
  URL                        where it is
  --ca-file FILE             the authorities that sign servers, or the file of a system; read again
                             at once
  --snapshot-max-age SECONDS ignore older ones
  --output FORMAT            text
                             json: one object
  --allow-a-very-long-name-of-an-option
                             its help
  --help, --version          print this text

Exit status: 0 fine.
"""


class ManPage(unittest.TestCase):
    def setUp(self):
        page = runpy.run_path(str(SCRIPT))["page"]
        self.lines = list(page("k8s-find", "1.2.3", HELP))
        self.text = "\n".join(self.lines)

    def test_the_head_has_name_version_and_synopsis(self):
        self.assertRegex(self.lines[0], r'^\.TH "K8S-FIND" "1" "\d{4}-\d\d-\d\d" "k8s_sd 1\.2\.3"')
        self.assertIn(r"k8s\-find \- finds things", self.lines)
        self.assertIn("k8s\\-find [OPTION]... [URL]", self.lines)

    def test_headings_are_short(self):
        self.assertIn(".SH SERVER\nwithout any of these: the usual one\n.TP", self.text)

    def test_each_option_is_a_paragraph_with_its_help(self):
        for text in (".TP\n\\fBURL\\fR\nwhere it is\n",
                     ".TP\n\\fB\\-\\-snapshot\\-max\\-age SECONDS\\fR\nignore older ones\n",
                     "or the file of a system; read again\nat once\n",
                     "text\n.br\njson: one object\n",
                     "\\fB\\-\\-allow\\-a\\-very\\-long\\-name\\-of\\-an\\-option\\fR\nits help\n",
                     ".PP\nExit status: 0 fine."):
            self.assertIn(text, self.text)


if __name__ == "__main__":
    unittest.main()
