// The action `replace` with templates and regular expressions, as in Prometheus.

#include "support/relabelling.hpp"

using namespace k8s_sd;
using k8s_sd::test::relabel;
using k8s_sd::test::Rules;

namespace {

const LabelMap abc{{"a", "foo"}, {"b", "bar"}, {"c", "baz"}};

LabelMap with(LabelMap map, const LabelMap& more) {
    for (const auto& [name, value] : more) map[name] = value;
    return map;
}

/// The label d that a rule makes of {a=value}; "" without one.
std::string d(const std::string& value, const std::string& regex, const std::string& replacement) {
    const auto result = relabel({{"a", value}}, {{.source_labels = {"a"},
                                                  .regex = regex,
                                                  .target_label = "d",
                                                  .replacement = replacement}});
    return result->contains("d") ? result->at("d") : "";
}
std::string d(const std::string& value, const std::string& replacement) {
    return d(value, "(.*)", replacement);
}

}  // namespace

TEST_CASE("Relabelling: replace puts groups of the source into the replacement") {
    CHECK(relabel(abc, {{.source_labels = {"a"},
                         .regex = "f(.*)",
                         .target_label = "d",
                         .replacement = "ch${1}-ch${1}"}}) == with(abc, {{"d", "choo-choo"}}));
    CHECK(relabel(abc, {{.source_labels = {"a", "b"},
                         .regex = "f(.*);(.*)r",
                         .target_label = "a",
                         .replacement = "b${1}${2}m"},
                        {.source_labels = {"c", "a"},
                         .regex = "(b).*b(.*)ba(.*)",
                         .target_label = "d",
                         .replacement = "$1$2$2$3"}}) ==
          with(abc, {{"a", "boobam"}, {"d", "boooom"}}));
    CHECK(d("abc", ".*(b).*", "$1") == "b");
    CHECK(
        relabel(
            {{"a", "boo"}},
            {{.source_labels = {"a"}, .regex = "f", .target_label = "b", .replacement = "bar"}}) ==
        LabelMap{{"a", "boo"}});
}

TEST_CASE("Relabelling: the target label is a template") {
    CHECK(relabel({{"a", "foo"}, {"f", "baz"}}, {{.source_labels = {"a"},
                                                  .regex = "(f).*",
                                                  .target_label = "$1",
                                                  .replacement = "$2"}}) == LabelMap{{"a", "foo"}});
    const auto rule = [](const std::string& target, const std::string& replacement) {
        return RelabelRule{.source_labels = {"a"},
                           .regex = "some-([^-]+)-([^,]+)",
                           .target_label = target,
                           .replacement = replacement};
    };
    const LabelMap named{{"a", "some-name-value"}};
    CHECK(relabel(named, {rule("${1}", "${2}")}) == with(named, {{"name", "value"}}));
    CHECK(relabel(named, {rule("${1}", "${3}")}) == named);
    CHECK(relabel({{"a", "some-name-0"}}, {rule("${3}", "${1}")}) ==
          LabelMap{{"a", "some-name-0"}});
    const LabelMap tags{{"__meta_sd_tags", "path:/secret,job:some-job,label:foo=bar"}};
    CHECK(relabel(tags, {{.source_labels = {"__meta_sd_tags"},
                          .regex = "(?:.+,|^)path:(/[^,]+).*",
                          .target_label = "__metrics_path__",
                          .replacement = "${1}"},
                         {.source_labels = {"__meta_sd_tags"},
                          .regex = "(?:.+,|^)job:([^,]+).*",
                          .target_label = "job"},
                         {.source_labels = {"__meta_sd_tags"},
                          .regex = "(?:.+,|^)label:([^=]+)=([^,]+).*",
                          .target_label = "${1}",
                          .replacement = "${2}"}}) ==
          with(tags, {{"__metrics_path__", "/secret"}, {"job", "some-job"}, {"foo", "bar"}}));
    const LabelMap team{{"k", "team"}, {"v", "core"}};
    CHECK(relabel(team, {{.source_labels = {"k", "v"},
                          .regex = "(.+);(.+)",
                          .target_label = "$1",
                          .replacement = "$2"}}) == with(team, {{"team", "core"}}));
}

TEST_CASE("Relabelling: the dot matches line breaks, groups have names") {
    CHECK(d("line1\nline2", "line1.*line2", "match${1}") == "match");
    const LabelMap dotted{{"utf-8.label", "line1\nline2"}};
    CHECK(relabel(dotted, {{.source_labels = {"utf-8.label"},
                            .regex = "line1.*line2",
                            .target_label = "x.y${1}",
                            .replacement = "m"}}) == with(dotted, {{"x.y", "m"}}));
    const LabelMap lines{{"a", "line1\nline2"}};
    const std::string regex = "(line1).*(?<second>line2)";
    CHECK(relabel(lines, {{.source_labels = {"a"},
                           .regex = regex,
                           .target_label = "label1_${1}",
                           .replacement = "val_${second}"},
                          {.source_labels = {"a"},
                           .regex = regex,
                           .target_label = "label2_$1",
                           .replacement = "val_$second"}}) ==
          with(lines, {{"label1_line1", "val_line2"}, {"label2_line1", "val_line2"}}));
    const LabelMap name{{"__name__", "http_requests_total"}};
    CHECK(relabel(name, {{.source_labels = {"__name__"},
                          .regex = ".*_total$",
                          .target_label = "__type__",
                          .replacement = "counter"}}) == with(name, {{"__type__", "counter"}}));
    CHECK(d("10.0.0.1:80", "(?P<ip>[^:]+):(?P<port>\\d+)", "${port}@$ip") == "80@10.0.0.1");
}

TEST_CASE("Relabelling: templates take the longest name, else stay literal") {
    CHECK(d("foo", "$1x") == "");
    CHECK(d("foo", "${1}x") == "foox");
    CHECK(d("foo", "$1-x") == "foo-x");
    CHECK(d("foo", "p-$1_x") == "p-");
    CHECK(d("foo", "f(.).*", "[$0|$1|$2]") == "[foo|o|]");
    CHECK(d("foo", "$$1") == "$1");
    CHECK(d("foo", "x$") == "x$");
    CHECK(d("foo", "x${1") == "x${1");
    CHECK(d("foo", "x${}y") == "x${}y");
    CHECK(d("foo", "x$-y") == "x$-y");
    CHECK(d("foo", "x$01y-$01") == "x-");
    CHECK(d("foo", "(f)(o)(o)", "x$10-$3") == "x-o");
}

TEST_CASE("Relabelling: names in templates may be of any script, odd ones are empty") {
    CHECK(d("foo", "x$1\xc3\xa9.") == "x.");                     // e acute is a letter
    CHECK(d("foo", "x$1\xd9\xa1.") == "x.");                     // an Arabic digit
    CHECK(d("foo", "x$1\xe2\x82\xac.") == "xfoo\xe2\x82\xac.");  // the euro sign is neither
    CHECK(d("foo", "x${\xd9\xa1}.") == "x.");
    CHECK(d("foo", "x$1\xff") == "xfoo\xff");
    CHECK(d("foo", "x${99999999999999999999}.") == "x.");
    CHECK(d("foo", "x${4294967297}.") == "x.");
    CHECK(d("foo", "(?P<a>f)(?P<_1>o)(?P<x01>o)", "$a-$_1-$x01-$A") == "f-o-o-");
    CHECK(d("foo", "(?P<01>f)oo", "$01") == "f");
    CHECK(d("foo", "(?P<2>f)(o)o", "$2") == "o");  // digits are an index
    // Of several groups of one name, the first that matched.
    CHECK(d("foo", "(?P<n>.)(?<n>.).", "$n") == "f");
    CHECK(d("foo", "(?P<n>x)|(?P<n>.*)", "$n") == "foo");
    CHECK(d("foo", "(?P<n>x*)(?P<n>.*)", "<$n>") == "<>");
    CHECK(d("foo", "(x)?foo(y)?", "a${1}b${2}c") == "abc");
    CHECK(d("foo", "$1$$$1$") == "foo$foo$");
}

TEST_CASE("Relabelling: the recipes for ports") {
    const RelabelRule simple{.source_labels = {"__address__", "p"},
                             .regex = "([^:]+)(?::\\d+)?;(\\d+)",
                             .target_label = "__address__",
                             .replacement = "$1:$2"};
    const auto address = [](const std::string& before, const RelabelRule& rule) {
        return relabel({{"__address__", before}, {"p", "9100"}}, {rule})->at("__address__");
    };
    CHECK(address("10.0.0.1:80", simple) == "10.0.0.1:9100");
    CHECK(address("10.0.0.1", simple) == "10.0.0.1:9100");
    CHECK(address("[fd00::1]:80", simple) == "[fd00::1]:80");
    const RelabelRule brackets{.source_labels = {"__address__", "p"},
                               .regex = "(.+?)(\\:\\d+)?;(\\d+)",
                               .target_label = "__address__",
                               .replacement = "$1:$3"};
    CHECK(address("[fd00::1]:80", brackets) == "[fd00::1]:9100");
}

TEST_CASE("Relabelling: an empty result deletes, missing sources are empty") {
    CHECK(relabel({{"d", "x"}}, {{.source_labels = {"nope"}, .target_label = "d"}}) == LabelMap{});
    const LabelMap ab{{"a", "b"}};
    CHECK(relabel(ab, {{.target_label = "env", .replacement = "prod"}}) ==
          with(ab, {{"env", "prod"}}));
    CHECK(relabel(with(ab, {{"env", "x"}}), {{.target_label = "env", .replacement = ""}}) == ab);
    const auto empty_regex = [](const std::string& source) {
        return RelabelRule{
            .source_labels = {source}, .regex = "", .target_label = "env", .replacement = "static"};
    };
    CHECK(relabel(ab, {empty_regex("a")}) == ab);
    CHECK(relabel(ab, {empty_regex("zz")}) == with(ab, {{"env", "static"}}));
}

TEST_CASE("Relabelling: the separator stands between values, also empty ones") {
    const auto joined = [](const LabelMap& labels, const std::string& separator) {
        return relabel(labels,
                       {{.source_labels = {"a", "b"}, .separator = separator, .target_label = "d"}})
            ->at("d");
    };
    const LabelMap xy{{"a", "x"}, {"b", "y"}};
    CHECK(joined(xy, ";") == "x;y");
    CHECK(joined(xy, "/") == "x/y");
    CHECK(joined(xy, "") == "xy");
    CHECK(joined({{"b", "y"}}, ";") == ";y");
}

TEST_CASE("Relabelling: matches are leftmost-first, not longest") {
    CHECK(d("aXbXc", "(.+?)X(.+)", "$1-$2") == "a-bXc");
    CHECK(d("aXbXc", "(.+)X(.+)", "$1-$2") == "aXb-c");
    CHECK(d("ab", "(a|ab)(b?)", "$1-$2") == "a-b");
}

TEST_CASE("Relabelling: later rules see what earlier ones did") {
    const std::string port_name = "__meta_kubernetes_pod_container_port_name";
    const std::string annotation = "__meta_kubernetes_pod_annotation_XXX_metrics_port";
    CHECK(relabel({{port_name, "foo"}, {annotation, "9091"}},
                  {{.action = RelabelAction::labeldrop, .regex = "^" + port_name + "$"},
                   {.source_labels = {annotation},
                    .regex = "(.+)",
                    .target_label = port_name,
                    .replacement = "metrics"},
                   {.action = RelabelAction::keep,
                    .source_labels = {port_name},
                    .regex = "^metrics$"}}) ==
          LabelMap{{port_name, "metrics"}, {annotation, "9091"}});
    CHECK(relabel({{"a", "1"}},
                  {{.source_labels = {"a"}, .target_label = "b"},
                   {.source_labels = {"b"}, .target_label = "c", .replacement = "${1}2"},
                   {.action = RelabelAction::labeldrop, .regex = "a|b"}}) == LabelMap{{"c", "12"}});
}

TEST_CASE("Relabelling: a name that is no label name is left out, by the scheme in force") {
    const Rules rules{{.source_labels = {"a"}, .target_label = "x${1}"}};
    const LabelMap dashed{{"a", "-1"}};
    CHECK(relabel(dashed, rules) == with(dashed, {{"x-1", "-1"}}));
    CHECK(relabel(dashed, rules, {.names = NameValidation::legacy}) == dashed);
    const LabelMap bad{{"a", "\xff"}};
    CHECK(relabel(bad, rules) == bad);
}
