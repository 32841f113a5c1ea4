#include "k8s_sd/detail/config/yaml/simple_yaml.hpp"
#include "k8s_sd/detail/config/yaml/yaml_json.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::detail;
using k8s_sd::test::config_error;

namespace {

/// The structure of a value with the lines of non-null nodes; the line of a null does not matter.
std::string shape(const YamlNode* node) {
    if (!node || node->kind == YamlNode::Kind::null) return "null";
    std::string text = std::to_string(node->line) + ":";
    if (node->kind == YamlNode::Kind::scalar) {
        return text + (node->plain ? "plain<" : "quoted<") + std::string(node->text) + ">";
    }
    text += node->kind == YamlNode::Kind::sequence ? "[" : "{";
    for (const YamlNode* part : node->parts) text += shape(part) + " ";
    return text + (node->kind == YamlNode::Kind::sequence ? "]" : "}");
}

bool is_simple(const std::string& text) {
    YamlDocument document(text, "f");
    return read_simple_yaml(document);
}

/// The result of the full parser; "!" for an error.
std::string as_any(const std::string& text) {
    try {
        return shape(parse_any_yaml(text, "f")->root());
    } catch (const ConfigError&) {
        return "!";
    }
}

/// If the fast path accepts a text, its result must be the same.
bool agrees(const std::string& text) {
    YamlDocument document(text, "f");
    if (!read_simple_yaml(document)) return document.root() == nullptr;
    INFO(text);
    CHECK(shape(document.root()) == as_any(text));
    return true;
}

}  // namespace

TEST_CASE("Simple YAML: what operators write is simple, and read as by the whole language") {
    const char* texts[] = {
        "a: b",
        "a: b\n",
        "---\na: b\n",
        "# comment\n\na: b # comment\n\n# end",
        "a:\n  b: c\n  d:\n    e: f\ng: h\n",
        "a:\n- b\n- c\nd: e\n",
        "a:\n  - b\n  - c\nd: e\n",
        "- a: b\n  c: d\n- a: e\n",
        "- - a\n  - b\n- - c\n",
        "- a:\n  - b: c\n    d: e\n  - f\n",
        "a:\nb: c\n",
        "a:\n",
        "a: null\nb: ~\nc: NULL\nd: nul\n",
        "a: 'it''s'\nb: \"x\\\\.y\\n\\\"\\t\"\n'c': \"\"\n\"d\": ''\n",
        "a: [b, c]\nd: {e: f, g: [h, {i: j}]}\nk: []\nl: {}\n",
        "a: [ b , \"c, d\" , 'e' ]\nf: { g: h }\n",
        "- {a: b}\n- [c]\n- 'd: e'\n",
        "regex: (.+);(.+)\nreplacement: $1:$2\n",
        "a: http://h:1/p?q#r\nb: -1\nc: :x\nd: ?x\ne: a - b\n",
        "{}\n",
        "a: {regex: \"(.+):(?:\\\\d+)\", x: $1:$2}\n",
        "<<: {a: b}\nc: d\n",
        "a: x  \nb: y # z\nc: y#z\n",
        "  a: b\n  c: d\n",
        "\xc3\xa4: \xe6\xa8\x99\n",
    };
    for (const char* text : texts) {
        INFO(text);
        const bool flow_document = text[0] == '{';
        CHECK(is_simple(text) != flow_document);
        CHECK(agrees(text));
    }
}

TEST_CASE("Simple YAML: everything else is left to the whole language") {
    const char* texts[] = {
        "",
        "# only a comment\n",
        "a",
        "a: &x b",
        "a: *x",
        "a: !!str b",
        "a: |\n  b\n",
        "a: >\n  b\n",
        "a: b\n  c\n",
        "a: \"b\n  c\"\n",
        "a: [b,\n  c]\n",
        "a: b\n---\nc: d\n",
        "a: b\n...\n",
        "--- a\n",
        "%YAML 1.1\n---\na: b\n",
        "? a\n: b\n",
        "a: b\n\tc: d\n",
        "a: b\r\nc: d\r\n",
        ("\xef\xbb\xbf"
         "a: b\n"),
        "a: b: c\n",
        "a: b:\n",
        "a: - b\n",
        "a: 'b' c\n",
        "a: [b] c\n",
        "a: [b\n",
        "a: {b}\n",
        "a: {b: }\n",
        "a: {b:c}\n",
        "a: [b, ]\n",
        "a: [,]\n",
        "a: [b?]\n",
        "a: {\"b\":c}\n",
        "-\n  a: b\n",
        "- \n- a\n",
        "a:\n    b: c\n  d: e\n",
        "a:\n- b\n c: d\n",
        "a: @b\n",
        "a: `b`\n",
        "~: a\n",
        "null: a\n",
        "a: \"\\x41\"\n",
        "a: \"\\_\"\n",
        "a\n b: c\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        ", a\n",
        "a: b #c\n  d\n",
    };
    for (const char* text : texts) {
        INFO(text);
        CHECK_FALSE(is_simple(text));
    }
    CHECK_FALSE(is_simple(std::string(1000, '[') + std::string(1000, ']')));
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    CHECK_FALSE(is_simple(deep));
}

TEST_CASE("Simple YAML: texts at random are read as by the whole language, or left to it") {
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
    int simple = 0;
    for (int i = 0; i < 60'000; ++i) {
        std::string text;
        for (int n = length(random); n > 0; --n) text += pieces[any(random)];
        REQUIRE(agrees(text));
        simple += is_simple(text) ? 1 : 0;
    }
    CHECK(simple > 500);
}

TEST_CASE("to_json: scalars keep what they look like") {
    const std::string yaml =
        "{a: 1.10, b: yes, c: \"1\", d: 0x10, e: null, f: -0.5e3, g: 01, h: .5, i: 'q\"\\'}";
    CHECK(to_json(YamlValue::parse(yaml, "f")) ==
          R"({"a":1.10,"b":true,"c":"1","d":"0x10","e":null,"f":-0.5e3,"g":"01","h":".5",)"
          R"("i":"q\"\\"})");
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
    CHECK(problem.ends_with(": anchors stand for too much"));

    std::string text = "a: &a '" + std::string(100'000, 'x') + "'\nb: [";
    for (int i = 0; i < 10'000; ++i) text += "*a, ";
    const YamlValue repeated = YamlValue::parse(text + "]", "f");
    CHECK(config_error([&] {
              (void)to_json(repeated["b"], {.max_values = any, .max_bytes = any});
          }).ends_with(": anchors stand for too much"));
}
