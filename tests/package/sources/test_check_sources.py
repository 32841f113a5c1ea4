#!/usr/bin/env python3
"""Every check of check_sources.py fails where it should."""
import json
import pathlib
import tempfile
import unittest

import check_sources as check


class CheckSourcesTest(unittest.TestCase):
    def test_a_long_line_is_found(self):
        self.assertEqual(list(check.long_lines("a.hpp", "x" * 100)), [])
        self.assertEqual(list(check.long_lines("a.hpp", "\n" + "x" * 101)),
                         ["a.hpp:2: 101 columns, more than 100"])

    def test_a_long_literal_may_be_longer(self):
        self.assertEqual(list(check.long_lines("a.cpp", '    f("' + "x" * 100 + '");')), [])

    def test_a_source_that_no_target_compiles_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            unity = build / "Unity" / "unity_0.cxx"
            unity.parent.mkdir()
            unity.write_text(f'#include "{build}/a.cpp"\n', encoding="utf-8")
            (build / "compile_commands.json").write_text(json.dumps(
                [{"file": str(unity)}, {"file": str(build / "b.cpp")}]), encoding="utf-8")
            compiled = check.compiled_files(build)
            self.assertEqual(list(check.uncompiled(build, ["a.cpp", "b.cpp", "c.cpp"], compiled)),
                             ["c.cpp: no target compiles it"])

    def test_a_header_that_the_script_does_not_install_is_found(self):
        text = "find_path(X some/header.h)\nfind_package(ZLIB REQUIRED)\nfind_package(Other 3)"
        self.assertEqual(len(list(check.unknown_dependencies(text, "header zlib.h"))), 2)
        self.assertEqual(
            list(check.unknown_dependencies(text, "header zlib.h some/header.h Other")), [])


if __name__ == "__main__":
    unittest.main()
