#include "support/relabelling.hpp"

#include <string>

using namespace k8s_sd;
using k8s_sd::test::rule_error;
using Action = RelabelAction;

namespace {

constexpr RelabelOptions legacy{.names = NameValidation::legacy};
constexpr RelabelOptions vmagent{.dialect = LabelDialect::victoriametrics};

const Action all_actions[] = {
    Action::replace,         Action::keep,          Action::drop,          Action::keepequal,
    Action::dropequal,       Action::hashmod,       Action::lowercase,     Action::uppercase,
    Action::labelmap,        Action::labeldrop,     Action::labelkeep,     Action::replace_all,
    Action::labelmap_all,    Action::keep_if_equal, Action::drop_if_equal, Action::keep_if_contains,
    Action::drop_if_contains};

/// A rule with exactly the required fields of its action.
RelabelRule least(Action action) {
    RelabelRule rule{.action = action};
    const std::string name(to_string(action));
    const bool of_names = name.starts_with("label");
    const bool of_sources = name.ends_with("_equal");
    if (!of_names) rule.source_labels = {"a", "b"};
    if (!of_names && !of_sources && action != Action::keep && action != Action::drop) {
        rule.target_label = "t";
    }
    if (action == Action::hashmod) rule.modulus = 1;
    return rule;
}

bool is_about(const std::string& error, const std::string& field) {
    INFO(error);
    return error.starts_with("relabel_configs[0]." + field + ": ");
}

}  // namespace

TEST_CASE("Relabelling rules: every action has a name and is content with what it needs") {
    CHECK(to_string(Action::replace) == "replace");
    CHECK(to_string(Action::labelkeep) == "labelkeep");
    CHECK(to_string(Action::drop_if_contains) == "drop_if_contains");
    for (const Action action : all_actions) {
        INFO(to_string(action));
        CHECK(rule_error(least(action)) == "");
        CHECK(rule_error(least(action), vmagent) == "");
        CHECK(rule_error(least(action), legacy) == "");
    }
}

TEST_CASE("Relabelling rules: the error names the rule, the field and the remedy") {
    CHECK(test::config_error([] {
              Relabeler({{.target_label = "a"}, {.target_label = "b"}, {}});
          }) == "relabel_configs[2].target_label: is missing; action replace needs it");
}

TEST_CASE("Relabelling rules: what an action needs must be there") {
    for (const Action action : all_actions) {
        INFO(to_string(action));
        const RelabelRule good = least(action);
        RelabelRule rule = good;
        rule.target_label = "";
        CHECK(is_about(rule_error(rule), "target_label") == !good.target_label.empty());
        rule = good;
        rule.modulus = 0;
        CHECK(is_about(rule_error(rule), "modulus") == (action == Action::hashmod));
        rule = good;
        rule.source_labels = {};
        const bool needs_source = to_string(action).find("_if_") != std::string_view::npos ||
                                  action == Action::replace_all;
        CHECK(is_about(rule_error(rule), "source_labels") == needs_source);
        rule.source_labels = {"a"};
        const bool needs_two = to_string(action).ends_with("_if_equal");
        const bool refuses = action == Action::labeldrop || action == Action::labelkeep;
        CHECK(is_about(rule_error(rule), "source_labels") == (needs_two || refuses));
    }
}

TEST_CASE("Relabelling rules: Prometheus refuses fields that the action does not use") {
    for (const Action action : {Action::labeldrop, Action::labelkeep}) {
        RelabelRule rule{.action = action, .regex = "a"};
        rule.separator = ";";
        CHECK(rule_error(rule) == "");
        const auto with = [&](auto member, auto value) {
            RelabelRule changed = rule;
            changed.*member = value;
            CHECK(rule_error(changed, vmagent) == "");
            return rule_error(changed);
        };
        CHECK(is_about(with(&RelabelRule::source_labels, std::vector<std::string>{"a"}),
                       "source_labels"));
        CHECK(is_about(with(&RelabelRule::modulus, 8u), "modulus"));
        CHECK(is_about(with(&RelabelRule::separator, ","), "separator"));
        CHECK(is_about(with(&RelabelRule::replacement, "yolo-{1}"), "replacement"));
        CHECK(is_about(with(&RelabelRule::target_label, "yolo"), "target_label"));
    }
    for (const Action action : {Action::keepequal, Action::dropequal}) {
        const auto with = [&](auto member, auto value) {
            RelabelRule changed = least(action);
            changed.*member = value;
            return rule_error(changed);
        };
        CHECK(is_about(with(&RelabelRule::regex, "foo"), "regex"));
        CHECK(is_about(with(&RelabelRule::modulus, 8u), "modulus"));
        CHECK(is_about(with(&RelabelRule::separator, ","), "separator"));
        CHECK(is_about(with(&RelabelRule::replacement, "x"), "replacement"));
        RelabelRule foo = least(action);
        foo.separator = ",";
        CHECK(rule_error(foo, vmagent) == "");
        foo.regex = "foo";
        CHECK(is_about(rule_error(foo, vmagent), "regex"));
    }
    for (const Action action : {Action::lowercase, Action::uppercase}) {
        RelabelRule rule = least(action);
        rule.replacement = "bar";
        CHECK(is_about(rule_error(rule), "replacement"));
        CHECK(rule_error(rule, vmagent) == "");
    }
}

TEST_CASE(
    "Relabelling rules: fields that labelmap, hashmod, keep and drop do not use are ignored") {
    CHECK(rule_error({.action = Action::labelmap, .source_labels = {"a"}, .modulus = 3}) == "");
    CHECK(rule_error({.action = Action::hashmod,
                      .regex = "x",
                      .target_label = "t",
                      .replacement = "",
                      .modulus = 3}) == "");
    CHECK(rule_error({.action = Action::keep, .target_label = "-", .replacement = ""}) == "");
}

TEST_CASE("Relabelling rules: a target label is a name of the scheme, for replace a template") {
    const auto target = [](Action action, const std::string& label,
                           const RelabelOptions& options = {}) {
        RelabelRule rule = least(action);
        rule.target_label = label;
        return rule_error(rule, options);
    };
    for (const char* label : {"${3}", "0${3}", "-${3}", "a.b", "-", "$", "\xc3\xa9"}) {
        INFO(label);
        CHECK(target(Action::replace, label) == "");
        CHECK(target(Action::lowercase, label) == "");
    }
    CHECK(is_about(target(Action::replace, "a\xff"), "target_label"));
    CHECK(is_about(target(Action::replace, "\xff$1"), "target_label"));
    for (const Action action : {Action::lowercase, Action::uppercase, Action::keepequal,
                                Action::dropequal, Action::hashmod, Action::replace_all}) {
        INFO(to_string(action));
        CHECK(is_about(target(action, "${3}", legacy), "target_label"));
        CHECK(is_about(target(action, "\xff"), "target_label"));
    }
    CHECK(target(Action::lowercase, "a-b", legacy) ==
          "relabel_configs[0].target_label: is no label name; allowed is [a-zA-Z_][a-zA-Z0-9_]* "
          "(legacy name validation)");
}

TEST_CASE("Relabelling rules: templates of the legacy scheme") {
    for (const char* text : {"label", "label${1}", "${1}label", "${1}", "$1", "asd$2asd", "_${1}_",
                             "foo${bar}foo", "a9", "${1}9", "$a$b"}) {
        INFO(text);
        CHECK(rule_error({.target_label = text}, legacy) == "");
        CHECK(rule_error({.action = Action::labelmap, .replacement = text}, legacy) == "");
    }
    for (const char* text : {"-label", "${", "$", "${}", "foo${", "-foo${1}bar-", "bar.foo${1}bar",
                             "9$1", "$$", "$1 ", "${1", "${a-b}", "${\xc3\xa9}"}) {
        INFO(text);
        CHECK(is_about(rule_error({.target_label = text}, legacy), "target_label"));
        CHECK(is_about(rule_error({.action = Action::labelmap, .replacement = text}, legacy),
                       "replacement"));
        CHECK(rule_error({.target_label = text}) == "");
    }
    CHECK(is_about(rule_error({.action = Action::labelmap, .replacement = "\xff"}), "replacement"));
    CHECK(is_about(rule_error({.action = Action::labelmap, .replacement = ""}), "replacement"));
}

TEST_CASE("Relabelling rules: source labels are not empty and UTF-8") {
    CHECK(is_about(rule_error({.source_labels = {"a", ""}, .target_label = "t"}), "source_labels"));
    CHECK(is_about(rule_error({.source_labels = {"\xc3"}, .target_label = "t"}), "source_labels"));
    // Not by the scheme: a rule can still read a name that the scheme forbids.
    CHECK(rule_error({.source_labels = {"a.b"}, .target_label = "t"}, legacy) == "");
}

TEST_CASE("Relabelling rules: a regex has to compile, also by Go's rules") {
    const auto regex = [](const std::string& text) {
        return rule_error({.action = Action::keep, .regex = text});
    };
    for (const char* text : {"(",
                             "[",
                             "*",
                             "a**",
                             "\\",
                             "(?=a)",
                             "(?!a)",
                             "(?<=a)",
                             "(?<!a)",
                             "\\1",
                             "(?P=n)",
                             "a{1001}",
                             "\\C",
                             "a\\Cb",

                             "(?<\xc3\xa9>a)",
                             "(?P<>a)",
                             "(?<n",
                             "\xff",
                             "[b-a]",
                             "\\Q",
                             "x)y",
                             "(a{1000}){1000}",
                             "\\Z"}) {
        INFO(text);
        CHECK(is_about(regex(text), "regex"));
    }
    for (const char* text :
         {"\\QC\\C\\E", "\\\\C", "[\\\\C]", "(?<a_1>x)", "[(?<]", "[]a]", "[^]a]", "[[:alpha:](?<]",
          "\\(?<", "\\Q(?<\\E", "\\pL", "[[:]", "a{,2}", "\\z"}) {
        INFO(text);
        CHECK(regex(text) == "");
    }
    // Without the enclosing anchors.
    CHECK(regex("(a") == "relabel_configs[0].regex: is not a regular expression of RE2, which has "
                         "neither look-around nor back-references: missing )");
}

TEST_CASE("Relabelling rules: the selectors of an if have to parse") {
    CHECK(is_about(rule_error({.action = Action::keep, .if_ = {"{a=\"b\"}", "{"}}), "if"));
    CHECK(is_about(rule_error({.action = Action::keep, .if_ = {"{a=~\"(\"}"}}), "if"));
}
