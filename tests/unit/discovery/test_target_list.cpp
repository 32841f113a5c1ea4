#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/dialects.hpp"
#include "support/group_ledger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using detail::TargetLists;

namespace {

constexpr detail::TargetListLimits plenty{1000, 100'000};

TargetLists http(const std::string& json, LabelDialect dialect = prom,
                 detail::TargetListLimits limits = plenty) {
    return detail::parse_http_list(json, detail::rules_of(dialect), limits);
}
TargetLists file(const std::string& text, const std::string& path, LabelDialect dialect = prom,
                 detail::TargetListLimits limits = plenty) {
    return detail::parse_file_list(text, path, detail::rules_of(dialect), limits);
}
std::string http_problem(const std::string& json, LabelDialect dialect = prom,
                         detail::TargetListLimits limits = plenty) {
    return config_error([&] { http(json, dialect, limits); });
}
std::string file_problem(const std::string& text, const std::string& path,
                         LabelDialect dialect = prom, detail::TargetListLimits limits = plenty) {
    return config_error([&] { file(text, path, dialect, limits); });
}

const TargetLists two{{{"a:1", "b:2"}, {{"x", "1"}, {"__meta_y", ""}}}, {{"c"}, {}}};

}  // namespace

// --- JSON ----------------------------------------------------------------------------------------

TEST_CASE("A list in JSON: groups of targets with labels") {
    const std::string json =
        R"([{"targets": ["a:1", "b:2"], "labels": {"x": "1", "__meta_y": ""}}, {"targets": ["c"]}])";
    for (const LabelDialect dialect : dialects) CHECK(http(json, dialect) == two);
    CHECK(file(json, "t.json") == two);
    CHECK(file(json, "t.yml") == two);
    CHECK(file(json, "t", vm) == two);
}

TEST_CASE("A list in JSON: null stands for what is not there, as in Go") {
    for (const LabelDialect dialect : dialects) {
        CHECK(http("null", dialect).empty());
        CHECK(http(" [] ", dialect).empty());
        CHECK(http(R"([{}])", dialect) == TargetLists{{}});
        CHECK(http(R"([{"targets":null,"labels":null}])", dialect) == TargetLists{{}});
        CHECK(http(R"([{"targets":[null],"labels":{"a":null}}])", dialect) ==
              TargetLists{{{""}, {{"a", ""}}}});
    }
}

TEST_CASE("A list: a byte order mark before it is passed over") {
    const std::string mark = "\xef\xbb\xbf", json = R"([{"targets": ["a"]}])";
    for (const LabelDialect dialect : dialects) {
        CHECK(http(mark + json, dialect) == TargetLists{{{"a"}, {}}});
        CHECK(file(mark + json, "t.json", dialect) == TargetLists{{{"a"}, {}}});
        CHECK(file(mark + json, "t.yml", dialect) == TargetLists{{{"a"}, {}}});
        CHECK(file(mark + "- targets: [a]\n", "t.yml", dialect) == TargetLists{{{"a"}, {}}});
        CHECK(file(mark + "- targets:\n  - a\n", "t.yml", dialect) == TargetLists{{{"a"}, {}}});
    }
    CHECK(http_problem(mark + mark + json).starts_with("the list: is not JSON: "));
}

TEST_CASE("A list in JSON: half a surrogate pair is U+FFFD, as Go reads it") {
    const std::string json =
        R"([{"targets": ["a\ud800", "\uDC00b"], "labels": {"x": "\ud83d\ude00"}}])";
    const TargetLists expected{{{"a\xef\xbf\xbd", "\xef\xbf\xbd"
                                                  "b"},
                                {{"x", "\xf0\x9f\x98\x80"}}}};
    for (const LabelDialect dialect : dialects) CHECK(http(json, dialect) == expected);
    CHECK(file(json, "t.json") == expected);
    CHECK(http_problem(R"([{"targets": ["\ud8"]}])").starts_with("the list: is not JSON: "));
}

TEST_CASE("A list in JSON: keys are read in any case, as Go does, the last one of a name wins") {
    CHECK(http(R"([{"Targets":["a"],"LABELS":{"x":"1"}}])") == TargetLists{{{"a"}, {{"x", "1"}}}});
    CHECK(http(R"([{"targets":["a"],"TARGETS":["b"]}])") == TargetLists{{{"b"}, {}}});
    CHECK(file(R"([{"Targets":["a"]}])", "t.json") == TargetLists{{{"a"}, {}}});
    CHECK(contains(file_problem(R"([{"Targets":["a"]}])", "t.yml"), "unknown key"));
}

TEST_CASE("A list in JSON: Prometheus refuses it whole where vmagent passes over something") {
    CHECK(http_problem(R"([{"targets":["a"]}, {"target":["b"]}])") ==
          "group 1: the key \"target\" is unknown; allowed are targets and labels");
    CHECK(http(R"([{"targets":["a"]}, {"target":["b"]}])", vm) == TargetLists{{{"a"}, {}}, {}});
    CHECK(http_problem(R"([null])") == "group 0: must be an object with targets and labels");
    CHECK(http(R"([null,{"targets":["a"]}])", vm) == TargetLists{{}, {{"a"}, {}}});
    CHECK(http_problem(R"([{"targets":["a"],"labels":{"":"x"}}])") ==
          "group 0: a label has no name");
    CHECK(http(R"([{"targets":["a"],"labels":{"":"x"}}])", vm) == TargetLists{{{"a"}, {}}});
}

TEST_CASE("A list in JSON: what is no list is refused in both dialects, without its values") {
    for (const LabelDialect dialect : dialects) {
        for (const char* json : {"",
                                 "x",
                                 "{}",
                                 "1",
                                 "\"hunter2\"",
                                 "[",
                                 "[{]",
                                 "[] []",
                                 "[{},]",
                                 R"([{"targets":["a"]}] trailing)",
                                 "[\"hunter2\"]",
                                 "[[]]",
                                 R"([{"targets":"hunter2"}])",
                                 R"([{"targets":[1]}])",
                                 R"([{"targets":[["hunter2"]]}])",
                                 R"([{"labels":["hunter2"]}])",
                                 R"([{"labels":{"a":1}}])",
                                 R"([{"labels":{"a":true}}])",
                                 R"([{"labels":{"a":{"b":"hunter2"}}}])",
                                 "[{\"targets\":[\"\xff\"]}]",
                                 "[{\"targets\":[\"\\ud8\"]}]",
                                 "\xef\xbb\xbf",
                                 "[{\"a\nb\":1}]"}) {
            CAPTURE(json);
            const std::string problem = http_problem(json, dialect);
            CHECK(problem != "");
            CHECK_FALSE(contains(problem, "hunter2"));
        }
    }
}

TEST_CASE("A list in JSON: nesting without end is refused") {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    CHECK(http_problem(deep) != "");
    CHECK(http_problem(R"([{"x":)" + deep + "}]", vm) != "");
}

// --- YAML ----------------------------------------------------------------------------------------

TEST_CASE("A list in YAML: groups of targets with labels, in both dialects") {
    const std::string yaml =
        "- targets: ['a:1', b:2]\n  labels: {x: 1, __meta_y: }\n- targets:\n  - c\n";
    CHECK(file(yaml, "t.yml") == two);
    CHECK(file(yaml, "t.YAML") == two);
    CHECK(file(yaml, "t", vm) == two);
    CHECK(file(yaml, "t.json", vm) == two);
    CHECK(file_problem(yaml, "t.json") == "the list: is not JSON: syntax error");
}

TEST_CASE("A list in YAML: an empty file lists nothing") {
    for (const char* text : {"", "\n", "# nothing\n", "[]", "null"}) {
        CHECK(file(text, "t.yml").empty());
        CHECK(file(text, "t", vm).empty());
    }
}

TEST_CASE("A list in YAML: both programs refuse unknown and repeated keys") {
    for (const LabelDialect dialect : dialects) {
        CHECK(file_problem("- targets: [a]\n  label: {x: y}\n", "t.yml", dialect) ==
              "t.yml:2: [0].label: unknown key; allowed are targets and labels");
        CHECK(contains(file_problem("- targets: [a]\n  targets: [b]\n", "t.yml", dialect),
                       "is there twice"));
        CHECK(contains(file_problem("targets: [a]\n", "t.yml", dialect), "must be a list"));
        CHECK(contains(file_problem("- targets: {a: b}\n", "t.yml", dialect), "must be a list"));
        CHECK(contains(file_problem("- targets: [[a]]\n", "t.yml", dialect), "must be a text"));
        CHECK(contains(file_problem("- labels: {x: [y]}\n", "t.yml", dialect), "must be a text"));
    }
    CHECK(
        contains(file_problem("- targets: [a]\n-\n", "t.yml"), ": [1]: a group must not be empty"));
    CHECK(file("- targets: [a]\n-\n", "t.yml", vm) == TargetLists{{{"a"}, {}}, {}});
}

TEST_CASE("A list in YAML: JSON that only YAML can read is read as that") {
    CHECK(file(R"([{targets: [a], labels: {x: 1.50}}])", "t.yml") ==
          TargetLists{{{"a"}, {{"x", "1.50"}}}});
    CHECK(file(R"([{"targets": ["a"], "labels": {"x": 7}}])", "t", vm) ==
          TargetLists{{{"a"}, {{"x", "7"}}}});
}

TEST_CASE("A list in YAML: the label __address__ is the address for vmagent alone") {
    const std::string yaml = "- targets: [a, b]\n  labels: {__address__: c}\n";
    CHECK(file(yaml, "t.yml")[0].targets == std::vector<std::string>{"a", "b"});
    CHECK(file(yaml, "t.yml", vm)[0].targets == std::vector<std::string>{"c", "c"});
    CHECK(http(R"([{"targets":["a"],"labels":{"__address__":"c"}}])", vm)[0].targets ==
          std::vector<std::string>{"a"});
}

// --- limits --------------------------------------------------------------------------------------

TEST_CASE("A list: targets, groups and texts are limited") {
    CHECK(http_problem(R"([{"targets":["a","b"]},{"targets":["c"]}])", prom, {2, 1000}) ==
          "the list: has more than 2 targets");
    CHECK(http_problem("[{},{},{}]", prom, {2, 1000}) == "the list: has more than 2 groups");
    CHECK(http_problem(R"([{"targets":["aaaa"],"labels":{"bbb":"ccc"}}])", prom, {2, 9}) ==
          "the list: has strings of more than 9 bytes");
    CHECK(http(R"([{"targets":["aaaa"],"labels":{"bbb":"ccc"}}])", prom, {1, 10}).size() == 1);
}

TEST_CASE("A list: a label that is the address of many targets counts as often") {
    const auto list = [](int targets) {
        std::string text =
            R"([{"labels":{"__address__":")" + std::string(100, 'a') + R"("},"targets":["t")";
        for (int i = 1; i < targets; ++i) text += R"(,"t")";
        return text + "]}]";
    };
    CHECK(file(list(9), "t.json", vm, {100, 1000}).front().targets.size() == 9);
    CHECK(file(list(10), "t.json", vm, {100, 1000}).front().targets.size() == 10);
    CHECK(file_problem(list(11), "t.json", vm, {100, 1000}) ==
          "the list: has strings of more than 1000 bytes");
    CHECK(file_problem(list(11), "t.json", prom, {100, 1000}).empty());
}

TEST_CASE("A list: anchors that stand for much again and again come to an end") {
    std::string yaml = "- &g\n  targets: [a]\n  labels: {x: " + std::string(1000, 'v') + "}\n";
    for (int i = 0; i < 5000; ++i) yaml += "- *g\n";
    const std::string problem = file_problem(yaml, "t.yml", prom, {1'000'000, 1'000'000});
    CHECK(contains(problem, "the list: has strings"));
}

// --- groups --------------------------------------------------------------------------------------

TEST_CASE("Groups of a list are known by their places, and have the label of the list") {
    TargetGroupMaker maker;
    const auto groups =
        detail::make_groups({{{"a"}, {{"__meta_url", "mine"}, {"x", "1"}}}, {}, {{"b", "b"}, {}}},
                            {"http://h/t", "__meta_url", "http://h/t"}, maker);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0]->source() == "http://h/t:0");
    CHECK(groups[1]->source() == "http://h/t:2");
    CHECK(merged(*groups[0]) ==
          std::vector<LabelMap>{{{"__address__", "a"}, {"__meta_url", "http://h/t"}, {"x", "1"}}});
    CHECK(groups[1]->size() == 2);
}

TEST_CASE("Static groups are known by their numbers") {
    const auto groups = detail::static_groups({{{"a"}, {{"x", "1"}}}, {{"b"}, {}}});
    REQUIRE(groups.size() == 2);
    CHECK(groups[0]->source() == "0");
    CHECK(groups[1]->source() == "1");
    CHECK(groups[0]->merged(0) == LabelMap{{"__address__", "a"}, {"x", "1"}});
}
