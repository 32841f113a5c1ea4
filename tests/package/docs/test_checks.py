#!/usr/bin/env python3
"""The checks of documents, failures.md, labels.md, options and the reference detect deliberate
mistakes.

usage: test_checks.py PROJECT_DIRECTORY
"""
import pathlib
import shutil
import sys
import tempfile
import unittest

import check_documents
import check_failures
import check_labels
import check_options
import check_reference

PROJECT = pathlib.Path(sys.argv.pop(1))


class OptionsTest(unittest.TestCase):
    HEADER = """
struct Options {
    /// Not a member: int commented = 0;
    std::size_t max_bytes = std::size_t{1} << 20;  ///< a limit
    std::map<std::string, std::vector<std::string>> extra{};
    std::function<void(const std::string& why)> on_end{};
    enum class Mode : bool { off, on };
    Mode mode = Mode::off;
    bool off() const noexcept { return mode == Mode::off; }
    auto operator<=>(const Options&) const = default;
};
"""

    def problems(self, page, structs=("Options",)):
        return list(check_options.page_problems("page", page, {"header": (self.HEADER, structs)}))

    def test_the_guide_as_it_is_has_no_problem(self):
        self.assertEqual(list(check_options.problems(PROJECT)), [])

    def test_data_members_are_options(self):
        self.assertEqual(check_options.members(self.HEADER, "Options"),
                         ["max_bytes", "extra", "on_end", "mode"])

    def test_an_option_outside_of_tables_is_found(self):
        page = "`mode` is on.\n\n| `watch.max_bytes` | `extra`, [`on_end`](#end) |\n"
        self.assertEqual(self.problems(page), ["docs/guide/page.md: no table has Options::mode"])

    def test_a_struct_that_is_gone_is_found(self):
        self.assertEqual(self.problems("", ("Gone",)),
                         ["include/k8s_sd/header.hpp: has no members of a struct Gone"])


class FailuresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tests = check_failures.tests_of(PROJECT)
        cls.document = (PROJECT / "docs/internals/failures.md").read_text(encoding="utf-8")

    def problems(self, document):
        return list(check_failures.problems_of(document, self.tests))

    def expect(self, text, proof):
        """With that proof in a separate row."""
        self.expect_of(text, f"| F1 | It breaks. | It goes on. | {proof} |\n")

    def expect_of(self, text, document):
        problems = self.problems(document)
        self.assertTrue(any(text in p for p in problems), f"{problems} do not say: {text}")

    def test_the_page_as_it_is_has_no_problem(self):
        self.assertEqual(self.problems(self.document), [])

    def test_a_test_case_that_is_gone_is_found(self):
        self.expect("there is no test 'unit: Backoff: it works'", "`unit: Backoff: it works`")

    def test_a_test_case_of_another_suite_is_found(self):
        name = "Backoff: jitter spreads clients that fail together"
        self.assertIn(f"unit: {name}", self.tests)
        self.expect(f"there is no test 'sim: {name}'", f"`sim: {name}`")

    def test_a_scenario_that_is_gone_is_found(self):
        self.expect("there is no test 'blackbox: streams/gone'", "`blackbox: streams/gone`")

    def test_a_variant_that_is_gone_is_found(self):
        name = "blackbox: streams/a-proxy-cuts-idle-watches"
        self.assertIn(name, self.tests)
        self.expect(f"there is no test '{name}:gone'", f"`{name}:gone`")

    def test_a_row_without_a_proof_is_found(self):
        for proof in ("", "it is obvious", "not yet:", "does not apply", "`Backoff: it works`"):
            with self.subTest(proof):
                self.expect(f"F1: '{proof}' is neither a test", proof)

    def test_the_second_proof_of_a_row_counts_too(self):
        self.expect("F1: 'hm' is neither a test", "not yet: no time<br>hm")

    def test_a_missing_column_is_found(self):
        self.expect_of("F1 has 3 columns, not 4", "| F1 | It breaks. | not yet: no time |")

    def test_a_missing_row_is_found(self):
        for row in ("| F7 |", "| F75 |", "| M1 |"):
            with self.subTest(row):
                document = self.document.replace(row, "| X |")
                self.assertNotEqual(document, self.document)
                self.expect_of("not complete or not in order", document)

    def test_a_name_of_several_literals_is_one_name(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "tests/unit"
            folder.mkdir(parents=True)
            text = 'TEST_CASE("Some: \\"quoted\\", "\n          "long name", "[tag]") {'
            (folder / "test.cpp").write_text(text, encoding="utf-8")
            self.assertEqual(list(check_failures.test_cases(pathlib.Path(name))),
                             ['unit: Some: "quoted", long name'])


class LabelsTest(unittest.TestCase):
    """In a copy of the files that the check reads."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path in ("include/k8s_sd/kind.hpp", "include/k8s_sd/detail/labels/label_origin.ipp",
                     "include/k8s_sd/detail/base/dialect_rules.hpp",
                     "include/k8s_sd/detail/kinds", "docs/guide/labels.md"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            source = PROJECT / path
            (shutil.copytree if source.is_dir() else shutil.copy)(source, self.root / path)

    def change(self, path, before, after):
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        self.assertIn(before, text)
        file.write_text(text.replace(before, after, 1), encoding="utf-8")

    def expect(self, *problems):
        found = list(check_labels.complaints(self.root))
        self.assertEqual(len(found), len(problems), found)
        for problem, complaint in zip(problems, found):
            self.assertIn(problem, complaint)

    def test_the_page_as_it_is_has_no_problem(self):
        self.expect()

    def test_a_row_that_differs_is_found_and_mended(self):
        self.change("include/k8s_sd/detail/kinds/pod.hpp", "empty until the pod is on a node", "hm")
        self.expect("the list 'pod group' of docs/guide/labels.md is not what the code says")
        check_labels.write(self.root)
        self.expect()

    def test_another_first_version_of_a_label_is_found_and_mended(self):
        self.change("include/k8s_sd/detail/kinds/node.hpp", "PrometheusVersion::v3_12}",
                    "PrometheusVersion::v3_14}")
        self.expect("the list 'node group' of docs/guide/labels.md is not what the code says")
        check_labels.write(self.root)
        self.expect()

    def test_another_row_of_the_table_of_versions_is_found_and_mended(self):
        self.change("include/k8s_sd/detail/base/dialect_rules.hpp",
                    "{&VersionRules::needs_known_node, PrometheusVersion::v3_11}",
                    "{&VersionRules::needs_known_node, PrometheusVersion::v3_10}")
        self.expect("the list 'versions' of docs/guide/labels.md is not what the code says")
        check_labels.write(self.root)
        self.expect()

    def test_an_origin_that_differs_is_found(self):
        self.change("include/k8s_sd/detail/labels/label_origin.ipp", "spec.nodeName", "spec.node")
        self.expect("the list 'origins' of docs/guide/labels.md")

    def test_a_label_without_a_row_is_found(self):
        self.change("include/k8s_sd/detail/kinds/ingress.hpp",
                    '"__meta_kubernetes_ingress_host"', '"__meta_kubernetes_ingress_new"')
        self.expect("docs/guide/labels.md lacks __meta_kubernetes_ingress_new",
                    "docs/guide/labels.md names __meta_kubernetes_ingress_host, "
                    "but no role makes it",
                    "label_origin.ipp lacks __meta_kubernetes_ingress_new")

    def test_a_row_that_cannot_be_read_is_found(self):
        self.change("include/k8s_sd/detail/kinds/ingress.hpp", '{"ingress_host", target',
                    '{"ingress_host", here')
        self.assertRaises(ValueError, lambda: list(check_labels.complaints(self.root)))


class AnswersTest(unittest.TestCase):
    def test_each_row_counts_whatever_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("# Page\n\n## Places\n\n| Subject | File |\n|---|---|\n| a | `a.hpp` |\n"
                            "| b | `b.hpp` ([page](b.md))|\n| c | `c.hpp`, `d.hpp`\n\n## Next\n",
                            encoding="utf-8")
            self.assertEqual(list(check_documents.answers_of(page, "Places")),
                             [("a", ["a.hpp"]), ("b", ["b.hpp"]), ("c", ["c.hpp", "d.hpp"])])


class ReferenceTest(unittest.TestCase):
    @staticmethod
    def complaint(file, text="Member x (variable) of struct k8s_sd::X is not documented.", line=1):
        return f"/k/include/k8s_sd/{file}:{line}: warning: {text}\n"

    def problems(self, output, status=0):
        return list(check_reference.problems_of(output, status))

    def test_names_of_kubernetes_are_no_problem(self):
        self.assertEqual(self.problems(self.complaint("api/pod.hpp") +
                                       self.complaint("sim/builders.hpp")), [])

    def test_another_name_without_a_comment_is_found(self):
        for file in ("status.hpp", "logger.hpp"):
            added = self.complaint(file)
            self.assertEqual(self.problems(added), [added.strip()])

    def test_a_comment_that_cannot_be_parsed_is_found(self):
        added = self.complaint("api/pod.hpp", "unexpected command \\param")
        self.assertEqual(self.problems(added), [added.strip()])

    def test_a_failed_run_is_found(self):
        self.assertEqual(len(self.problems("error: configuration file not found!\n", 1)), 1)


if __name__ == "__main__":
    unittest.main()
