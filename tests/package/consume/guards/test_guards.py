#!/usr/bin/env python3
"""An incompatible host fails to compile or link, and the error names the incompatibility.

usage: test_guards.py COMPILER    with pkg-config's path set to the installed packages
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(1)
FLAGS = subprocess.run(["pkg-config", "--cflags", "--libs", "--static", "k8s_sd"], check=True,
                       capture_output=True, text=True).stdout.split()
HOST = """
#include <k8s_sd/error.hpp>
#include <iostream>
int main() { std::cout << k8s_sd::category().name(); }
"""


class GuardTest(unittest.TestCase):
    def build(self, *options, text=HOST):
        """Compiles and links; returns the exit status and the compiler's output."""
        source = self.directory / "host.cpp"
        source.write_text(text, encoding="utf-8")
        run = subprocess.run([COMPILER, *options, str(source), "-o", str(self.directory / "host"),
                              *FLAGS], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_a_host_as_it_should_be_builds(self):
        status, said = self.build("-std=c++20")
        self.assertEqual(status, 0, said)

    def test_a_host_without_rtti_does_not_compile(self):
        status, said = self.build("-std=c++20", "-fno-rtti")
        self.assertNotEqual(status, 0)
        self.assertIn("k8s_sd needs RTTI", said)

    def test_a_host_of_cpp17_does_not_compile(self):
        status, said = self.build("-std=c++17")
        self.assertNotEqual(status, 0)
        self.assertIn("k8s_sd needs C++20", said)

    def test_a_host_with_another_boost_does_not_link(self):
        version = self.directory / "other" / "boost" / "version.hpp"
        version.parent.mkdir(parents=True)
        version.write_text("#define BOOST_VERSION 108800\n#define BOOST_LIB_VERSION \"1_88\"\n",
                           encoding="utf-8")
        status, said = self.build("-std=c++20", f"-I{version.parents[1]}")
        self.assertNotEqual(status, 0)
        self.assertRegex(said, r"undefined reference to .*library_was_built_with_boost_108800")

    def test_a_host_with_an_old_boost_does_not_compile(self):
        version = self.directory / "other" / "boost" / "version.hpp"
        version.parent.mkdir(parents=True)
        version.write_text("#define BOOST_VERSION 107400\n#define BOOST_LIB_VERSION \"1_74\"\n",
                           encoding="utf-8")
        status, said = self.build("-std=c++20", f"-I{version.parents[1]}")
        self.assertNotEqual(status, 0)
        self.assertIn("k8s_sd needs Boost 1.81", said)

    def test_the_bodies_are_refused_where_the_shared_library_is_linked(self):
        # The compiler ends at the first error. Without that option it reads all bodies, a minute.
        status, said = self.build("-std=c++20", "-DK8S_SD_SHARED", "-Wfatal-errors",
                                  "-fsyntax-only", text="#include <k8s_sd/src.hpp>\n" + HOST)
        self.assertNotEqual(status, 0)
        self.assertIn("this program links the library", said)


if __name__ == "__main__":
    unittest.main()
