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

namespace {

/// A target of its own group; those with one address are equal.
ScrapeTargetPtr make_target(const std::string& group, const std::string& address) {
    ScrapeConfig config;
    config.job_name = "job";
    TargetBuilder builder(config);
    return std::get<ScrapeTargetPtr>(
        builder.build(test::make_group(group, {{{"__address__", address}}},
                                       {{"__meta_kubernetes_pod_name", group}}),
                      0));
}

/// "-source" for a step to stop, "=source" to keep, "+source" to start.
std::string text(const TargetSteps& steps) {
    std::string result;
    const auto add = [&](char sign, const std::vector<ScrapeTargetPtr>& targets) {
        for (const ScrapeTargetPtr& target : targets) {
            result += (result.empty() ? "" : " ") + (sign + std::string(target->source()));
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
    CHECK(text(targets.apply({{}, {a}})) == "+pod/ns/a");
    CHECK(targets.active().size() == 1);
    CHECK(text(targets.apply({{a}, {}})) == "-pod/ns/a");
    CHECK(targets.active().empty());
}

TEST_CASE("EqualTargets: of equal targets one is active, and another takes its place") {
    EqualTargets targets;
    const auto a = make_target("a", "one:1"), b = make_target("b", "one:1"),
               c = make_target("c", "one:1");
    CHECK(text(targets.apply({{}, {a, b, c}})) == "+pod/ns/a");
    CHECK(text(targets.apply({{b}, {}})) == "=pod/ns/a");
    CHECK(text(targets.apply({{a}, {}})) == "=pod/ns/c");
    CHECK(text(targets.apply({{c}, {}})) == "-pod/ns/c");
    CHECK(targets.active().empty());
}

TEST_CASE("EqualTargets: a target that leaves and comes in one change goes on") {
    EqualTargets targets;
    const auto before = make_target("a", "one:1"), now = make_target("a", "one:1"),
               renamed = make_target("b", "one:1"), moved = make_target("b", "two:1");
    targets.apply({{}, {before}});
    SECTION("without a word where everything is as it was") {
        CHECK(text(targets.apply({{before}, {now}})).empty());
        CHECK(*targets.active().begin() == now);
    }
    SECTION("with other discovered labels") {
        CHECK(text(targets.apply({{before}, {renamed}})) == "=pod/ns/b");
    }
    SECTION("but not with another address") {
        CHECK(text(targets.apply({{before}, {moved}})) == "-pod/ns/a +pod/ns/b");
    }
}

}  // namespace
