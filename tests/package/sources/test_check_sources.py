#!/usr/bin/env python3
"""Every check of check_sources.py and check_language.py detects deliberate mistakes, and
scripts/test-failures finds the reports of sanitizers."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import check_language as language
import check_sources as check


class CheckSourcesTest(unittest.TestCase):
    def test_a_long_line_is_found(self):
        self.assertEqual(list(check.long_lines("a.hpp", "x" * 100)), [])
        self.assertEqual(list(check.long_lines("a.hpp", "\n" + "x" * 101)),
                         ["a.hpp:2: 101 columns, more than 100"])

    def test_long_lines_of_each_language_are_found(self):
        files = ["a.c", "a.cmake", "a.cpp", "a.h", "a.hpp", "a.ipp", "a.py"]
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "--quiet", root], check=True)
            for name in files:
                (root / name).write_text("x" * 101, encoding="utf-8")
            found = sorted(line.partition(":")[0] for line in check.problems(root, "lines", []))
        self.assertEqual(found, files)

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

    def test_a_refused_word_is_found_but_not_in_code(self):
        texts = {"a.hpp": ["The watch is told of `nobody` at once. Nobody waits for it here."]}
        self.assertEqual(list(language.problems_of("comments", texts)),
                         ['a.hpp: "told" in: The watch is told of X at once.',
                          'a.hpp: "Nobody" in: Nobody waits for it here.'])

    def test_each_refused_word_is_found(self):
        for word in ("nobody", "for ever", "tells", "told", "storey", "storeys", "barren",
                     "audience", "audiences", "seat", "seats", "patience", "party", "parties",
                     "flights", "shrunken", "bridge", "bridges",
                     "kept object", "newest wins", "newest state wins"):
            with self.subTest(word):
                texts = {"a": [f"The next word is {word} in this sentence."]}
                self.assertEqual(len(list(language.problems_of("comments", texts))), 1)
        allowed = "Third parties and bytes in flight are counted."
        self.assertEqual(list(language.problems_of("comments", {"a": [allowed]})), [])

    def test_a_refused_name_is_found_but_not_in_a_literal_or_a_comment(self):
        for name in ("ToldStatus", "storey_count", "is_barren", "Audience", "ViewSeat",
                     "seats_", "patience", "read_party", "Flights", "most_pods", "least_delay_",
                     "longest_life", "shortest_wait", "most_recent_pods", "most", "least_",
                     "Turns", "wait_for_turn", "patient_", "shrunken", "deepest_yaml",
                     "bridge_gaps"):
            with self.subTest(name):
                self.assertEqual(list(language.code_problems({"a": f"int {name} = 1;"})),
                                 [f"a: refused name: {name}"])
        code = 'int most_recent_ = f("audience", at_least_two, returned);  // most_pods\n'
        self.assertEqual(list(language.code_problems({"a": code})), [])

    def test_a_refused_message_is_found(self):
        for text in ("nobody reads it", "it waits for ever", "it tells why", "the host is told",
                     "k8s_sd_bridge_targets", "a shrunken list"):
            with self.subTest(text):
                self.assertEqual(list(language.code_problems({"a": f'f("{text}");'})),
                                 [f'a: refused message: "{text}"'])
        self.assertEqual(list(language.code_problems({"a": 'to_string("nobody");'})), [])

    def test_a_refused_name_of_a_test_is_found(self):
        cpp, python = pathlib.Path("a.cpp"), pathlib.Path("a.py")
        for file, code, name in (
                (cpp, 'TEST_CASE("Trie: nobody reads") {', "Trie: nobody reads"),
                (cpp, 'TEST_CASE("Trie: it "\n    "waits for ever") {', "Trie: it waits for ever"),
                (cpp, '    SECTION("the host is told") {', "the host is told"),
                (python, "    def test_nobody_reads(self):", "test_nobody_reads"),
                (python, "def it_waits_for_ever(w):", "it_waits_for_ever")):
            with self.subTest(name):
                self.assertEqual(list(language.test_name_problems({file: code})),
                                 [f"{file}: refused name of a test: {name}"])
        for file, code in ((cpp, 'TEST_CASE("Trie: for every key") {\nf("nobody");'),
                           (python, "def test_for_every(self):\n    f('test_nobody')")):
            self.assertEqual(list(language.test_name_problems({file: code})), [])

    def test_names_of_the_library_and_of_src_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("include/k8s_sd/a.hpp", "include/k8s_sd/detail/a.ipp", "src/a.cpp",
                         "src/page/a.js"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("f(longest_life);\n", encoding="utf-8")
            (root / "CMakeLists.txt").touch()
            self.assertEqual(len(list(language.problems(root))), 4)

    def test_many_relative_pronouns_are_found(self):
        sentence = "The watch that ended reports its error."
        plain = "The watch reports its error."
        self.assertEqual(list(language.problems_of("docs", {"a": [plain] * 4 + [sentence]})), [])
        self.assertEqual(list(language.problems_of("docs", {"a": [plain] * 3 + [sentence]})),
                         ["docs: 0.25 relative pronouns a sentence, more than 0.2"])

    def test_comments_are_read_as_blocks_and_documents_without_their_code(self):
        self.assertEqual(list(language.comment_blocks("/// One\n///  two.\nint x;\n/// 3", "///")),
                         ["One  two.", "3"])
        self.assertEqual(list(language.paragraphs("# T\n\nText.\n```\ncode\n```\n\n| a |\n")),
                         ["Text."])

    def test_comments_beside_code_are_read_and_literals_are_not(self):
        self.assertEqual(language.cpp_comments('// One\nf("a//b");  // two\n'), ["One", "two"])
        python = '#!/usr/bin/env python3\n"""Doc.\n\nMore."""\n# One\nx = "# no"  # two\n'
        self.assertEqual(list(language.python_comments(python)),
                         ["two", "!/usr/bin/env python3", "One", "Doc.", "More."])
        self.assertEqual(list(language.script_comments(python)),
                         list(language.python_comments(python)))
        self.assertEqual(list(language.script_comments("set -eu\n# One\n# two\n")), ["One two"])

    def test_comments_of_every_folder_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            bad = "Nobody reads this comment."
            files = {"CMakeLists.txt": "# ", "cmake/a.cmake": "# ", "scripts/test": "# ",
                     "tests/a.py": "# ", "examples/a.yaml": "# ", "tests/unit/a.cpp": "// ",
                     "bench/a.hpp": "// "}
            for name, marker in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(f"{marker}{bad}\n", encoding="utf-8")
            self.assertEqual(sorted(language.problems(root)),
                             sorted(f'{root / name}: "Nobody" in: {bad}' for name in files))

    def test_the_report_of_a_sanitizer_is_found_in_the_output_of_failed_tests_only(self):
        script = pathlib.Path(__file__).resolve().parents[3] / "scripts/test-failures"
        report = "WARNING: ThreadSanitizer: data race (pid=1)\n" + "  #0 frame\n" * 20000
        for output, verdict, found in ((report, "Test Failed.", True),
                                       ("a.cpp:1: runtime error: overflow\n", "Test Failed.", True),
                                       ("FAILED: 1 == 2\n", "Test Failed.", False),
                                       (report, "Test Passed.", False)):
            with self.subTest(output[:30], verdict=verdict), tempfile.TemporaryDirectory() as root:
                log = pathlib.Path(root) / "LastTest.log"
                log.write_text(f"1/1 Testing: a\nOutput:\n---\n{output}<end of output>\n"
                               f"Test time = 1 sec\n---\n{verdict}\n", encoding="utf-8")
                result = subprocess.run([script, "--sanitizer", log], check=False)
                self.assertEqual(result.returncode == 0, found)


if __name__ == "__main__":
    unittest.main()
