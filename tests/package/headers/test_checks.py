#!/usr/bin/env python3
"""Every check of this directory detects a deliberate mistake.

usage: test_checks.py PROJECT_DIRECTORY COMPILER
"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import check_dependencies
import check_dialects
import check_headers
import check_house
import check_label_names
import check_statics

PROJECT = sys.argv.pop(1)
COMPILER = sys.argv.pop(1)


class StaticsTest(unittest.TestCase):
    FRAME = """relabel.cpp.o:     file format elf64-x86-64
RELOCATION RECORDS FOR [.text]:
OFFSET           TYPE              VALUE
0000000000000007 R_X86_64_PC32     __dso_handle-0x0000000000000004
000000000000000e R_X86_64_PC32     .bss-0x0000000000000004
0000000000000018 R_X86_64_GOTPCREL {}-0x0000000000000004
000000000000001d R_X86_64_PLT32    __cxa_atexit-0x0000000000000004
"""

    OF_THREAD = """target_builder.cpp.o:     file format elf64-x86-64
RELOCATION RECORDS FOR [.text]:
OFFSET           TYPE              VALUE
0000000000013c74 R_X86_64_PLT32    k8s_sd::v0::MutableLabels::MutableLabels()-0x0000000000000004
0000000000013c7f R_X86_64_DTPOFF32  labels
0000000000013c87 R_X86_64_PC32     __dso_handle-0x0000000000000004
0000000000013c91 R_X86_64_REX_GOTPCRELX  MutableLabels::~MutableLabels()-0x0000000000000004
0000000000013c96 R_X86_64_PLT32    __cxa_thread_atexit-0x0000000000000004
"""

    def mistakes(self, destructor):
        return check_statics.mistakes_in(self.FRAME.format(destructor))

    def test_a_static_object_that_exit_destroys_is_found(self):
        self.assertEqual(self.mistakes("re2::RE2::~RE2()"),
                         ["relabel.cpp.o: exit() destroys .bss by re2::RE2::~RE2()"])

    def test_an_object_of_a_thread_with_a_destructor_is_found(self):
        self.assertEqual(
            check_statics.mistakes_in(self.OF_THREAD),
            ["target_builder.cpp.o: exit() destroys labels by MutableLabels::~MutableLabels()"])

    def test_those_of_asio_are_allowed(self):
        self.assertEqual(self.mistakes("boost::asio::detail::tss_ptr<int>::~tss_ptr()"), [])


class HouseTest(unittest.TestCase):
    def setUp(self):
        self.house = check_house.House(PROJECT)

    def problems(self):
        return [p for check in check_house.CHECKS for p in check(self.house)]

    def expect(self, text):
        self.assertTrue(any(text in p for p in self.problems()), f"no problem says: {text}")

    def change(self, file, old, new):
        self.assertIn(old, self.house.texts[file])
        self.house.texts[file] = self.house.texts[file].replace(old, new)

    def test_the_library_as_it_is_has_no_problem(self):
        self.assertEqual(self.problems(), [])

    def test_an_arrow_that_runs_up_is_found(self):
        self.house.texts["k8s_sd/detail/text/text.hpp"] += '#include "k8s_sd/config.hpp"\n'
        self.expect("text must not include config")

    def test_a_table_that_runs_up_is_found(self):
        self.house.allowed["base"].add("watch")
        self.expect("base names watch, but watch is not above it")

    def test_a_source_in_the_namespace_of_another_folder_is_found(self):
        file = "programs/discover/session.cpp"
        self.house.sources[file] = self.house.sources[file].replace(
            "namespace discover {", "namespace cli {")
        self.expect(f"src/{file}: belongs to discover, not to cli")

    def test_a_source_without_a_namespace_is_found(self):
        self.house.sources["sim/time/new.cpp"] = "int f() { return 1; }\n"
        self.expect("src/sim/time/new.cpp: belongs to namespace k8s_sd::inline v0::sim, but")

    def test_a_source_folder_without_a_namespace_is_found(self):
        self.house.sources["tools/new.cpp"] = "namespace tools {\n}\n"
        self.expect("src/tools/new.cpp: check_house.py names no namespace for its folder")

    def test_a_body_in_a_translation_unit_of_the_library_is_found(self):
        self.house.sources["lib/base.cpp"] += "namespace k8s_sd::inline v0::sim {\n}\n"
        self.expect("src/lib/base.cpp: belongs to no namespace, not to k8s_sd::inline v0::sim")

    def test_an_unused_permission_is_found(self):
        self.house.allowed["cache"].add("codec")
        self.expect("cache may include codec, but does not")

    def test_a_circle_is_found(self):
        self.house.texts["k8s_sd/detail/base/a.hpp"] = '#include "k8s_sd/detail/base/b.hpp"\n'
        self.house.texts["k8s_sd/detail/base/b.hpp"] = '#include "k8s_sd/detail/base/a.hpp"\n'
        self.expect("a circle of includes")

    def test_a_private_header_in_the_public_namespace_is_found(self):
        self.change("k8s_sd/detail/text/text.hpp", "v0::detail {", "v0 {")
        self.expect("belongs to k8s_sd::detail")

    def test_a_public_header_in_the_private_namespace_is_found(self):
        self.change("k8s_sd/time.hpp", "inline v0 {", "inline v0::detail {")
        self.expect("a public header does not belong to")

    def test_a_namespace_without_the_version_is_found(self):
        self.change("k8s_sd/time.hpp", "namespace k8s_sd::inline v0 {", "namespace k8s_sd {")
        self.expect("lacks the inline namespace")

    def test_a_header_without_a_layer_is_found(self):
        self.house.texts["k8s_sd/lost.hpp"] = ""
        self.expect("belongs to no layer in layers.txt")

    def test_a_header_of_a_folder_with_several_layers_needs_a_layer_of_its_own(self):
        self.house.texts["k8s_sd/objects/lost.hpp"] = ""
        self.expect("k8s_sd/objects/lost.hpp: belongs to no layer in layers.txt")

    def test_an_include_of_a_missing_file_is_found(self):
        self.house.texts["k8s_sd/time.hpp"] += '#include "k8s_sd/gone.hpp"\n'
        self.expect("a missing file")

    def test_an_include_of_an_umbrella_is_found(self):
        self.house.texts["k8s_sd/time.hpp"] += '#include "k8s_sd/k8s_sd.hpp"\n'
        self.expect("a header for hosts only")

    def test_a_body_that_no_unit_has_is_found(self):
        self.house.texts["k8s_sd/detail/base/lost.ipp"] = ""
        self.expect("k8s_sd/detail/base/lost.ipp: k8s_sd/detail/base/base.ipp must include it")

    def test_a_list_that_no_unit_has_is_found(self):
        self.house.texts["k8s_sd/detail/stores/stores.ipp"] = ""
        self.expect("k8s_sd/detail/stores/stores.ipp: include/k8s_sd/src.hpp must include it")
        self.expect("k8s_sd/detail/stores/stores.ipp: one file of src/lib/ must include it")

    def test_a_using_directive_is_found(self):
        self.house.texts["k8s_sd/detail/base/error.ipp"] += "using namespace detail;\n"
        self.expect("a using-directive outside of a function")

    def test_a_class_of_the_watch_layer_with_too_many_members_is_found(self):
        file = "k8s_sd/detail/watch/outcome.hpp"
        self.change(file, "    bool packed = false;", "    bool packed = false;\n    int a;")
        self.expect(f"{file}: ExchangeResponse has 16 data members, more than 15: group them")

    def test_only_data_members_are_counted(self):
        block = """
         public:
            using Name = int;
            explicit Other(int a) : a_(a), b_{a} {}
            static constexpr int limit = 3;
            void call() const { if (a_) b_ = {}; }
            template <class T>
            T get() const;
            struct Inner {
                int x;
            };
            friend class Third;
            bool operator==(const Other&) const = default;

         private:
            const int a_ = 1;
            std::function<void(int, int)> b_{};
            std::map<int, std::set<int>> c_;
            Inner d_, e_;
        """
        self.assertEqual(check_house.members_of(block), 5)


def write_headers(folder, texts):
    for name, text in texts.items():
        pathlib.Path(folder, name + ".hpp").write_text(f"#pragma once\n{text}\n", encoding="utf-8")


class HeaderTest(unittest.TestCase):
    USERS = {f"user{n}": '#include "text.hpp"\ninline Text f();\n' for n in range(9)}
    TEXT = "#include <string>\nusing Text = std::string;"

    def messages(self, **texts):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(check_headers, "ROOT", pathlib.Path(folder)):
            write_headers(folder, texts)
            messages, count = check_headers.check([COMPILER, "-Wall", "-Werror", f"-I{folder}"])
        self.assertEqual(count, len(texts))
        return messages

    def expect(self, said, **texts):
        messages = self.messages(**self.USERS, **texts)
        self.assertEqual(len(messages), 1)
        self.assertIn(said, messages[0])

    def test_headers_that_compile_alone_are_fine(self):
        self.assertEqual(self.messages(**self.USERS, text=self.TEXT), [])

    def test_a_header_that_needs_another_one_in_front_is_found(self):
        self.expect("alone.hpp", text=self.TEXT, alone="inline Text f();")
        self.expect("alone.hpp", text=self.TEXT, alone="std::string f();")

    def test_a_header_that_includes_another_one_too_late_is_found(self):
        self.expect("late.hpp", text=self.TEXT, late='inline Text f();\n#include "text.hpp"\n')

    def test_only_headers_to_check_precede_others(self):
        included = {"detail/q": set(), "detail/p": set(),
                    **{f"h{n}": {"detail/q", "detail/p"} for n in range(9)}}
        public = [f"h{n}" for n in range(9)]
        self.assertEqual(check_headers.bases(public, included), dict.fromkeys(public))

    def test_a_warning_is_found(self):
        self.expect("unused-variable", text=self.TEXT, warned="inline void f() { int unused; }")

    def test_a_mistake_in_a_header_that_many_include_is_found(self):
        self.expect("text.hpp", text="using Text = std::string;")

    def test_a_header_that_many_include_is_precompiled(self):
        included = {"a": set(), "b": {"a"}, "c": {"a", "boost/x"}, "d": {"a", "c", "boost/x"},
                    "e": {"a", "c", "boost/x"}}
        self.assertEqual(check_headers.bases(sorted(included), included),
                         {"a": None, "b": "a", "c": "a", "d": "c", "e": "c"})


class ChainTest(unittest.TestCase):
    def chains(self, **texts):
        direct = {name: list(check_headers.includes_of(text)) for name, text in texts.items()}
        return check_headers.chains(list(texts), check_headers.closures(direct))

    def test_a_header_precedes_one_that_includes_it(self):
        self.assertEqual(self.chains(a="", b='#include "a"\n', c="#include <b>\n"),
                         [["a", "b", "c"]])

    def test_headers_that_do_not_include_each_other_are_compiled_apart(self):
        self.assertEqual(self.chains(a="", b=""), [["a"], ["b"]])
        self.assertEqual(self.chains(a="", b="#include <a>", c="#include <a>"),
                         [["a", "b"], ["c"]])

    def test_a_conditional_include_proves_nothing(self):
        self.assertEqual(self.chains(a="", b="#if X\n#include <a>\n#endif\n"), [["a"], ["b"]])

    def test_each_header_is_in_one_chain(self):
        found = self.chains(a="", b="#include <a>", c="#include <a>", d="#include <b>\n"
                            "#include <c>\n", e="#include <d>")
        self.assertEqual(sorted(sum(found, [])), list("abcde"))
        self.assertEqual(len(found), 2)


class DependencyTest(unittest.TestCase):
    def expect(self, header, path, said):
        self.assertEqual(check_dependencies.problems_of(header, [path]), said)

    def test_a_public_header_that_brings_an_implementation_is_found(self):
        for path in ("boost/beast/http.hpp", "openssl/ssl.h", "yaml.h", "re2/re2.h",
                     "xxhash.h", "protozero/pbf_reader.hpp", "k8s_sd/detail/watch/outcome.hpp"):
            with self.subTest(path):
                self.assertTrue(check_dependencies.problems_of("k8s_sd/config.hpp", [path]))

    def test_a_decision_that_brings_asio_is_found(self):
        header = "k8s_sd/detail/watch/watch_machine.hpp"
        self.expect(header, "boost/asio/post.hpp", [f"{header} must not bring boost/asio"])

    def test_what_a_header_includes_is_known_though_the_compiler_skips_it_the_second_time(self):
        with tempfile.TemporaryDirectory() as folder:
            write_headers(folder, {"a": '#include "b.hpp"', "b": '#include "c.hpp"', "c": "",
                                   "d": '#include "b.hpp"\n#if 0\n#include "e.hpp"\n#endif'})
            found = check_dependencies.includes([COMPILER], folder, ["a.hpp", "d.hpp"])
        direct = {pathlib.Path(name).name: names for name, names in found.items()}
        self.assertEqual(check_dependencies.closure("d.hpp", direct), {"b.hpp", "c.hpp"})

    def test_an_entry_without_a_file_is_found(self):
        headers = [f"k8s_sd/detail/{entry}{'x' if entry.endswith('/') else ''}.hpp"
                   for entry in check_dependencies.PURE]
        self.assertEqual(check_dependencies.stale(headers), [])
        self.assertEqual(check_dependencies.stale(headers[:-1]),
                         [f"PURE: {check_dependencies.PURE[-1]} does not exist"])

    def test_what_is_allowed_is_no_problem(self):
        self.expect("k8s_sd/config.hpp", "k8s_sd/detail/base/abi.hpp", [])
        self.expect("k8s_sd/detail/transport/byte_stream.hpp", "boost/asio/post.hpp", [])


class TextTest(unittest.TestCase):
    """Checks that search the text of a folder: each runs on a copy with one more file."""

    def run_check(self, check, text):
        """The exit status and the output, with a file of that text among those of the library."""
        library = pathlib.Path(PROJECT) / "include"
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(said):
            folder = pathlib.Path(name) / "include"
            for header in library.rglob("*.[hi]pp"):
                copy = folder / header.relative_to(library)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(header.read_bytes())
            (folder / "k8s_sd/detail/added.hpp").write_text(text, encoding="utf-8")
            return check.main(str(folder)), said.getvalue()

    def test_the_library_as_it_is_has_no_problem(self):
        for check in (check_dialects, check_label_names):
            self.assertEqual(self.run_check(check, ""), (0, unittest.mock.ANY))

    def test_a_question_for_a_dialect_is_found(self):
        status, said = self.run_check(check_dialects, "if (d == LabelDialect::prometheus) {}")
        self.assertEqual(status, 1)
        self.assertIn("added.hpp:1: asks for a dialect", said)

    def test_a_question_for_a_version_is_found(self):
        questions = ("if (v < PrometheusVersion::v3_11) {}", "v >= PrometheusVersion::v3_11;",
                     "if (k8s_sd::PrometheusVersion::v3_12 == v) {}",
                     "case PrometheusVersion::v3_5: break;", "using enum PrometheusVersion;")
        status, said = self.run_check(check_dialects, "\n".join(questions))
        self.assertEqual(status, 1)
        for line, question in enumerate(questions, 1):
            self.assertIn(f"added.hpp:{line}: asks for a dialect or version", said, question)
        uses = ("PrometheusVersion version = PrometheusVersion::v3_5;",
                "std::vector<PrometheusVersion> all;", "f(PrometheusVersion::v3_5);")
        self.assertEqual(self.run_check(check_dialects, "\n".join(uses)), (0, unittest.mock.ANY))

    def test_a_label_name_on_a_second_line_is_found(self):
        status, said = self.run_check(check_label_names, 'f("__meta_kubernetes_pod_phase");')
        self.assertEqual(status, 1)
        self.assertIn("__meta_kubernetes_pod_phase is written on several lines", said)


if __name__ == "__main__":
    unittest.main()
