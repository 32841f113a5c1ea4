// vmagent's extensions of Prometheus' relabelling.

#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "support/relabelling.hpp"

namespace relabel_vmagent_tests {

using namespace k8s_sd;
using k8s_sd::test::relabel;
using Action = RelabelAction;

namespace {

constexpr RelabelOptions vmagent{.dialect = LabelDialect::victoriametrics};

std::string replace_all(const std::string& value, const std::string& regex,
                        const std::string& replacement) {
    const auto result = relabel({{"a", value}}, {{.action = Action::replace_all,
                                                  .source_labels = {"a"},
                                                  .regex = regex,
                                                  .target_label = "a",
                                                  .replacement = replacement}});
    return result->contains("a") ? result->at("a") : "";
}

/// The sharding key of vmagent after these rules.
std::string key_after(const LabelMap& labels, const std::vector<RelabelRule>& rules) {
    MutableLabels changed;
    test::fill(changed, labels);
    const Relabeler relabeler(rules, vmagent);  // the labels reference its texts
    REQUIRE(relabeler.apply(changed));
    return Sharding().key(changed.labels());
}

bool keeps(const LabelMap& labels, const RelabelRule& rule) {
    return relabel(labels, {rule}, vmagent).has_value();
}

}  // namespace

TEST_CASE("Relabelling of vmagent: an equal regex is compiled once, also as it is written") {
    const RelabelRule rule{.source_labels = {"a"}, .regex = "x(y|z)+w", .target_label = "b"};
    const Relabeler relabeler({rule}, vmagent);
    for (const auto anchors : {detail::Pattern::Anchors::both, detail::Pattern::Anchors::none}) {
        const auto pattern = detail::shared_pattern(rule.regex, anchors);
        CHECK(pattern.use_count() > 1);
    }
}

TEST_CASE("Relabelling of vmagent: replace_all replaces every occurrence") {
    CHECK(replace_all("a-b-c", "-", "_") == "a_b_c");
    CHECK(replace_all("abab", "(a)(b)", "$2$1") == "baba");
    CHECK(replace_all("aaa", "a", "") == "");
    CHECK(replace_all("abc", "x*", "-") == "-a-b-c-");
    CHECK(replace_all("abc", "b*", "-") == "-a-c-");
    CHECK(replace_all("\xc3\xa9x", "", "-") == "-\xc3\xa9-x-");
    CHECK(replace_all("aaa", "^a", "b") == "baa");
    CHECK(replace_all("foo bar", "\\b", "|") == "|foo| |bar|");
    CHECK(replace_all("a\nb", "a.b", "x") == "a\nb");  // unchanged: the dot stops at line breaks
    CHECK(replace_all("a\xff\xff"
                      "b",
                      "[^a]", "x") == "axxx");
    CHECK(replace_all("a\xff"
                      "b",
                      "b", "c") == "a\xff"
                                   "c");
    CHECK(replace_all("a\xff"
                      "b",
                      "(.)b", "$1$1") == "a\xff\xff");
}

TEST_CASE("Relabelling of vmagent: replace_all without an occurrence leaves the target alone") {
    const LabelMap labels{{"a", "x"}, {"b", "y"}};
    const RelabelRule rule{.action = Action::replace_all,
                           .source_labels = {"a"},
                           .regex = "z",
                           .target_label = "b",
                           .replacement = "w"};
    CHECK(relabel(labels, {rule}) == labels);
    // Also not if the result is the same.
    RelabelRule same = rule;
    same.regex = same.replacement = "x";
    CHECK(relabel(labels, {same}) == labels);
}

TEST_CASE("Relabelling of vmagent: labelmap_all renames") {
    const RelabelRule rule{.action = Action::labelmap_all, .regex = "-|\\.", .replacement = "_"};
    CHECK(relabel({{"a-b.c", "1"}, {"d", "2"}}, {rule}) == LabelMap{{"a_b_c", "1"}, {"d", "2"}});
    // If two labels get the same name, the last wins.
    CHECK(relabel({{"a-b", "1"}, {"a.b", "2"}}, {rule}) == LabelMap{{"a_b", "2"}});
    CHECK(relabel({{"a-b", "1"}, {"a_b", "2"}}, {rule}) == LabelMap{{"a_b", "2"}});
    // A label with an empty new name is dropped; a label with an invalid new name keeps its own.
    const RelabelRule erase{.action = Action::labelmap_all, .regex = "a+", .replacement = ""};
    CHECK(relabel({{"aa", "1"}, {"ab", "2"}}, {erase}) == LabelMap{{"b", "2"}});
    const RelabelRule dot{.action = Action::labelmap_all, .regex = "_", .replacement = "."};
    CHECK(relabel({{"a_b", "1"}}, {dot}, {.names = NameValidation::legacy}) ==
          LabelMap{{"a_b", "1"}});
}

TEST_CASE("Relabelling of vmagent: labelmap_all keeps the places of labels") {
    MutableLabels labels;
    for (const char* name : {"c-", "a", "b-"}) labels.set(name, name);
    const Relabeler relabeler({{.action = Action::labelmap_all, .regex = "-", .replacement = "_"}});
    REQUIRE(relabeler.apply(labels));
    std::string order;
    for (const auto& label : labels.labels()) order += label.name;
    CHECK(order == "c_ab_");
}

TEST_CASE("Relabelling of vmagent: labelmap makes labels in the order of those they come from") {
    const RelabelRule map{.action = Action::labelmap, .regex = "__meta_(.)"};
    // __meta_a comes last, because the first rule created it.
    CHECK(key_after({{"__meta_b", "1"}, {"__meta_c", "2"}},
                    {{.target_label = "__meta_a", .replacement = "3"}, map}) ==
          "__meta_b=1,__meta_c=2,__meta_a=3,b=1,c=2,a=3,");
    // If two labels get the same name, the first determines the position and the last the value.
    const RelabelRule two{.action = Action::labelmap, .regex = "_[ab](_z)?", .replacement = "x$1"};
    CHECK(key_after({{"_b", "1"}, {"_b_z", "2"}}, {{.target_label = "_a", .replacement = "3"},
                                                   two}) == "_b=1,_b_z=2,_a=3,x=3,x_z=2,");
}

TEST_CASE("Relabelling of vmagent: a label that was empty meanwhile keeps its place") {
    const LabelMap labels{{"a", "1"}, {"b", "2"}, {"c", "3"}};
    const auto set = [](const char* name, const char* value) {
        return RelabelRule{.target_label = name, .replacement = value};
    };
    CHECK(key_after(labels, {set("a", ""), set("d", "4"), set("a", "5")}) == "a=5,b=2,c=3,d=4,");
    CHECK(key_after(labels, {set("e", ""), set("d", "4"), set("e", "5")}) ==
          "a=1,b=2,c=3,e=5,d=4,");
    CHECK(key_after(labels, {set("a", ""), set("e", "")}) == "b=2,c=3,");
    const RelabelRule drop{.action = Action::labeldrop, .regex = "a"};
    CHECK(key_after(labels, {set("a", ""), drop, set("a", "5")}) == "b=2,c=3,a=5,");
    const RelabelRule keep{.action = Action::labelkeep, .regex = "a|c"};
    CHECK(key_after(labels, {set("a", ""), keep, set("a", "5")}) == "a=5,c=3,");
}

TEST_CASE("Relabelling of vmagent: labelmap copies empty values, and Prometheus' does not") {
    const RelabelRule empty{.target_label = "b_", .replacement = ""};
    const RelabelRule map{.action = Action::labelmap, .regex = "(.)_", .replacement = "x"};
    CHECK(key_after({{"a_", "1"}, {"b_", "2"}}, {empty, map}) == "a_=1,");
    CHECK(relabel({{"a_", "1"}, {"b_", "2"}}, {empty, map}) == LabelMap{{"a_", "1"}, {"x", "1"}});
}

TEST_CASE("Relabelling of vmagent: a blank gives its place to no label that labelmap_all names") {
    const RelabelRule empty{.target_label = "b_", .replacement = ""};
    const RelabelRule all{.action = Action::labelmap_all, .regex = "._", .replacement = "x"};
    CHECK(key_after({{"a_", "1"}, {"b_", "2"}, {"c", "3"}}, {empty, all}) == "x=1,c=3,");
    const RelabelRule again{.target_label = "x", .replacement = "4"};
    CHECK(key_after({{"b_", "2"}, {"c", "3"}}, {empty, all, again}) == "x=4,c=3,");
}

TEST_CASE("Relabelling of vmagent: keep_if_equal and drop_if_equal compare all source labels") {
    const RelabelRule keep{.action = Action::keep_if_equal, .source_labels = {"a", "b", "c"}};
    const RelabelRule drop{.action = Action::drop_if_equal, .source_labels = {"a", "b", "c"}};
    const LabelMap equal{{"a", "x"}, {"b", "x"}, {"c", "x"}};
    const LabelMap different{{"a", "x"}, {"b", "x"}};
    CHECK(keeps(equal, keep));
    CHECK_FALSE(keeps(equal, drop));
    CHECK_FALSE(keeps(different, keep));
    CHECK(keeps(different, drop));
    CHECK(keeps({{"d", "x"}}, keep));
}

TEST_CASE("Relabelling of vmagent: keep_if_contains and drop_if_contains look into the target") {
    const RelabelRule keep{
        .action = Action::keep_if_contains, .source_labels = {"a", "b"}, .target_label = "tags"};
    RelabelRule drop = keep;
    drop.action = Action::drop_if_contains;
    const LabelMap both{{"a", "x"}, {"b", "y"}, {"tags", ",y,x,"}};
    const LabelMap one{{"a", "x"}, {"b", "z"}, {"tags", ",y,x,"}};
    CHECK(keeps(both, keep));
    CHECK_FALSE(keeps(both, drop));
    CHECK_FALSE(keeps(one, keep));
    CHECK(keeps(one, drop));
    CHECK(keeps({{"a", "x"}, {"tags", "x"}}, keep));  // every value contains an absent one
}

TEST_CASE("Relabelling of vmagent: an if makes a rule one for the label sets it matches") {
    const std::vector<std::string> selectors{"{a=\"1\"}", "{a=\"2\"}"};
    const RelabelRule rule{.target_label = "d", .replacement = "x", .if_ = selectors};
    CHECK(relabel({{"a", "1"}}, {rule}) == LabelMap{{"a", "1"}, {"d", "x"}});
    CHECK(relabel({{"a", "2"}}, {rule}) == LabelMap{{"a", "2"}, {"d", "x"}});
    CHECK(relabel({{"a", "3"}}, {rule}) == LabelMap{{"a", "3"}});
    const RelabelRule keep{.action = Action::keep, .if_ = selectors};
    CHECK(keeps({{"a", "1"}}, keep));
    CHECK_FALSE(keeps({{"a", "3"}}, keep));
    const RelabelRule drop{.action = Action::drop, .if_ = selectors};
    CHECK_FALSE(keeps({{"a", "1"}}, drop));
    CHECK(keeps({{"a", "3"}}, drop));
    const RelabelRule keep_more{
        .action = Action::keep, .source_labels = {"b"}, .regex = "x", .if_ = selectors};
    CHECK(keeps({{"a", "1"}, {"b", "x"}}, keep_more));
    CHECK_FALSE(keeps({{"a", "1"}, {"b", "y"}}, keep_more));
    const RelabelRule names{.action = Action::labeldrop, .regex = "a", .if_ = {"{b=\"\"}"}};
    CHECK(relabel({{"a", "1"}}, {names}) == LabelMap{});
    CHECK(relabel({{"a", "1"}, {"b", "1"}}, {names}) == LabelMap{{"a", "1"}, {"b", "1"}});
}

TEST_CASE("Relabelling of vmagent: {{label}} in a replacement is that label's value") {
    const auto d = [](const std::string& replacement, const RelabelOptions& options) {
        return relabel({{"a", "foo"}, {"b.c", "x$1"}},
                       {{.source_labels = {"a"},
                         .regex = "f(.*)",
                         .target_label = "d",
                         .replacement = replacement}},
                       options)
            ->at("d");
    };
    CHECK(d("{{a}}-$1", vmagent) == "foo-oo");
    CHECK(d("{{a}}", vmagent) == "foo");
    CHECK(d("<{{none}}>", vmagent) == "<>");
    CHECK(d("{{b.c}}", vmagent) == "x$1");  // a value is no template
    CHECK(d("${1}{{a}}{{a}}", vmagent) == "oofoofoo");
    CHECK(d("{{a", vmagent) == "{{a");
    CHECK(d("a}}{{", vmagent) == "a}}{{");
    CHECK(d("{{a}}-$1", {}) == "{{a}}-oo");
}

TEST_CASE("Relabelling of vmagent: a regex that means .* is the default one") {
    const auto d = [](const std::string& regex, const RelabelOptions& options) {
        const auto result =
            relabel({{"a", "foo"}, {"d", "old"}},
                    {{.source_labels = {"a"}, .regex = regex, .target_label = "d"}}, options);
        return result->contains("d") ? result->at("d") : "";
    };
    for (const char* regex : {".*", "(.*)", "^.*$", "(?:.*)", "^(?:(.*))$$", "\\A.*\\z", "((.*))",
                              "(?s:.*)", "(?s).*", "^^(^.*$)"}) {
        INFO(regex);
        CHECK(d(regex, vmagent) == "foo");
    }
    CHECK(d(".*", {}) == "");  // has no group in Prometheus
    for (const char* regex : {".+", ".*?", "f.*", "(?U).*", "(.*)|", "foo"}) {
        INFO(regex);
        CHECK(d(regex, vmagent) == (std::string(regex) == "(.*)|" ? "foo" : ""));
    }
    // An unanchored search treats it as an expression without a group.
    const RelabelRule all{
        .action = Action::replace_all, .source_labels = {"a"}, .target_label = "a"};
    CHECK(relabel({{"a", "foo"}}, {all}, vmagent) == LabelMap{});
    CHECK(relabel({{"a", "foo"}}, {all}) == LabelMap{{"a", "foo"}});
}

TEST_CASE("Relabelling of vmagent: some actions need source labels there") {
    const auto problem = [](RelabelRule rule, const RelabelOptions& options) {
        rule.target_label = "t";
        rule.modulus = rule.action == Action::hashmod ? 2 : 0;
        return test::rule_error(rule, options);
    };
    for (const Action action :
         {Action::keep, Action::drop, Action::hashmod, Action::lowercase, Action::uppercase}) {
        INFO(to_string(action));
        CHECK(problem({.action = action}, vmagent) == "relabel_configs[0].source_labels: action " +
                                                          std::string(to_string(action)) +
                                                          " needs one or more");
        CHECK(problem({.action = action}, {}) == "");
        CHECK(problem({.action = action, .source_labels = {"a"}}, vmagent) == "");
    }
    CHECK(problem({.action = Action::keep, .if_ = {"{a=\"1\"}"}}, vmagent) == "");
    CHECK_FALSE(problem({.action = Action::hashmod, .if_ = {"{a=\"1\"}"}}, vmagent).empty());
}

TEST_CASE("Relabelling of vmagent: a label without name is an empty one") {
    const RelabelRule nameless{.source_labels = {"", "a"}, .target_label = "d"};
    CHECK(relabel({{"a", "1"}}, {nameless}, vmagent) == LabelMap{{"a", "1"}, {"d", ";1"}});
    CHECK_FALSE(test::rule_error(nameless).empty());
    const RelabelRule map{.action = Action::labelmap, .regex = "a", .replacement = ""};
    CHECK(relabel({{"a", "1"}}, {map}, vmagent) == LabelMap{{"a", "1"}});
    CHECK_FALSE(test::rule_error(map).empty());
}

TEST_CASE("Relabelling of vmagent: a regex has to be one without anchors as well") {
    const RelabelRule escapes{.source_labels = {"a"}, .regex = "foo)|(?:bar", .target_label = "d"};
    CHECK(test::rule_error(escapes) == "");
    CHECK_FALSE(test::rule_error(escapes, vmagent).empty());
}

TEST_CASE("Relabelling of vmagent: what has no label left is dropped") {
    const RelabelRule none{.action = Action::labeldrop, .regex = ".*"};
    const RelabelRule again{.target_label = "a", .replacement = "1"};
    CHECK_FALSE(keeps({{"a", "1"}}, none));
    CHECK(relabel({{"a", "1"}}, {none, again}, vmagent) == std::nullopt);
    CHECK(relabel({{"a", "1"}}, {none, again}) == LabelMap{{"a", "1"}});
    // An empty label still counts.
    const RelabelRule empty{.target_label = "a", .replacement = ""};
    CHECK(relabel({{"a", "1"}}, {empty, again}, vmagent) == LabelMap{{"a", "1"}});
}

TEST_CASE("Relabelling of vmagent: a modulus above 2^63 makes numbers with a sign") {
    const RelabelRule rule{.action = Action::hashmod,
                           .source_labels = {"a"},
                           .target_label = "h",
                           .modulus = UINT64_MAX};
    // XXH64 of "" is 0xef46db3751d8e999.
    CHECK(relabel({{"b", "1"}}, {rule}, vmagent)->at("h") == "-1205034819632174695");
}

}  // namespace relabel_vmagent_tests
