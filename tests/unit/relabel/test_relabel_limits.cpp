// Rules can turn a small input into a large output; limits bound their output and their cost.

#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/target_group.hpp"
#include "support/contains.hpp"
#include "support/relabelling.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <variant>

using namespace k8s_sd;
using k8s_sd::test::config_error;
using k8s_sd::test::contains;
using k8s_sd::test::Rules;
using Action = RelabelAction;

namespace {

/// Doubles the length with each rule.
const RelabelRule doubling{.source_labels = {"x"}, .target_label = "x", .replacement = "$1$1"};

RelabelOptions relabel_limited(const RelabelLimits& limits,
                               LabelDialect dialect = LabelDialect::prometheus) {
    RelabelOptions options{.dialect = dialect};
    options.limits = limits;
    return options;
}

/// The reason why the rules are aborted for the label set; empty: they succeed. explain() must
/// report the same.
std::string relabel_refusal(const Rules& rules, const LabelMap& input,
                            const RelabelOptions& options = {}) {
    const Relabeler relabeler(rules, options);
    MutableLabels labels;
    test::fill(labels, input);
    std::string problem;
    try {
        relabeler.apply(labels);
    } catch (const RelabelError& e) {
        problem = e.what();
    }
    test::fill(labels, input);
    const std::vector<RelabelStep> steps = relabeler.explain(labels);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) CHECK_FALSE(steps[i].refused);
    const bool refused = !steps.empty() && steps.back().refused;
    CHECK(refused == !problem.empty());
    if (refused) CHECK(RelabelError(steps.back().rule, steps.back().reason).what() == problem);
    return problem;
}

std::size_t relabel_bytes(const MutableLabels& labels) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : labels.labels()) bytes += name.size() + value.size();
    return bytes;
}

}  // namespace

TEST_CASE("RelabelLimits: rules that double a value end at the limit, named with the rule") {
    const Rules rules(40, doubling);
    CHECK(relabel_refusal(rules, {{"x", "a"}}) ==
          "relabel_configs[20]: a text would be longer than 1048576 bytes, which is the limit of "
          "what a rule may make");
    // A value of exactly the limit is allowed.
    CHECK(relabel_refusal(Rules(20, doubling), {{"x", "a"}}).empty());
    CHECK(relabel_refusal(Rules(21, doubling), {{"x", "a"}}) != "");
    CHECK(relabel_refusal(Rules(21, doubling), {{"x", "a"}},
                          relabel_limited({.text_bytes = std::size_t{2} << 20}))
              .empty());
}

TEST_CASE("RelabelLimits: each way to make a long text has the limit") {
    const std::string half(600'000, 'a');
    const LabelMap input{{"x", half}, {"y", half}};
    const std::string many_groups = [] {
        std::string text;
        for (int i = 0; i < 1000; ++i) text += "$1";
        return text;
    }();
    const std::vector<RelabelRule> rules{
        {.source_labels = {"x", "y"}, .target_label = "t"},
        {.action = Action::keep, .source_labels = {"x", "y"}},
        {.action = Action::hashmod, .source_labels = {"x", "y"}, .target_label = "t", .modulus = 2},
        {.action = Action::dropequal, .source_labels = {"x", "y"}, .target_label = "t"},
        {.source_labels = {"x"}, .target_label = "t", .replacement = many_groups},
        {.source_labels = {"x"}, .target_label = "a$1$1", .replacement = "v"},
        {.action = Action::uppercase, .source_labels = {"x", "y"}, .target_label = "t"},
    };
    for (const RelabelRule& rule : rules) {
        INFO(to_string(rule.action));
        CHECK(contains(relabel_refusal({rule}, input), "relabel_configs[0]: a text would be "));
        CHECK(relabel_refusal({rule}, {{"x", "a"}, {"y", "a"}}).empty());
    }
    const RelabelRule each{.action = Action::replace_all,
                           .source_labels = {"x"},
                           .regex = "a",
                           .target_label = "t",
                           .replacement = std::string(1000, 'b')};
    CHECK(contains(relabel_refusal({each}, {{"x", std::string(1100, 'a')}}), "a text would be "));
    CHECK(relabel_refusal({each}, {{"x", std::string(1000, 'a')}}).empty());
    const LabelMap long_name{{half, "v"}};
    for (const Action action : {Action::labelmap, Action::labelmap_all}) {
        const RelabelRule rule{
            .action = action, .regex = "(a)(.*)|(.*)", .replacement = "$2$2$3$3"};
        CHECK(contains(relabel_refusal({rule}, long_name), "a text would be longer"));
    }
    const RelabelRule reference{.target_label = "t", .replacement = "{{x}}{{x}}"};
    const RelabelOptions vm{.dialect = LabelDialect::victoriametrics};
    CHECK(contains(relabel_refusal({reference}, input, vm), "a text would be longer"));
}

TEST_CASE("RelabelLimits: a long value that a rule only copies is no text that it makes") {
    const std::string value(3'000'000, 'v');
    CHECK(relabel_refusal({{.source_labels = {"x"}, .target_label = "y"}}, {{"x", value}}).empty());
    CHECK(relabel_refusal({{.action = Action::keep, .source_labels = {"x"}}}, {{"x", value}})
              .empty());
}

TEST_CASE("RelabelLimits: copies of labels that double their number end at the limit") {
    Rules rules;
    for (int i = 0; i < 40; ++i) {
        rules.push_back({.action = Action::labelmap,
                         .regex = "(.*)",
                         .replacement = "${1}_" + std::to_string(i)});
    }
    CHECK(contains(
        relabel_refusal(rules, {{"x", "a"}}, relabel_limited({.made_bytes = std::size_t{4} << 20})),
        ": the rules make more than 4194304 bytes of this label set"));
    // Copies of a value need no text, but count.
    Rules copies;
    for (int i = 0; i < 200; ++i) {
        copies.push_back({.source_labels = {"x"}, .target_label = "y" + std::to_string(i)});
    }
    CHECK(contains(relabel_refusal(copies, {{"x", std::string(1'000'000, 'v')}}),
                   "relabel_configs[67]: the rules make more than 67108864 bytes of this label "
                   "set"));
}

TEST_CASE("RelabelLimits: regular expressions have so many steps for a label set") {
    const RelabelRule rule{.action = Action::keep, .source_labels = {"x"}, .regex = "(a|b)+c?"};
    const LabelMap input{{"x", std::string(10'000, 'a')}};
    CHECK(relabel_refusal({rule}, input).empty());
    const RelabelOptions few = relabel_limited({.regex_steps = 20'000});
    CHECK(relabel_refusal({rule}, input, few) ==
          "relabel_configs[0]: the regular expressions need more than 20000 steps for this label "
          "set, which is the limit");
    CHECK(relabel_refusal({rule}, {{"x", "ab"}}, few).empty());
    // Names, selectors, and a search that restarts after each match.
    const LabelMap named{{std::string(10'000, 'a'), "v"}};
    for (const Action action :
         {Action::labelmap, Action::labeldrop, Action::labelkeep, Action::labelmap_all}) {
        CHECK(relabel_refusal({{.action = action, .regex = "(a|b)+c?"}}, named, few) != "");
    }
    CHECK(relabel_refusal({{.action = Action::drop, .if_ = {"{x=~\"(a|b)+c?\"}"}}}, input, few) !=
          "");
    const RelabelRule all{.action = Action::replace_all,
                          .source_labels = {"x"},
                          .regex = "a.*b|a",
                          .target_label = "t"};
    CHECK(relabel_refusal({all}, {{"x", std::string(60'000, 'a')}},
                          relabel_limited({.regex_steps = 100'000'000})) != "");
}

TEST_CASE("RelabelLimits: random rules make no more than the limits, whatever the order") {
    std::mt19937 random(11);
    const auto pick = [&](const auto& all) { return all[random() % all.size()]; };
    const std::vector<std::string> names{"x", "y", "z", "a_x"};
    const std::vector<std::string> regexes{"(.*)", "(.+)",      "(a)(.*)",
                                           "a",    "(.*)_(.*)", "(?i)(a+)b*"};
    const std::vector<std::string> templates{"$1$1", "${1}_$2",    "x$1$1$1",
                                             "$1",   "{{x}}{{y}}", "$0$0"};
    const RelabelLimits limits{
        .text_bytes = 10'000, .made_bytes = 200'000, .regex_steps = 100'000'000};
    int refused = 0;
    for (int round = 0; round < 300; ++round) {
        Rules rules;
        for (auto n = 1 + random() % 120; n > 0; --n) {
            const std::vector<Action> actions{Action::replace,   Action::labelmap,
                                              Action::lowercase, Action::replace_all,
                                              Action::labeldrop, Action::labelmap_all};
            RelabelRule rule{.action = pick(actions), .regex = pick(regexes)};
            rule.target_label = pick(names);
            rule.replacement = pick(templates);
            for (auto s = 1 + random() % 4; s > 0; --s) rule.source_labels.push_back(pick(names));
            if (rule.action == Action::labeldrop) {
                rule = {.action = rule.action, .regex = "zz.*"};
            } else if (rule.action == Action::lowercase) {
                rule.replacement = RelabelRule().replacement;
            }
            rules.push_back(rule);
        }
        const LabelDialect dialect =
            round % 2 == 0 ? LabelDialect::prometheus : LabelDialect::victoriametrics;
        const Relabeler relabeler(rules, relabel_limited(limits, dialect));
        const LabelMap discovered{{"x", "aa"}, {"y", "ab"}};
        MutableLabels labels;
        test::fill(labels, discovered);
        try {
            if (relabeler.apply(labels)) CHECK(relabel_bytes(labels) <= limits.made_bytes + 6);
        } catch (const RelabelError& e) {
            ++refused;
            CHECK(e.rule() < rules.size());
        }
        for (const auto& [name, value] : labels.labels()) {
            CHECK(name.size() <= limits.text_bytes);
            CHECK(value.size() <= limits.text_bytes);
        }
    }
    CHECK(refused > 10);
    CHECK(refused < 280);
}

TEST_CASE("RelabelLimits: an account cuts long texts, and copies no more than what changes") {
    MutableLabels labels;
    const std::string value(500'000, 'v');
    labels.set("x", value);
    const Relabeler relabeler(
        Rules(50, {.action = Action::keep, .source_labels = {"x"}, .regex = "(v|w)+"}));
    for (const RelabelStep& step : relabeler.explain(labels)) {
        CHECK(step.reason.size() < 1'200);
        CHECK(contains(step.reason, "vv\"... (500000 bytes), which `(v|w)+` matches: kept"));
        CHECK(step.changes.empty());
    }
    // No character is cut in two.
    std::string text = "a";
    for (int i = 0; i < 1000; ++i) text += "\u00e4";
    labels.clear();
    labels.set("x", text);
    const auto steps =
        Relabeler(Rules{{.source_labels = {"x"}, .target_label = "y"}}).explain(labels);
    CHECK(contains(steps[0].reason, "\u00e4\"... (2001 bytes), which"));
    CHECK(steps[0].changes.at(0).after == text);
}

TEST_CASE("RelabelLimits: regular expressions of all rules together have a limit") {
    const RelabelOptions options =
        relabel_limited({.regex_bytes = std::size_t{256} << 10, .instructions = 1000});
    const auto rules = [](int count) {
        Rules all;
        for (int i = 0; i < count; ++i) {
            all.push_back({.source_labels = {"x"},
                           .regex = "(a|b)+" + std::to_string(i),
                           .target_label = "t"});
        }
        return all;
    };
    CHECK(config_error([&] { Relabeler(rules(7), options); }).empty());
    CHECK(config_error([&] { Relabeler(rules(8), options); }) ==
          "relabel_configs[7].regex: the regular expressions of the rules are larger than 1000 "
          "instructions together, which is the limit");
    // Equal expressions are compiled once; simple ones are not compiled.
    CHECK(config_error([&] { Relabeler(Rules(500, rules(1).front()), options); }).empty());
    Rules simple;
    for (int i = 0; i < 500; ++i) {
        simple.push_back(
            {.source_labels = {"x"}, .regex = "a" + std::to_string(i) + "|b", .target_label = "t"});
    }
    CHECK(config_error([&] { Relabeler(simple, options); }).empty());
    // Expressions of selectors count as well.
    Rules selecting;
    for (int i = 0; i < 8; ++i) {
        selecting.push_back(
            {.action = Action::drop, .if_ = {"{x=~\"(a|b)+" + std::to_string(i) + "\"}"}});
    }
    CHECK(contains(config_error([&] { Relabeler(selecting, options); }),
                   "relabel_configs[7].if: the regular expressions of the rules are larger"));
}

TEST_CASE("RelabelLimits: a large regular expression is refused before it is compiled whole") {
    const RelabelOptions options =
        relabel_limited({.regex_bytes = std::size_t{256} << 10, .instructions = 20'000});
    const std::string large = R"((?i)(\pL{20}){20})";
    const auto parse = [&](const std::string& yaml) {
        return config_error([&] { parse_relabel_configs(yaml, options, "rules"); });
    };
    const std::string rule = "- {target_label: t, regex: '" + large;
    CHECK(contains(parse(rule + "'}"), "pattern too large"));
    // Attempts count, too: of very many rules only the first ones are compiled.
    std::string many;
    for (int i = 0; i < 800; ++i) many += rule + std::to_string(i) + "'}\n";
    const std::string error = parse(many);
    CHECK(contains(error, "pattern too large"));
    CHECK(contains(error, "rules:6: relabel_configs[5].regex: the regular expressions of the "
                          "rules are larger than 20000 instructions together"));
    // The length of an expression counts before it is parsed.
    CHECK(contains(parse("- {target_label: t, regex: '[" + std::string(30'000, 'a') + "]'}"),
                   "larger than 20000 instructions"));
}

TEST_CASE("RelabelLimits: the budget of one reading is for all its lists") {
    std::string yaml;
    for (int i = 0; i < 300; ++i) {
        yaml += "- {target_label: t, regex: '(a|b)+" + std::to_string(i) + "'}\n";
    }
    CHECK(parse_relabel_configs(yaml).size() == 300);
    CHECK(contains(config_error([&] {
                       parse_relabel_configs(yaml, relabel_limited({.instructions = 20'000}));
                   }),
                   "relabel_configs[156].regex: the regular expressions of the rules are larger"));
}

TEST_CASE("RelabelLimits: a target beyond a limit fails, and says why") {
    ScrapeConfig config;
    config.job_name = "web";
    config.relabel_configs = {{.source_labels = {"__meta_keep"}, .target_label = "keep"}};
    config.relabel_configs.append(std::vector<RelabelRule>(30, doubling));
    TargetBuilder builder(config);
    TargetGroupMaker maker;
    const auto group = maker.make("a", {{"__meta_keep", "1"}},
                                  {{{"__address__", "a:1"}, {"x", "a"}}, {{"__address__", "b:1"}}});
    const BuiltTarget built = builder.build(group, 0);
    REQUIRE(std::holds_alternative<TargetError>(built));
    const std::string problem =
        "relabel_configs[21]: a text would be longer than 1048576 bytes, which is the limit of "
        "what a rule may make";
    CHECK(std::get<TargetError>(built).message == problem);
    const TargetExplanation account = builder.explain(*group, 0);
    CHECK(account.rules.size() == 22);
    CHECK(account.rules.back().refused);
    CHECK(account.steps == std::vector<std::string>{"failed: " + problem});
    CHECK_FALSE(account.labels);
    // Other targets of the group are built.
    CHECK(std::holds_alternative<ScrapeTargetPtr>(builder.build(group, 1)));
    TargetBuilder smaller(config, {}, {.text_bytes = 100});
    CHECK(std::get<TargetError>(smaller.build(group, 0)).message.starts_with("relabel_configs[7]"));
}

TEST_CASE("RelabelLimits: whether a label contains another takes no time of both lengths") {
    // A naive search compares 10^10 bytes.
    const std::string text(200'000, 'a');
    const LabelMap input{{"x", text}, {"y", std::string(100'000, 'a') + "b"}};
    CHECK_FALSE(test::relabel(
        input,
        {{.action = Action::keep_if_contains, .source_labels = {"y"}, .target_label = "x"}}));
    CHECK(test::relabel(
        input,
        {{.action = Action::keep_if_contains, .source_labels = {"z"}, .target_label = "x"}}));
    CHECK(test::relabel(
        input,
        {{.action = Action::drop_if_contains, .source_labels = {"x"}, .target_label = "z"}}));
}
