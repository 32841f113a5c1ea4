#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/target_builder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace k8s_sd;
using k8s_sd::detail::PatternBudget;
using k8s_sd::detail::shared_rule;
using k8s_sd::detail::SharedRulePtr;

namespace {

const RelabelRule shared_example{
    .source_labels = {"a"}, .regex = "x+y*", .target_label = "b", .replacement = "$1"};

SharedRulePtr compiled_alone(const RelabelRule& rule, const RelabelOptions& options = {}) {
    PatternBudget patterns(options.limits);
    return shared_rule(rule, options, patterns);
}

}  // namespace

TEST_CASE("Shared rules: equal rules are compiled once, others are not mixed up") {
    const SharedRulePtr first = compiled_alone(shared_example);
    CHECK(compiled_alone(shared_example) == first);
    std::vector<SharedRulePtr> others;
    for (const auto change : {+[](RelabelRule& rule) { rule.action = RelabelAction::keep; },
                              +[](RelabelRule& rule) { rule.modulus = 3; },
                              +[](RelabelRule& rule) {
                                  rule.source_labels = {"a", "c"};
                              },
                              +[](RelabelRule& rule) { rule.if_ = {"{a=\"x\"}"}; }}) {
        RelabelRule other = shared_example;
        change(other);
        const SharedRulePtr rule = compiled_alone(other);
        CHECK(rule != first);
        CHECK(rule->is_of(other, {}));
        CHECK(compiled_alone(other) == rule);
        others.push_back(rule);
    }
    RelabelOptions limited;
    limited.limits.regex_bytes = 100'000;
    for (const RelabelOptions& options :
         {RelabelOptions{.dialect = LabelDialect::victoriametrics},
          RelabelOptions{.names = NameValidation::legacy}, limited}) {
        const SharedRulePtr rule = compiled_alone(shared_example, options);
        CHECK(rule != first);
        CHECK(compiled_alone(shared_example, options) == rule);
        others.push_back(rule);
    }
    CHECK(compiled_alone(shared_example) == first);
}

TEST_CASE("Shared rules: the limit of a rule's patterns is that of the budget") {
    RelabelOptions limited;
    limited.limits.regex_bytes = 100'000;
    PatternBudget patterns({});
    const SharedRulePtr first = compiled_alone(shared_example);
    CHECK(shared_rule(shared_example, limited, patterns) == first);
    CHECK(compiled_alone(shared_example, limited) != first);
}

TEST_CASE("Shared rules: threads that compile equal rules at once have one of them") {
    const auto rule_of = [](std::size_t i) {
        RelabelRule rule = shared_example;
        rule.target_label = "of_threads_" + std::to_string(i);
        return rule;
    };
    constexpr std::size_t many = 100;
    std::vector<std::vector<SharedRulePtr>> compiled(3);
    std::vector<std::thread> threads;
    for (auto& mine : compiled) {
        threads.emplace_back([&mine, &rule_of] {
            for (std::size_t i = 0; i < many; ++i) mine.push_back(compiled_alone(rule_of(i)));
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(compiled[0].size() == many);
    CHECK(compiled[1] == compiled[0]);
    CHECK(compiled[2] == compiled[0]);
}

TEST_CASE("Shared rules: the budget does not depend on the rules of others") {
    const std::vector<RelabelRule> rules{
        shared_example,
        {.source_labels = {"a"},
         .regex = "(u|v)+w",
         .target_label = "c",
         .if_ = {R"({d=~"q.r+"})"}},
        {.action = RelabelAction::keep, .source_labels = {"c"}, .regex = "x+y*"}};
    const auto spent = [&](std::size_t instructions, std::vector<SharedRulePtr>& kept) {
        RelabelOptions options;
        options.limits.instructions = instructions;
        PatternBudget patterns(options.limits);
        std::string problem;
        try {
            for (const RelabelRule& rule : rules) {
                kept.push_back(shared_rule(rule, options, patterns));
            }
        } catch (const ConfigError& e) {
            problem = e.what();
        }
        return std::pair(patterns.spent(), problem);
    };
    for (const std::size_t limit : {1U, 5U, 128U, 200U, 256U, 300U, 384U, 1'000U}) {
        CAPTURE(limit);
        std::vector<SharedRulePtr> kept;
        const auto alone = spent(limit, kept);
        kept.clear();
        spent(1'000, kept);
        CHECK(kept.size() == 3);
        CHECK(spent(limit, kept) == alone);
    }
}

TEST_CASE("Shared rules: repeated patterns of one rule are counted once, or none at all") {
    RelabelRule rule = shared_example;
    for (const char* regex : {"y+", "z+", "y+", "x+y*", "z+"}) {
        rule.if_.push_back("{a=~\"" + std::string(regex) + "\"}");
    }
    RelabelOptions options;
    const auto spent = [&](std::size_t times) {
        PatternBudget patterns(options.limits);
        std::vector<SharedRulePtr> kept;
        for (std::size_t i = 0; i < times; ++i)
            kept.push_back(shared_rule(rule, options, patterns));
        return patterns.spent();
    };
    const std::size_t once = spent(1);
    CHECK(spent(2) == once);
    const SharedRulePtr compiled = compiled_alone(rule);
    CHECK(spent(1) == once);

    options.limits.instructions = once + shared_example.regex.size();  // of a repeated pattern
    CHECK(spent(1) == once);
    options.limits.instructions = once - 1;
    PatternBudget patterns(options.limits);
    CHECK_FALSE(patterns.count(compiled->patterns()));
    CHECK(patterns.spent() == 0);
}

TEST_CASE("Shared rules: a builder shares the configuration of its host") {
    const auto config = std::make_shared<const ScrapeConfig>(
        ScrapeConfig{.job_name = "web", .relabel_configs = {shared_example}});
    const TargetBuilder builder(config);
    CHECK(&builder.config() == config.get());
    CHECK(config.use_count() > 1);
}
