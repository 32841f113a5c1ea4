// The other actions of Prometheus.

#include "support/relabelling.hpp"

using namespace k8s_sd;
using k8s_sd::test::relabel;
using Action = RelabelAction;

namespace {

const std::optional<LabelMap> dropped;

bool keeps(const LabelMap& labels, const RelabelRule& rule) {
    return relabel(labels, {rule}).has_value();
}

RelabelRule filter(Action action, const std::string& source, const std::string& regex) {
    return {.action = action, .source_labels = {source}, .regex = regex};
}

RelabelRule compare(Action action, const std::string& source, const std::string& target) {
    return {.action = action, .source_labels = {source}, .target_label = target};
}

/// The hashmod result for a label with the value; "" if there is no label.
std::string hashmod(const std::string& value, std::uint64_t modulus,
                    const RelabelOptions& options = {}) {
    const RelabelRule rule{
        .action = Action::hashmod, .source_labels = {"a"}, .target_label = "t", .modulus = modulus};
    return relabel({{"a", value}}, {rule}, options)->at("t");
}

std::string in_case(Action action, const std::string& value) {
    const RelabelRule rule{.action = action, .source_labels = {"a"}, .target_label = "t"};
    const auto result = relabel({{"a", value}}, {rule});
    return result->contains("t") ? result->at("t") : "";
}

}  // namespace

TEST_CASE("Relabelling: keep and drop match the whole value") {
    const LabelMap foo{{"a", "foo"}};
    CHECK(relabel(foo, {filter(Action::drop, "a", ".*o.*"),
                        {.target_label = "x", .replacement = "y"}}) == dropped);
    CHECK(keeps(foo, filter(Action::drop, "a", "no-match")));
    CHECK(keeps(foo, filter(Action::drop, "a", "f|o")));
    CHECK_FALSE(keeps(foo, filter(Action::keep, "a", "no-match")));
    CHECK(keeps(foo, filter(Action::keep, "a", "f.*")));
    CHECK(keeps({{"zz", "b"}}, filter(Action::drop, "zz", "")));
    CHECK_FALSE(keeps({}, filter(Action::drop, "zz", "")));
    CHECK(keeps({{"a", "FOO"}}, filter(Action::keep, "a", "(?i)foo")));
    // Anchors enclose the text of the regex, and this one breaks out of them.
    CHECK(keeps({{"a", "fooXYZ"}}, filter(Action::keep, "a", "foo)|(?:bar")));
    CHECK_FALSE(keeps({{"a", "XYZfoo"}}, filter(Action::keep, "a", "foo)|(?:bar")));
    CHECK(keeps({{"a", "XYZbar"}}, filter(Action::keep, "a", "foo)|(?:bar")));
}

TEST_CASE("Relabelling: keep and drop without source labels see an empty value") {
    CHECK(keeps({{"a", "b"}}, {.action = Action::keep}));
    CHECK_FALSE(keeps({{"a", "b"}}, {.action = Action::keep, .regex = "b"}));
    CHECK_FALSE(keeps({{"a", "b"}}, {.action = Action::drop}));
}

TEST_CASE("Relabelling: keepequal and dropequal compare values") {
    const LabelMap ports{{"__tmp_port", "1234"}, {"__port1", "1234"}, {"__port2", "5678"}};
    CHECK(relabel(ports, {compare(Action::keepequal, "__tmp_port", "__port1")}) == ports);
    CHECK_FALSE(keeps(ports, compare(Action::dropequal, "__tmp_port", "__port1")));
    CHECK(keeps(ports, compare(Action::dropequal, "__tmp_port", "__port2")));
    CHECK_FALSE(keeps(ports, compare(Action::keepequal, "__tmp_port", "__port2")));
    CHECK(keeps({{"b", "y"}}, compare(Action::keepequal, "a", "z")));
    CHECK_FALSE(keeps({{"b", "y"}}, compare(Action::dropequal, "a", "z")));
    const RelabelRule two{
        .action = Action::keepequal, .source_labels = {"a", "b"}, .target_label = "c"};
    CHECK(keeps({{"a", "x"}, {"b", "y"}, {"c", "x;y"}}, two));
}

TEST_CASE("Relabelling: hashmod takes the end of an MD5") {
    CHECK(hashmod("baz", 1000) == "976");
    CHECK(hashmod("foo\nbar", 1000) == "734");
    CHECK(hashmod("10.132.183.40:80", 3) == "1");
    CHECK(hashmod("10.0.0.1:9100", 4) == "1");
    CHECK(hashmod("10.0.0.2:9100", 4) == "1");
    CHECK(hashmod("1.2.3.4:9000", 2) == "1");
    CHECK(hashmod("1.2.3.4:9000", 1) == "0");
    CHECK(hashmod("example.com:443", 16) == "9");
    CHECK(hashmod("foo", 100) == "96");
    CHECK(hashmod("default;testpod", 7) == "5");
    CHECK(hashmod("anything", 1) == "0");
    CHECK(hashmod("baz", 18446744073709551615u) == "16450797887570275976");
    const auto of_none = [](std::uint64_t modulus) {
        const RelabelRule rule{.action = Action::hashmod,
                               .source_labels = {"a"},
                               .target_label = "t",
                               .modulus = modulus};
        return relabel({}, {rule})->at("t");
    };
    CHECK(of_none(1000) == "958");
    CHECK(of_none(4) == "2");
    const RelabelRule two{
        .action = Action::hashmod, .source_labels = {"a", "b"}, .target_label = "t", .modulus = 10};
    CHECK(relabel({{"a", "a"}, {"b", "b"}}, {two})->at("t") == "4");
}

TEST_CASE("Relabelling: hashmod of vmagent takes XXH64") {
    const RelabelOptions vmagent{.dialect = LabelDialect::victoriametrics};
    // The hashes come from the algorithm's specification.
    CHECK(hashmod("a", 18446744073709551615u, vmagent) ==
          std::to_string(static_cast<std::int64_t>(0xd24ec4f1a98c6e5bu)));
    CHECK(hashmod("abc", 1000, vmagent) == std::to_string(0x44bc2cf5ad770999u % 1000));
}

TEST_CASE("Relabelling: lowercase and uppercase") {
    const LabelMap foo{{"foo", "bAr123Foo"}};
    CHECK(relabel(foo, {compare(Action::uppercase, "foo", "u"),
                        compare(Action::lowercase, "foo", "l")}) ==
          LabelMap{{"foo", "bAr123Foo"}, {"u", "BAR123FOO"}, {"l", "bar123foo"}});
    CHECK(relabel({{"t", "y"}}, {compare(Action::uppercase, "a", "t")}) == LabelMap{});
    const RelabelRule itself = compare(Action::lowercase, "a", "a");
    CHECK(relabel({{"a", "X"}}, {itself}) == LabelMap{{"a", "x"}});
}

TEST_CASE("Relabelling: case is mapped character by character, in any script") {
    CHECK(in_case(Action::uppercase, "stra\xc3\x9f"
                                     "e") == "STRA\xc3\x9f"
                                             "E");                // sharp s stays
    CHECK(in_case(Action::lowercase, "\xce\xa3") == "\xcf\x83");  // sigma, not the final one
    CHECK(in_case(Action::uppercase, "\xc4\xb1") == "I");         // dotless i
    CHECK(in_case(Action::lowercase, "\xc4\xb0") == "i");         // I with a dot
    CHECK(in_case(Action::uppercase, "\xe1\xbe\xb3") == "\xe1\xbe\xbc");  // alpha, iota below
    CHECK(in_case(Action::lowercase, "\xf0\x90\x90\x80") == "\xf0\x90\x90\xa8");  // Deseret
    CHECK(in_case(Action::uppercase, "a\xff"
                                     "b\xc3") == "A\xef\xbf\xbd"
                                                 "B\xef\xbf\xbd");
}

TEST_CASE("Relabelling: labelmap copies, and the originals stay") {
    CHECK(
        relabel({{"a", "foo"}, {"b1", "bar"}, {"b2", "baz"}},
                {{.action = Action::labelmap, .regex = "(b.*)", .replacement = "bar_${1}"}}) ==
        LabelMap{{"a", "foo"}, {"b1", "bar"}, {"b2", "baz"}, {"bar_b1", "bar"}, {"bar_b2", "baz"}});
    const LabelMap meta{
        {"a", "foo"}, {"__meta_my_bar", "aaa"}, {"__meta_my_baz", "bbb"}, {"__meta_other", "ccc"}};
    LabelMap expected = meta;
    expected.insert({{"my_bar", "aaa"}, {"my_baz", "bbb"}});
    CHECK(
        relabel(meta,
                {{.action = Action::labelmap, .regex = "__meta_(my.*)", .replacement = "${1}"}}) ==
        expected);
    const LabelMap pod{{"__meta_kubernetes_pod_label_app", "w"},
                       {"__meta_kubernetes_pod_labelpresent_app", "true"},
                       {"app", "old"}};
    expected = pod;
    expected["app"] = "w";
    CHECK(relabel(pod, {{.action = Action::labelmap,
                         .regex = "__meta_kubernetes_pod_label_(.+)"}}) == expected);
}

TEST_CASE("Relabelling: labelmap sees the labels before the rule; the last label wins") {
    const RelabelRule cut{.action = Action::labelmap, .regex = "x?(a.*)", .replacement = "$1"};
    CHECK(relabel({{"ab", "1"}, {"xab", "2"}}, {cut}) == LabelMap{{"ab", "2"}, {"xab", "2"}});
    // The last one was set last.
    const Relabeler relabeler({cut});
    MutableLabels labels;
    labels.set("xab", "2");
    labels.set("ab", "1");
    CHECK(relabeler.apply(labels));
    CHECK(labels.to_map() == LabelMap{{"ab", "1"}, {"xab", "2"}});
    // The rule makes y_a itself, and does not map it again.
    const RelabelRule chain{.action = Action::labelmap, .regex = "(.*)", .replacement = "y_$1"};
    CHECK(relabel({{"a", "1"}, {"y_a", "2"}}, {chain}) ==
          LabelMap{{"a", "1"}, {"y_a", "1"}, {"y_y_a", "2"}});
}

TEST_CASE("Relabelling: labelmap leaves out names that are no label names") {
    const RelabelRule rule{.action = Action::labelmap, .regex = "a_(.*)"};
    const LabelMap labels{{"a_", "1"}, {"a_2", "2"}};
    CHECK(relabel(labels, {rule}) == LabelMap{{"a_", "1"}, {"a_2", "2"}, {"2", "2"}});
    CHECK(relabel(labels, {rule}, {.names = NameValidation::legacy}) == labels);
}

TEST_CASE("Relabelling: labelmap with a regex that escapes its anchors replaces every match") {
    const RelabelRule rule{
        .action = Action::labelmap, .regex = "foo)|(?:bar", .replacement = "<$0>"};
    CHECK(relabel({{"foo_bar", "1"}, {"x_foo", "2"}}, {rule}) ==
          LabelMap{{"foo_bar", "1"}, {"x_foo", "2"}, {"<foo>_<bar>", "1"}});
}

TEST_CASE("Relabelling: labelkeep and labeldrop") {
    const LabelMap labels{{"a", "foo"}, {"b1", "bar"}, {"b2", "baz"}};
    CHECK(relabel(labels, {{.action = Action::labelkeep, .regex = "(b.*)"}}) ==
          LabelMap{{"b1", "bar"}, {"b2", "baz"}});
    CHECK(relabel(labels, {{.action = Action::labeldrop, .regex = "(b.*)"}}) ==
          LabelMap{{"a", "foo"}});
    CHECK(relabel({{"__address__", "h:1"}, {"app", "x"}, {"b", "1"}},
                  {{.action = Action::labelkeep, .regex = "app"}}) == LabelMap{{"app", "x"}});
}

TEST_CASE("Relabelling: without rules nothing changes") {
    const LabelMap labels{{"a", "foo"}};
    CHECK(relabel(labels, {}) == labels);
    const Relabeler none;
    CHECK(none.empty());
    CHECK(none.rules().empty());
    MutableLabels mutable_labels;
    mutable_labels.set("a", "foo");
    CHECK(none.apply(mutable_labels));
    CHECK(none.explain(mutable_labels).empty());
    CHECK(mutable_labels.to_map() == labels);
}

TEST_CASE("Relabelling: labels keep their places, new ones come last") {
    MutableLabels labels;
    for (const char* name : {"c", "a", "b"}) labels.set(name, name);
    const Relabeler relabeler(test::Rules{{.target_label = "z", .replacement = "1"},
                                          {.target_label = "a", .replacement = "2"},
                                          {.target_label = "d", .replacement = "3"}});
    REQUIRE(relabeler.apply(labels));
    std::string order;
    for (const auto& label : labels.labels()) order += label.name;
    CHECK(order == "cabzd");
}

TEST_CASE("Relabelling: a regex that an action does not use has to be one all the same") {
    for (const Action action : {Action::hashmod, Action::lowercase, Action::uppercase}) {
        RelabelRule rule{.action = action, .source_labels = {"a"}, .target_label = "t"};
        rule.modulus = action == Action::hashmod ? 2 : 0;
        CHECK(test::rule_error(rule) == "");
        rule.regex = ")";
        CHECK(test::rule_error(rule).starts_with("relabel_configs[0].regex: "));
    }
}

TEST_CASE("Relabelling: a copy shares the rules and outlives the original") {
    Relabeler copy;
    {
        const Relabeler original(
            test::Rules{{.target_label = "target_label_name", .replacement = "value"}});
        copy = original;
    }
    CHECK(copy.rules().size() == 1);
    MutableLabels labels;
    CHECK(copy.apply(labels));
    CHECK(labels.get("target_label_name") == "value");
}
