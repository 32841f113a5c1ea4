#include "k8s_sd/detail/relabel/relabel_rule_reader.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>

namespace relabel_yaml_tests {

using namespace k8s_sd;
using k8s_sd::test::config_error;
using k8s_sd::test::TemporaryDirectory;

namespace {

constexpr RelabelOptions vmagent{.dialect = LabelDialect::victoriametrics};
using Rules = std::vector<RelabelRule>;

Rules parse(const std::string& yaml, const RelabelOptions& options = {}) {
    return parse_relabel_configs(yaml, options, "r.yaml");
}

RelabelRule parse_one(const std::string& yaml, const RelabelOptions& options = {}) {
    const Rules rules = parse(yaml, options);
    REQUIRE(rules.size() == 1);
    return rules.front();
}

std::string problem(const std::string& yaml, const RelabelOptions& options = {}) {
    return config_error([&] { parse(yaml, options); });
}

}  // namespace

TEST_CASE("parse_relabel_configs: every key reaches its field") {
    const std::string rule = R"yaml(
- action: HashMod
  source_labels: [a, "b", 7]
  separator: ","
  regex: x.y
  target_label: t
  replacement: ${1}
  modulus: 18446744073709551615
  if: '{a="b"}'
)yaml";
    const RelabelRule expected{.action = RelabelAction::hashmod,
                               .source_labels = {"a", "b", "7"},
                               .separator = ",",
                               .regex = "x.y",
                               .target_label = "t",
                               .replacement = "${1}",
                               .modulus = 18446744073709551615u,
                               .if_ = {"{a=\"b\"}"}};
    CHECK(parse(rule) == Rules{expected});
    CHECK(parse("relabel_configs:" + rule) == Rules{expected});
}

TEST_CASE("parse_relabel_configs: nothing is no rule, JSON is YAML") {
    for (const char* yaml : {"", "[]", "~", "relabel_configs:", "relabel_configs: []", "# x\n"}) {
        CHECK(parse(yaml).empty());
    }
    CHECK(parse_one("[{\"target_label\": \"t\", \"replacement\": \"\\u00e9\"}]") ==
          RelabelRule{.target_label = "t", .replacement = "\xc3\xa9"});
}

TEST_CASE("parse_relabel_configs: what is left out has its default, what is empty stays empty") {
    CHECK(parse_one("- target_label: t") == RelabelRule{.target_label = "t"});
    const RelabelRule empty{.separator = "", .regex = "", .target_label = "t", .replacement = ""};
    CHECK(parse_one("- {target_label: t, separator: '', regex: '', replacement: ''}") == empty);
}

TEST_CASE("parse_relabel_configs: null is empty for Prometheus, the default for vmagent") {
    const std::string nulls = "- {target_label: t, separator: , regex: ~, replacement: null,"
                              " source_labels: , modulus: , if: }";
    CHECK(parse_one(nulls) ==
          RelabelRule{.separator = "", .regex = "", .target_label = "t", .replacement = ""});
    CHECK(parse_one(nulls, vmagent) == RelabelRule{.target_label = "t"});
    CHECK(problem("- {action: , target_label: t}")
              .starts_with("r.yaml:1: relabel_configs[0].action: "));
    for (const char* action : {"", "''"}) {
        const std::string yaml = "- {target_label: t, action: " + std::string(action) + "}";
        CHECK(parse_one(yaml, vmagent) == RelabelRule{.target_label = "t"});
    }
}

TEST_CASE("parse_relabel_configs: scalars of any kind are texts") {
    CHECK(parse_one("- {source_labels: [1, true], regex: 1.50, target_label: no, separator: 0}") ==
          RelabelRule{.source_labels = {"1", "true"},
                      .separator = "0",
                      .regex = "1.50",
                      .target_label = "no"});
}

TEST_CASE("parse_relabel_configs: a regex can be a list of alternatives, an if one of selectors") {
    CHECK(parse_one("- {action: keep, regex: [a, 'b.*', '', 1]}").regex == "a|b.*||1");
    CHECK(parse_one("- {action: keep, regex: ['', a]}").regex == "|a");
    CHECK(parse_one("- {action: keep, regex: []}").regex.empty());
    CHECK(parse_one("- {action: keep, if: [up, '{a=\"b\"}']}").if_ ==
          std::vector<std::string>{"up", "{a=\"b\"}"});
    CHECK(parse_one("- {action: keep, if: []}").if_.empty());
}

TEST_CASE("parse_relabel_configs: errors name file, line and key, and what is allowed") {
    struct Case {
        std::string yaml, where, part;
    };
    const Case cases[] = {
        {"relabel_config: []", "r.yaml:1: relabel_config: ", "did you mean relabel_configs?"},
        {"x: 1", "r.yaml:1: x: ", "allowed are relabel_configs"},
        {"7", "r.yaml:1: ", "must be a mapping"},
        {"relabel_configs: 7", "r.yaml:1: relabel_configs: ", "must be a list"},
        {"- ~\n", "r.yaml:1: relabel_configs[0]: ", "a rule is missing"},
        {"- target_label: t\n- ~\n", "r.yaml:2: relabel_configs[1]: ", "a rule is missing"},
        {"- keep", "r.yaml:1: relabel_configs[0]: ", "must be a mapping"},
        {"- target_label: t\n  replacment: x\n",
         "r.yaml:2: relabel_configs[0].replacment: ", "did you mean replacement?"},
        {"- target_label: t\n  target_label: u\n",
         "r.yaml:2: relabel_configs[0].target_label: ", "is there twice"},
        {"-\n  action: kepe\n", "r.yaml:2: relabel_configs[0].action: ",
         "there is no such action; allowed are replace, keep, drop, "},
        {"- action: kepp", "r.yaml:1: relabel_configs[0].action: ",
         "there is no such action (did you mean keep?); allowed are "},
        {"- action: LabelMop", "r.yaml:1: relabel_configs[0].action: ", "(did you mean labelmap?)"},
        {"- action: [keep]", "r.yaml:1: relabel_configs[0].action: ", "must be a text"},
        {"- {action: graphite, match: a.*, labels: {}}",
         "r.yaml:1: relabel_configs[0].match: ", "graphite"},
        {"- action: keep\n  labels: {a: b}", "r.yaml:2: relabel_configs[0].labels: ", "graphite"},
        {"- action: graphite",
         "r.yaml:1: relabel_configs[0].action: ", "graphite is not supported; use replace"},
        {"- source_labels: a", "r.yaml:1: relabel_configs[0].source_labels: ", "must be a list"},
        {"- source_labels: [[a]]",
         "r.yaml:1: relabel_configs[0].source_labels[0]: ", "must be a text"},
        {"- source_labels: ['']\n  target_label: t",
         "r.yaml:1: relabel_configs[0].source_labels: ", "must not be empty"},
        {"- target_label: t\n\n  regex: '('", "r.yaml:3: relabel_configs[0].regex: ", "missing )"},
        {"- target_label: t\n  regex: {a: b}",
         "r.yaml:2: relabel_configs[0].regex: ", "must be a text"},
        {"- target_label: t\n  regex:\n  - a\n  - [b]",
         "r.yaml:4: relabel_configs[0].regex[1]: ", "must be a text"},
        {"- source_labels: [a]",
         "r.yaml:1: relabel_configs[0].target_label: ", "is missing; action replace needs it"},
        {"- {action: keep, if: '{a'}",
         "r.yaml:1: relabel_configs[0].if: ", "series selector cannot be parsed at byte 3: "},
        {"- {action: keep, if: 7}",
         "r.yaml:1: relabel_configs[0].if: ", "expected a metric's name or '{'"},
        {"- {action: keep, if: {a: b}}", "r.yaml:1: relabel_configs[0].if: ", "must be a text"},
    };
    for (const Case& c : cases) {
        INFO(c.yaml);
        const std::string found = problem(c.yaml);
        INFO(found);
        CHECK(found.starts_with(c.where));
        CHECK(found.find(c.part) != std::string::npos);
    }
}

TEST_CASE("parse_relabel_configs: the keys of graphite are not among the allowed ones") {
    for (const char* key : {"labls", "mtch"}) {
        CHECK(problem("- " + std::string(key) + ": x").ends_with("modulus, if"));
    }
}

TEST_CASE("parse_relabel_configs: a modulus is a whole number") {
    const auto rule = [](const std::string& modulus) {
        return "- {action: hashmod, source_labels: [a], target_label: t, modulus: " + modulus + "}";
    };
    CHECK(parse_one(rule("1")).modulus == 1);
    const std::pair<const char*, std::uint64_t> spellings[] = {
        {"+1", 1},     {"1_000", 1000}, {"1__0_", 10},
        {"0x10", 16},  {"+0X1f", 31},   {"0xffffffffffffffff", 18446744073709551615u},
        {"0o17", 15},  {"0O17", 15},    {"017", 15},
        {"0_17", 15},  {"08", 8},       {"0b11", 3},
        {"0B1_1", 3},  {"1.0", 1},      {"1e3", 1000},
        {"1E3", 1000}, {"!!int 7", 7},  {"18446744073709551615", 18446744073709551615u},
    };
    for (const auto& [text, modulus] : spellings) {
        INFO(text);
        CHECK(parse_one(rule(text)).modulus == modulus);
    }
    for (const char* modulus : {"-1",
                                "+",
                                "+-1",
                                "++1",
                                "_1",
                                "1.5",
                                "1e30",
                                "1e-1",
                                "0x",
                                "0xg",
                                "0o",
                                "0o8",
                                "0b",
                                "0b2",
                                "0x1p4",
                                "0x-1",
                                "1:30",
                                ".inf",
                                "inf",
                                "nan",
                                "18446744073709551616",
                                "0x10000000000000000",
                                "'8'",
                                "'0x10'",
                                "''",
                                "[1]",
                                "true",
                                "'1 '",
                                "1 2"}) {
        INFO(modulus);
        CHECK(problem(rule(modulus)) ==
              "r.yaml:1: relabel_configs[0].modulus: must be a whole number from 0 to "
              "18446744073709551615");
    }
    CHECK(problem(rule("0")) ==
          "r.yaml:1: relabel_configs[0].modulus: must be 1 or more; action hashmod needs it");
    CHECK(problem(rule("")) == problem(rule("0")));
}

TEST_CASE(
    "parse_relabel_configs: actions that compare values refuse a regex, even the default one") {
    for (const char* action : {"keepequal", "dropequal"}) {
        const std::string head = "- source_labels: [a]\n  target_label: t\n  action: ";
        const std::string rule = head + action + "\n";
        CHECK(parse(rule + "  separator: ';'\n  replacement: $1\n  modulus: 0\n").size() == 1);
        for (const char* regex : {"(.*)", "''", "foo", "[a]"}) {
            CHECK(problem(rule + "  regex: " + regex) ==
                  "r.yaml:4: relabel_configs[0].regex: is not for action " + std::string(action) +
                      "; leave it out");
        }
        CHECK(problem(rule + "  regex: ~") != "");
    }
}

TEST_CASE("parse_relabel_configs: escapes stand for characters") {
    CHECK(parse_one(R"(- {target_label: t, replacement: "\x85\L\P\u00a0"})").replacement ==
          "\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xc2\xa0");
    CHECK(parse_one(R"(- {target_label: t, replacement: "x\_\N\xe4"})").replacement ==
          "x\xc2\xa0\xc2\x85\xc3\xa4");
    CHECK(problem("- {\"x\\_\": 1}").starts_with("r.yaml:1: relabel_configs[0].?: unknown key"));
}

TEST_CASE("parse_relabel_configs: keep_metrics and drop_metrics keep and drop by metric name") {
    for (const RelabelOptions& options : {RelabelOptions{}, vmagent}) {
        CHECK(parse_one("- {action: Keep_Metrics, regex: [a, b.*]}", options) ==
              RelabelRule{
                  .action = RelabelAction::keep, .source_labels = {"__name__"}, .regex = "a|b.*"});
        CHECK(parse_one("- {action: drop_metrics, if: up}", options) ==
              RelabelRule{
                  .action = RelabelAction::drop, .source_labels = {"__name__"}, .if_ = {"up"}});
        for (const char* regex : {"", "\n  regex: ''", "\n  regex: ~", "\n  regex: []"}) {
            const std::string found =
                problem("- action: drop_metrics" + std::string(regex), options);
            INFO(found);
            CHECK(found.ends_with(
                "relabel_configs[0].regex: is missing; action drop_metrics needs it, or if"));
        }
        CHECK(
            problem("- action: keep_metrics\n  regex: x\n  source_labels: [a]", options) ==
            "r.yaml:3: relabel_configs[0].source_labels: is not for action keep_metrics; leave it "
            "out");
    }
}

TEST_CASE("parse_relabel_configs: a rule merges what an anchor names") {
    const Rules rules = parse("- &a {source_labels: [x], target_label: t}\n"
                              "- {<<: *a, target_label: u}\n- {target_label: v, <<: *a}\n");
    CHECK(rules == Rules{{.source_labels = {"x"}, .target_label = "t"},
                         {.source_labels = {"x"}, .target_label = "u"},
                         {.source_labels = {"x"}, .target_label = "v"}});
}

TEST_CASE("load_relabel_configs: reads a file and names it") {
    const TemporaryDirectory directory;
    const std::string good = directory.write("good.yaml", "- target_label: t\n");
    CHECK(load_relabel_configs(good) == Rules{{.target_label = "t"}});
    const std::string bad = directory.write("bad.yaml", "- {}\n");
    CHECK(config_error([&] {
              load_relabel_configs(bad);
          }).starts_with(bad + ":1: relabel_configs[0].target_label: "));
    const std::string missing = directory.path("none.yaml");
    CHECK(config_error([&] { load_relabel_configs(missing); }).starts_with(missing));
}

TEST_CASE("load_relabel_configs: a host may have files that are larger, or smaller") {
    const TemporaryDirectory directory;
    const std::string rules =
        "# " + std::string(std::size_t{4} << 20, 'x') + "\n- {target_label: t}\n";
    const std::string path = directory.write("large.yaml", rules);
    CHECK(config_error([&] { load_relabel_configs(path); }).find("4 MiB") != std::string::npos);
    CHECK(load_relabel_configs(path, {}, {}, rules.size()) == Rules{{.target_label = "t"}});
    const auto variables = [](std::string_view) { return std::string(100, 'v'); };
    const auto expanded = [&](std::size_t max_bytes) {
        return parse_relabel_configs("- target_label: '%{X}'", vmagent, "r.yaml", variables,
                                     max_bytes);
    };
    CHECK(expanded(200).size() == 1);
    CHECK(config_error([&] { expanded(50); }).starts_with("r.yaml"));
}

TEST_CASE("parse_relabel_configs: the error names the mistakes of every rule, each on a line") {
    CHECK(problem("- action: kep\n- target_label: t\n- regex: '['\n  target_label: t\n")
              .find("\nr.yaml:3: relabel_configs[2].regex: ") != std::string::npos);
    std::string many;
    for (int i = 0; i < 150; ++i) many += "- action: kep\n";
    CHECK(problem(many).ends_with("\nand 50 more mistakes"));
}

TEST_CASE("RelabelRuleReader: paths begin at the list, and every bad rule is reported") {
    const auto document = detail::YamlValue::parse(
        "jobs:\n- relabel_configs:\n  - target_label: t\n  - regex: '['\n    target_label: t\n"
        "  - target_label: t\n  - action: kep\n",
        "s.yaml");
    const auto job = document["jobs"].items()[0];
    detail::RelabelRuleReader reader;
    detail::Mistakes mistakes;
    CHECK(reader.read(job["relabel_configs"], {}, mistakes).size() == 2);
    REQUIRE(mistakes.list().size() == 2);
    CHECK(mistakes.list()[0].where() == "s.yaml:4: jobs[0].relabel_configs[1].regex");
    CHECK(mistakes.list()[1].where() == "s.yaml:7: jobs[0].relabel_configs[3].action");
    CHECK(reader.read(job["none"], {}, mistakes).empty());
    CHECK(mistakes.count() == 2);
}

}  // namespace relabel_yaml_tests
