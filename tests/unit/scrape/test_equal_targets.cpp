#include "k8s_sd/detail/scrape/equal_targets.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <variant>
#include <vector>

using namespace k8s_sd;
using detail::EqualTargets;
using detail::TargetSteps;
using detail::TargetTransition;

namespace {

/// A target with its own group; targets with the same address are equal.
ScrapeTargetPtr make_target(const std::string& group, const std::string& address) {
    ScrapeConfig config;
    config.job_name = "job";
    TargetBuilder builder(config);
    return std::get<ScrapeTargetPtr>(
        builder.build(test::make_group(group, {{{"__address__", address}}},
                                       {{"__meta_kubernetes_pod_name", group}}),
                      0));
}

/// "-source #number" for a step to stop, "=source #number" to keep, "+source #number" to start.
std::string apply(EqualTargets& targets, const std::vector<ScrapeTargetPtr>& leaving,
                  const std::vector<ScrapeTargetPtr>& coming) {
    TargetTransition transition;
    for (const auto& target : leaving) transition.leaving.push_back({target, StopReason::gone});
    transition.coming = coming;
    TargetSteps steps = targets.prepare(transition.leaving.size(), transition.coming.size());
    targets.apply(transition, steps);
    std::string result;
    const auto add = [&](char sign, const auto& some) {
        for (const TargetSteps::Step& step : some) {
            result += (result.empty() ? "" : " ") + (sign + std::string(step.target->source())) +
                      " #" + std::to_string(step.id);
        }
    };
    add('-', steps.stop);
    add('=', steps.keep);
    add('+', steps.start);
    return result;
}

TEST_CASE("EqualTargets: a target that comes starts, one that leaves stops") {
    EqualTargets targets;
    const auto a = make_target("a", "one:1");
    CHECK(apply(targets, {}, {a}) == "+pod/ns/a #1");
    CHECK(targets.active().size() == 1);
    CHECK(apply(targets, {a}, {}) == "-pod/ns/a #1");
    CHECK(targets.active().empty());
}

TEST_CASE("EqualTargets: of equal targets one is active, and another takes its place") {
    EqualTargets targets;
    const auto a = make_target("a", "one:1"), b = make_target("b", "one:1"),
               c = make_target("c", "one:1");
    CHECK(apply(targets, {}, {a, b, c}) == "+pod/ns/a #1");
    CHECK(apply(targets, {b}, {}).empty());
    CHECK(apply(targets, {a}, {}) == "=pod/ns/c #1");
    CHECK(apply(targets, {c}, {}) == "-pod/ns/c #1");
    CHECK(targets.active().empty());
}

TEST_CASE("EqualTargets: a target that leaves and comes in one change goes on") {
    EqualTargets targets;
    const auto before = make_target("a", "one:1"), now = make_target("a", "one:1"),
               renamed = make_target("b", "one:1"), moved = make_target("b", "two:1");
    apply(targets, {}, {before});
    SECTION("without a word where everything is as it was") {
        CHECK(apply(targets, {before}, {now}).empty());
        CHECK(*targets.active().begin() == now);
    }
    SECTION("with other discovered labels") {
        CHECK(apply(targets, {before}, {renamed}) == "=pod/ns/b #1");
    }
    SECTION("but not with another address") {
        CHECK(apply(targets, {before}, {moved}) == "-pod/ns/a #1 +pod/ns/b #2");
    }
}

TEST_CASE("EqualTargets: a target that comes and leaves in one change was never there") {
    EqualTargets targets;
    const auto a = make_target("a", "one:1"), b = make_target("b", "one:1");
    CHECK(apply(targets, {a}, {a}).empty());
    CHECK(targets.active().empty());
    CHECK(apply(targets, {a}, {a, b}) == "+pod/ns/b #2");
    CHECK(apply(targets, {b}, {}) == "-pod/ns/b #2");
}

}  // namespace
