#include "k8s_sd/detail/config/yaml/yaml_document.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::detail;
using k8s_sd::test::config_error;
using k8s_sd::test::contains;

namespace {

/// The structure of a value with the lines of non-null nodes: "1{1'a' 1<b>}", quotes for texts that
/// are not plain.
std::string shape(const YamlNode* node) {
    if (!node || node->kind == YamlNode::Kind::null) return "null";
    std::string text = std::to_string(node->line);
    if (node->kind == YamlNode::Kind::scalar) {
        const std::string content(node->text);
        return text + (node->plain ? "<" + content + ">" : "'" + content + "'");
    }
    text += node->kind == YamlNode::Kind::sequence ? "[" : "{";
    for (std::size_t i = 0; i < node->parts.size(); ++i) {
        text += (i == 0 ? "" : " ") + shape(node->parts[i]);
    }
    return text + (node->kind == YamlNode::Kind::sequence ? "]" : "}");
}

std::string shape(const std::string& text) { return shape(parse_yaml(text, "f")->root()); }

std::string yaml_problem(const std::string& text) {
    return config_error([&] { parse_yaml(text, "f"); });
}

struct Case {
    std::string text, expected;
};

void check_shapes(const std::vector<Case>& cases) {
    for (const auto& [text, expected] : cases) {
        INFO(text);
        CHECK(shape(text) == expected);
    }
}

}  // namespace

TEST_CASE("parse_yaml: mappings, sequences and scalars have the lines at which they begin") {
    check_shapes({
        {"a: b", "1{1<a> 1<b>}"},
        {"---\na: b\n", "2{2<a> 2<b>}"},
        {"--- a\n", "1<a>"},
        {"# comment\n\na: b # comment\n\n# end", "3{3<a> 3<b>}"},
        {"a:\n  b: c\n  d:\n    e: f\ng: h\n", "1{1<a> 2{2<b> 2<c> 3<d> 4{4<e> 4<f>}} 5<g> 5<h>}"},
        {"a:\n- b\n- c\nd: e\n", "1{1<a> 2[2<b> 3<c>] 4<d> 4<e>}"},
        {"a:\n  - b\n  - c\nd: e\n", "1{1<a> 2[2<b> 3<c>] 4<d> 4<e>}"},
        {"- a: b\n  c: d\n- a: e\n", "1[1{1<a> 1<b> 2<c> 2<d>} 3{3<a> 3<e>}]"},
        {"- - a\n  - b\n- - c\n", "1[1[1<a> 2<b>] 3[3<c>]]"},
        {"-\n  a: b\n", "1[2{2<a> 2<b>}]"},
        {"a:\nb: c\n", "1{1<a> null 2<b> 2<c>}"},
        {"a: 'it''s'\nb: \"x\\\\.y\\n\\\"\\t\\x41\\u00e4\"\n'c': \"\"\n",
         "1{1<a> 1'it's' 2<b> 2'x\\.y\n\"\tA\xc3\xa4' 3'c' 3''}"},
        {"a: [b, c]\nd: {e: f, g: [h, {i: j}]}\nk: []\nl: {}\n",
         "1{1<a> 1[1<b> 1<c>] 2<d> 2{2<e> 2<f> 2<g> 2[2<h> 2{2<i> 2<j>}]} 3<k> 3[] 4<l> 4{}}"},
        {"a: [b,\n  c, \"d\n  e\"]\n", "1{1<a> 1[1<b> 2<c> 2'd e']}"},
        {"a: {\"b\":c, d: }\n", "1{1<a> 1{1'b' 1<c> 1<d> null}}"},
        {"a: http://h:1/p?q#r\nb: -1\nc: :x\nd: ?x\ne: a - b\nf: $1:$2 \n",
         "1{1<a> 1<http://h:1/p?q#r> 2<b> 2<-1> 3<c> 3<:x> 4<d> 4<?x> 5<e> 5<a - b> 6<f> "
         "6<$1:$2>}"},
        {"a: b\n  c\nd: |\n  e\n   f\ng: >-\n  h\n  i\n",
         "1{1<a> 1<b c> 3<d> 3'e\n f\n' 6<g> 6'h i'}"},
        {"? a\n: b\n", "1{1<a> 2<b>}"},
        {"a:\tb\r\nc: d\r\n", "1{1<a> 1<b> 2<c> 2<d>}"},
        {"\xef\xbb\xbf"
         "a: b\nc: d\n",
         "1{1<a> 1<b> 2<c> 2<d>}"},
        {"\xc3\xa4: \xe6\xa8\x99\n", "1{1<\xc3\xa4> 1<\xe6\xa8\x99>}"},
    });
}

TEST_CASE("parse_yaml: null is written in five ways, without quotes") {
    for (const char* null : {"", "~", "null", "Null", "NULL", "!!null null", "&x", "&x ~"}) {
        INFO(null);
        CHECK(shape("a: " + std::string(null)) == "1{1<a> null}");
    }
    check_shapes({
        {"[nul, nULL, 'null', \"~\", '']", "1[1<nul> 1<nULL> 1'null' 1'~' 1'']"},
        {"a: |\n", "1{1<a> 1''}"},
        {"", "null"},
        {"# only a comment\n", "null"},
        {"---\n...\n", "null"},
        {"~", "null"},
    });
}

TEST_CASE("parse_yaml: a tag decides whether the text of a scalar decides its type, as in Go") {
    check_shapes({
        {"[!!str true, !!str ~, !!str ]", "1[1'true' 1'~' 1'']"},
        {"[!own true, !<tag:example.org,2000:x> ~]", "1[1'true' 1'~']"},
        {"[!!bool 'yes', !!int \"1\", !!float '1.5']", "1[1<yes> 1<1> 1<1.5>]"},
        {"[! true, ! 'true', ! ~, &x ! 1, ! &y 1, ! ]", "1[1'true' 1'true' 1'~' 1'1' 1'1' 1'']"},
        {"\xc3\xa4: !\n  1\nb: ! a", "1{1<\xc3\xa4> 1'1' 3<b> 3'a'}"},
        {"!!merge <<: {a: b}", "1{1<<<> 1{1<a> 1<b>}}"},
        {"a: !!seq\n- !!map {}\n", "1{1<a> 1[2{}]}"},
    });
}

TEST_CASE("parse_yaml: an alias stands for the last value with its anchor") {
    check_shapes({
        {"a: &x b\nc: *x\n", "1{1<a> 1<b> 2<c> 1<b>}"},
        {"a: &x [b]\nc: &x {d: e}\nf: *x\n", "1{1<a> 1[1<b>] 2<c> 2{2<d> 2<e>} 3<f> 2{2<d> 2<e>}}"},
        {"&a a: &b\n  - c\n*a : *b\n", "1{1<a> 1[2<c>] 1<a> 1[2<c>]}"},
        {"a: &x\nb: *x\n", "1{1<a> null 2<b> null}"},
    });
    CHECK(yaml_problem("a: *x\nb: &x c") == "f:1: YAML syntax: unknown anchor");
    // Anchors of one document are unknown in the next one.
    CHECK(yaml_problem("--- &x\n--- [*x]") == "f:2: YAML syntax: unknown anchor");
}

TEST_CASE("parse_yaml: one document, with a directive or without") {
    CHECK(shape("%YAML 1.1\n---\na: b\n...\n") == "3{3<a> 3<b>}");
    CHECK(shape("%YAML 1.2\n%TAG !e! tag:example.org,2000:\n---\n!e!x a\n") == "4'a'");
    CHECK(shape("---\n---\na: b\n---\n~\n") == "3{3<a> 3<b>}");
    CHECK(yaml_problem("%YAML 2.0\n---\na: b\n").starts_with("f:1: YAML syntax: "));
    CHECK(yaml_problem("a: b\n---\nc: d\n") ==
          "f:3: there is a second YAML document; one is allowed");
}

TEST_CASE("parse_yaml: an error has the line of the problem and of the beginning") {
    const std::pair<const char*, const char*> cases[] = {
        {"a: b: c\n", "1: YAML syntax: "},
        {"a: - b\n", "1: YAML syntax: "},
        {"a: 'b' c\n", "1: YAML syntax: "},
        {"a: [b] c\n", "1: YAML syntax: "},
        {"a: [,]\n", "1: YAML syntax: "},
        {"a:\n    b: c\n  d: e\n", "3: YAML syntax: "},
        {"a:\n- b\n c: d\n", "3: YAML syntax: "},
        {"a: b\n\tc: d\n", "2: YAML syntax: "},
        {"a: @b\n", "1: YAML syntax: "},
        {"a: `b`\n", "1: YAML syntax: "},
        {"a\n b: c\n", "2: YAML syntax: "},
        {"- a\nb: c\n", "2: YAML syntax: "},
        {"a: b\n- c\n", "2: YAML syntax: "},
        {"a: b\n...\nc: d\n", "3: YAML syntax: "},
        {"a: \"\\ud83d\\ude00\"\n", "1: YAML syntax: "},
        {"a: \"\\y\"\n", "1: YAML syntax: "},
        {"a: !!str, b\n", "1: YAML syntax: "},
        {"a:\n  b: 'c\n  d\n", "4: YAML syntax: "},
        {"a: b\nc: \x7f", "2: the text contains a control character"},
        {"a: b\nc: \xc2\x81", "2: the text contains a control character"},
    };
    for (const auto& [text, expected] : cases) {
        INFO(text);
        CHECK(yaml_problem(text).starts_with("f:" + std::string(expected)));
    }
    CHECK(yaml_problem("a: b\nc: [d,\n  e\nf: g\n").ends_with(" that begins in line 2"));
    CHECK(yaml_problem("a: 'b\n\n\n").ends_with(" that begins in line 1"));
}

TEST_CASE("parse_yaml: values are nested in 500 collections at most") {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    CHECK(yaml_problem(nested(500)) == "");
    CHECK(yaml_problem(nested(501)) == "f:1: the YAML is nested too deeply");
    std::string deep;
    for (std::size_t i = 0; i < 1000; ++i) deep += std::string(i, ' ') + "a:\n";
    CHECK(yaml_problem(deep) == "f:501: the YAML is nested too deeply");
}

// Without the limit on depth in the search for the tag this takes many minutes.
TEST_CASE("parse_yaml: a tag and very many nested collections end in an error at once") {
    std::string deep = "- ! a\n- ";
    for (int i = 0; i < 300'000; ++i) deep += "[a,";
    CHECK(yaml_problem(deep) == "f:2: the YAML is nested too deeply");
}

TEST_CASE("parse_yaml: random texts end in a document or in an error with a line") {
    const std::vector<std::string> pieces{
        "a",      "b",    ": ",    ":",     "\n",      "\n  ",   "\n    ", "- ",      "-",   "\n- ",
        "\n  - ", "[",    "]",     "{",     "}",       ", ",     ",",      "\"",      "'",   "#",
        " #",     " ",    "null",  "~",     "?",       "*",      "&x",     "!",       "|",   ">",
        "\\",     "\\n",  "''",    "$1",    "(.+)",    "@",      "%",      "...",     "---", "<<",
        "a: b\n", "c:\n", "- d\n", "e: ",   "[f]",     "{g: h}", "  ",     "\t",      "1",   ".",
        "=",      ";",    "a: ",   "\na: ", "\n  b: ", "'x'",    "\"y\"",  "\xc3\xa4"};
    std::mt19937 random(1);
    std::uniform_int_distribution<std::size_t> any(0, pieces.size() - 1);
    std::uniform_int_distribution<int> length(1, 14);
    int documents = 0;
    for (int i = 0; i < 60'000; ++i) {
        std::string text;
        for (int n = length(random); n > 0; --n) text += pieces[any(random)];
        const std::string error = yaml_problem(text);
        documents += error.empty() ? 1 : 0;
        const std::size_t lines =
            1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        const bool has_line = error.starts_with("f:") && error.size() > 3 &&
                              std::isdigit(static_cast<unsigned char>(error[2])) != 0;
        INFO(text << " => " << error);
        REQUIRE((error.empty() || (has_line && std::stoul(error.substr(2)) <= lines)));
    }
    CHECK(documents > 2'000);
}

TEST_CASE("to_json: scalars keep what they look like") {
    const std::string yaml =
        "{a: 1.10, b: yes, c: \"1\", d: 0x10, e: null, f: -0.5e3, g: 01, h: .5, i: 'q\"\\'}";
    CHECK(to_json(YamlValue::parse(yaml, "f")) ==
          R"({"a":1.10,"b":true,"c":"1","d":"0x10","e":null,"f":-0.5e3,"g":"01","h":".5",)"
          R"("i":"q\"\\"})");
    CHECK(to_json(YamlValue::parse("{d: 0x10, g: 01, k: 1_000, t: '01', f: 1.10}", "f"),
                  {.whole_numbers_by_value = true}) ==
          R"({"d":16,"g":1,"k":1000,"t":"01","f":1.10})");
    CHECK(to_json(YamlValue::parse("{a: 1.10, b: yes, c: null}", "f"),
                  {.scalars_are_texts = true}) == R"({"a":"1.10","b":"yes","c":null})");
}

TEST_CASE("YamlValue: anchors cannot stand for more than a bound") {
    std::string laughs = "a0: &a0 [" + std::string(100, 'x') + "]\n";
    for (int i = 1; i < 12; ++i) {
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) laughs += "*a" + std::to_string(i - 1) + ", ";
        laughs += "]\n";
    }
    const YamlValue document = YamlValue::parse(laughs, "f");
    constexpr std::size_t any = static_cast<std::size_t>(-1);
    const std::string problem =
        config_error([&] { (void)to_json(document, {.max_values = any, .max_bytes = any}); });
    CHECK(problem.ends_with(": anchors expand to too much"));

    std::string text = "a: &a '" + std::string(100'000, 'x') + "'\nb: [";
    for (int i = 0; i < 10'000; ++i) text += "*a, ";
    const YamlValue repeated = YamlValue::parse(text + "]", "f");
    CHECK(config_error([&] {
              (void)to_json(repeated["b"], {.max_values = any, .max_bytes = any});
          }).ends_with(": anchors expand to too much"));
}
