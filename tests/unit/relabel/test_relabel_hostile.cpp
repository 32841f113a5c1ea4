// Label sets and rules that only an attacker or a bug would write.

#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "support/relabelling.hpp"

#include <algorithm>
#include <ctime>
#include <random>

using namespace k8s_sd;
using k8s_sd::test::config_error;
using k8s_sd::test::relabel;
using k8s_sd::test::Rules;
using Action = RelabelAction;

TEST_CASE("Relabelling: hostile label sets go through every action") {
    using std::string_literals::operator""s;
    const std::vector<std::string> texts{"\xff",         "\xc3", "a\0b"s,
                                         "$1${",         "\n",   std::string(100'000, 'x'),
                                         "\xed\xa0\x80", "}}{{", "\xf4\x90\x80\x80",
                                         "a;b;;",        "\\"};
    LabelMap labels;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        labels.emplace(texts[i], texts[texts.size() - 1 - i]);
    }
    const std::vector<std::string> sources{"\n", "$1${", "a;b;;"};
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        for (const std::string regex : {"(.*)", ".*;(.+)?;(.*)", "[^a]*", "x*", "(\\PL)|a"}) {
            const RelabelOptions options{.dialect = dialect};
            const auto run = [&](const RelabelRule& rule) {
                return relabel(labels, {rule}, options);
            };
            for (const Action action :
                 {Action::replace, Action::keep, Action::drop, Action::replace_all}) {
                run({.action = action,
                     .source_labels = sources,
                     .regex = regex,
                     .target_label = "t",
                     .replacement = "{{$1}}$1${"});
            }
            for (const Action action : {Action::labelmap, Action::labelmap_all}) {
                run({.action = action, .regex = regex, .replacement = "a$1"});
            }
            CHECK(run({.action = Action::labelkeep, .regex = regex}).has_value());
        }
        const RelabelOptions options{.dialect = dialect};
        const RelabelRule hash{
            .action = Action::hashmod, .source_labels = sources, .target_label = "t", .modulus = 7};
        CHECK(relabel(labels, {hash}, options)->at("t").size() == 1);
    }
}

TEST_CASE("Relabelling: a name or value that is the text of another label stays right") {
    // Values move from label to label, and their source labels are overwritten.
    const std::string a(100, 'a'), b(100, 'b');
    CHECK(relabel({{"a", a}, {"b", b}},
                  {{.source_labels = {"a", "b"}, .target_label = "t"},
                   {.source_labels = {"b"}, .target_label = "a"},
                   {.source_labels = {"t"}, .regex = "(.*);.*", .target_label = "b"},
                   {.action = Action::labeldrop, .regex = "t"}}) == LabelMap{{"a", b}, {"b", a}});
}

TEST_CASE("Relabelling: the memory of a label set is used again") {
    const Relabeler relabeler(
        Rules{{.source_labels = {"a", "b"},
               .target_label = "t",
               .replacement = "a text that is too long to stand in place $1"}});
    MutableLabels labels;
    for (int i = 0; i < 3; ++i) {
        labels.clear();
        labels.set("a", i == 1 ? "1" : "2");
        REQUIRE(relabeler.apply(labels));
        CHECK(labels.get("t") ==
              "a text that is too long to stand in place " + std::string(i == 1 ? "1" : "2") + ";");
        CHECK(labels.size() == 2);
    }
}

TEST_CASE("parse_relabel_configs: hostile documents end in an error or in rules") {
    const std::string deep = std::string(5'000, '[') + std::string(5'000, ']');
    const std::vector<std::string> documents{deep,
                                             "- regex: " + deep,
                                             "- {" + std::string(10'000, '{'),
                                             "- target_label: \"\xff\"",
                                             "- target_label: \"a\\0b\"\n  regex: \"\\0\"",
                                             "- &a [*a]",
                                             "- <<: {target_label: t}",
                                             "- ? [a]\n  : b",
                                             "- target_label: t\n---\n- target_label: t"};
    for (const std::string& yaml : documents) {
        INFO(yaml.substr(0, 100));
        const std::string error = config_error([&] { parse_relabel_configs(yaml); });
        CHECK((error.empty() || error.starts_with("<yaml>:")));
        CHECK(error.size() < 2'000);
    }
    // Every prefix of a good document.
    const std::string good = "relabel_configs:\n- {action: keep, source_labels: [a, 'b'], regex: "
                             "\"x|y\", if: '{a=\"b\"}'}\n";
    CHECK(parse_relabel_configs(good).size() == 1);
    for (std::size_t i = 0; i < good.size(); ++i) {
        config_error([&] { parse_relabel_configs(good.substr(0, i)); });
    }
}

TEST_CASE("parse_relabel_configs: random bytes never do more than throw a ConfigError") {
    std::mt19937 random(7);
    const std::string alphabet = "-:[]{}\n\"'&*!|> #acegilnoprst_$(.)\\?";
    for (int i = 0; i < 5'000; ++i) {
        std::string yaml = i % 2 == 0 ? "- target_label: t\n  regex: " : "- ";
        for (auto n = random() % 30; n > 0; --n) yaml += alphabet[random() % alphabet.size()];
        const std::string error = config_error([&] { parse_relabel_configs(yaml); });
        CHECK((error.empty() || error.starts_with("<yaml>:")));
    }
}

TEST_CASE("Relabelling: an object with a hundred thousand labels takes no minute") {
    // 1.5 MB of names, as a tenant may write them.
    std::vector<std::string> names;
    for (int i = 0; i < 100'000; ++i) names.push_back("__meta_label_" + std::to_string(i));
    std::shuffle(names.begin(), names.end(), std::mt19937(1));
    const Relabeler relabeler(test::Rules{
        {.action = RelabelAction::labelmap, .regex = "__meta_(label_.+)"},
        {.action = RelabelAction::labelmap_all, .regex = "_label_", .replacement = "_x_"},
        {.action = RelabelAction::labeldrop, .regex = "label_.*7"}});
    MutableLabels labels;
    const std::clock_t start = std::clock();
    for (const std::string& name : names) labels.set(name, "v");
    REQUIRE(relabeler.apply(labels));
    // Comparing all pairs takes minutes. Only CPU time of this process counts: machines are busy.
    CHECK(std::clock() - start < 30 * CLOCKS_PER_SEC);
    CHECK(labels.size() == 190'000);
    CHECK(labels.get("__meta_x_99999") == "v");
    CHECK(labels.get("label_99998") == "v");
    CHECK(labels.get("label_99997").empty());
}
