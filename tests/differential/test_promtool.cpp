// Compares relabelling with that of Prometheus (promtool), for random rules and label sets.
// $K8S_SD_DIFFERENTIAL_RULE_SETS and $K8S_SD_DIFFERENTIAL_SEED change their number and seed.

#include "differential/command.hpp"
#include "differential/generator.hpp"
#include "differential/promtool.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <map>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

constexpr std::size_t targets_a_rule_set = 24;
constexpr RelabelOptions legacy{.names = NameValidation::legacy};

std::string to_json(const std::vector<RelabelRule>& rules) {
    json::array array;
    for (const RelabelRule& rule : rules) array.push_back(test::to_json(rule));
    return json::serialize(array);
}

/// Prometheus' result for the labels of a static target, with the job's defaults.
Target build_target(const Relabeler& relabeler, LabelMap input) {
    for (const auto& [name, value] : LabelMap{{"job", "j"},
                                              {"__scheme__", "http"},
                                              {"__metrics_path__", "/metrics"},
                                              {"__scrape_interval__", "1m"},
                                              {"__scrape_timeout__", "10s"}}) {
        input.try_emplace(name, value);
    }
    MutableLabels labels;
    for (const auto& [name, value] : input) labels.set(name, value);
    if (!relabeler.apply(labels)) return std::nullopt;
    for (const char* needed : {"__address__", "__scrape_interval__", "__scrape_timeout__"}) {
        if (labels.get(needed).empty()) return std::nullopt;
    }
    labels.erase_if([](std::string_view name) { return name.starts_with("__meta_"); });
    if (labels.get("instance").empty()) labels.set("instance", labels.get("__address__"));
    return labels.to_map();
}

struct Question {
    std::vector<RelabelRule> rules;
    std::string text;  ///< the rules as JSON
    std::vector<LabelMap> targets;
};

Question make_question(RelabelGenerator& generator) {
    Question question;
    question.rules = generator.rules();
    question.text = to_json(question.rules);
    while (question.targets.size() < targets_a_rule_set) {
        question.targets.push_back(generator.labels(question.targets.size()));
    }
    return question;
}

/// nullopt: the rules are refused.
using Answer = std::optional<std::vector<Target>>;

Answer ask_k8s_sd(const Question& question) {
    std::vector<RelabelRule> rules;
    try {
        rules = parse_relabel_configs(question.text, legacy);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
    CHECK(rules == question.rules);
    const Relabeler relabeler(rules, legacy);
    std::vector<Target> targets;
    for (const LabelMap& labels : question.targets) {
        targets.push_back(build_target(relabeler, labels));
    }
    return targets;
}

std::string text_of(const Target& target) {
    if (!target) return "none";
    json::object object;
    for (const auto& [name, value] : *target) object[name] = value;
    return json::serialize(object);
}

/// Counts the outcomes, to prove that the comparison covers something.
struct Tally {
    std::map<RelabelAction, int> actions;
    std::size_t kept = 0;
    std::size_t gone = 0;
    std::size_t refused = 0;
};

void compare(const Question& question, const Answer& expected, Tally& tally) {
    INFO("rules " << question.text);
    const Answer found = ask_k8s_sd(question);
    REQUIRE(found.has_value() == expected.has_value());
    if (!expected) {
        ++tally.refused;
        return;
    }
    for (const RelabelRule& rule : question.rules) ++tally.actions[rule.action];
    for (std::size_t i = 0; i < expected->size(); ++i) {
        ++((*expected)[i] ? tally.kept : tally.gone);
        INFO("target " << text_of(question.targets[i]));
        CHECK(text_of((*found)[i]) == text_of((*expected)[i]));
    }
}

}  // namespace

TEST_CASE("Relabelling does what promtool does") {
    if (!Promtool::is_installed()) SKIP(Promtool::missing);
    const std::uint64_t rule_sets = setting("K8S_SD_DIFFERENTIAL_RULE_SETS", rounds(200));
    RelabelGenerator generator(setting("K8S_SD_DIFFERENTIAL_SEED", 1));
    Tally tally;
    constexpr std::size_t processes = 4;
    for (std::uint64_t done = 0; done < rule_sets; done += processes) {
        std::vector<Question> questions;
        std::vector<std::future<Answer>> answers;
        for (std::size_t i = 0; i < processes; ++i) questions.push_back(make_question(generator));
        for (const Question& question : questions) {
            answers.push_back(std::async(std::launch::async, [&question] {
                return Promtool::relabel(question.text, question.targets);
            }));
        }
        for (std::size_t i = 0; i < processes; ++i) compare(questions[i], answers[i].get(), tally);
    }
    // The comparison must have covered something.
    CHECK(tally.actions.size() == 11);
    for (const auto& [action, count] : tally.actions) {
        INFO(to_string(action) << ": " << count);
        CHECK(count > (is_sanitized ? 0 : 2));
    }
    const std::size_t targets = rule_sets * targets_a_rule_set;
    CHECK(tally.kept > targets / 3);
    CHECK(tally.gone > targets / 50);
    CHECK(tally.refused < rule_sets / 4);
}

}  // namespace k8s_sd::test
