#include "k8s_sd/scrape/target_pool.hpp"
#include "support/allocations.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// Counts calls; allocates nothing.
struct Counter final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override {
        --running, ++calls;
    }
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override { ++calls; }
    void start(TargetId, const ScrapeTargetPtr&) noexcept override { ++running, ++calls; }
    int running = 0;
    int calls = 0;
};

ScrapeConfig job(const std::string& dropped_app) {
    ScrapeConfig config;
    config.job_name = "job";
    RelabelRule drop;
    drop.action = RelabelAction::drop;
    drop.source_labels = {"app"};
    drop.regex = dropped_app;
    config.relabel_configs = {drop};
    return config;
}

TargetGroupPtr group(const std::string& name, int targets) {
    std::vector<LabelMap> labels;
    for (int i = 0; i < targets; ++i) {
        labels.push_back({{"__address__", name + ":" + std::to_string(i)},
                          {"app", i % 3 == 0 ? "x" : "y"},
                          {"a label of " + name, "1"}});
    }
    labels.push_back({{"__address__", "not/an/address"}});
    return make_group(name, labels);
}

std::set<std::string> addresses(const TargetPool& pool) {
    std::set<std::string> result;
    for (const auto& target : pool.active()) result.emplace(target->get("__address__"));
    return result;
}

/// The entire observable state of a pool.
auto state_of(const TargetPool& pool) {
    const ShareCounts shared = pool.share_counts();
    return std::tuple(addresses(pool), pool.dropped_count(), pool.failed_count(), pool.config(),
                      shared.moving, shared.others, shared.gained, shared.handed,
                      pool.next_handover());
}

/// Repeats the change with one more allowed allocation each time, until it succeeds; failures must
/// not change the state. Returns the number of failures.
template <class Change>
int change_with_little_memory(TargetPool& pool, Counter& counter, Change change) {
    const auto before = state_of(pool);
    const int calls = counter.calls;
    for (int left = 0;; ++left) {
        allocations_left = left;
        try {
            change();
            allocations_left = -1;
            return left;
        } catch (const std::bad_alloc&) {
            allocations_left = -1;
        }
        REQUIRE(state_of(pool) == before);
        REQUIRE(counter.calls == calls);
        REQUIRE(counter.running == static_cast<int>(pool.active_count()));
    }
}

}  // namespace

TEST_CASE("TargetPool: where memory is short a change happens whole or not at all") {
    Counter counter;
    TargetPool pool(job("x"), counter);
    JobDiff first{.job = "job", .full = true};
    ProviderDiff one{.provider = 1};
    one.diff = full_diff({group("a", 5), group("b", 3), group("c", 1)});
    first.providers = {one, {2, full_diff({group("a", 2), group("d", 4)}), false}};
    CHECK(change_with_little_memory(pool, counter, [&] { pool.apply(first); }) > 20);
    CHECK(counter.running == 7);

    JobDiff second{.job = "job"};
    ProviderDiff changed{.provider = 1};
    for (int i = 0; i < 40; ++i) {
        changed.diff.updated.push_back({group("e" + std::to_string(i), 3), nullptr, false});
    }
    changed.diff.updated.push_back({group("a", 1), nullptr, false});
    changed.diff.removed = {group("b", 3)};
    second.providers = {changed, {2, change({}, {group("a", 2), group("d", 4)}), true}};
    CHECK(change_with_little_memory(pool, counter, [&] { pool.apply(second); }) > 20);

    const ScrapeConfig other = job("y");
    CHECK(change_with_little_memory(pool, counter, [&] { pool.reload(other); }) > 20);
    CHECK(pool.config() == other);
    CHECK(change_with_little_memory(pool, counter, [&] { pool.clear(); }) > 0);
    CHECK(counter.running == 0);
}

TEST_CASE("TargetPool: where memory is short its share changes whole or not at all") {
    const auto share_of = [](std::vector<std::string> members) {
        return FleetShare(std::make_shared<const FleetView>(std::move(members)), "me");
    };
    const FleetShare all = share_of({"me"});
    const FleetShare some = share_of({"me", "you", "they"});
    const FleetShare other = share_of({"me", "we", "us"});
    const TimePoint now{std::chrono::hours(1)};
    Counter counter;
    TargetPool pool(job("x"), counter);
    std::vector<TargetGroupPtr> groups;
    for (int i = 0; i < 20; ++i) groups.push_back(group("g" + std::to_string(i), 1 + i % 4));
    pool.apply(full_diff(groups));
    pool.share(all, now);
    const int whole = counter.running;
    const auto change = [&](auto function) {
        return change_with_little_memory(pool, counter, function);
    };
    CHECK(change([&] { pool.share(some, now); }) > 10);
    CHECK(pool.share_counts().moving > 0);
    CHECK(change([&] { pool.finish_handovers(now + std::chrono::minutes(10)); }) > 10);
    CHECK(counter.running < whole);
    CHECK(change([&] { pool.share(other, now); }) > 10);
    CHECK(change([&] { pool.share(all, now); }) > 10);
    CHECK(counter.running == whole);
}
