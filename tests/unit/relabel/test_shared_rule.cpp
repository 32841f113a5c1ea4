#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/target_builder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <string>
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
        CHECK(first->is_of(shared_example, {}));
    }
    CHECK(compiled_alone(shared_example, {.dialect = LabelDialect::victoriametrics}) != first);
    CHECK(compiled_alone(shared_example, {.names = NameValidation::legacy}) != first);
    RelabelOptions limited;
    limited.limits.regex_bytes = 100'000;
    CHECK(compiled_alone(shared_example, limited) != first);
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

TEST_CASE("Shared rules: a builder shares the configuration of its host") {
    const auto config = std::make_shared<const ScrapeConfig>(
        ScrapeConfig{.job_name = "web", .relabel_configs = {shared_example}});
    const TargetBuilder builder(config);
    CHECK(&builder.config() == config.get());
    CHECK(config.use_count() > 1);
}
