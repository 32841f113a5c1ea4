#include "collectors/allocation_history.hpp"
#include "collectors/collector_pods.hpp"
#include "lists/collectors.hpp"
#include "lists/consistent_hashing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

using k8s_sd_program::Allocation;
using k8s_sd_program::AllocationHistory;
using k8s_sd_program::AllocationView;
using k8s_sd_program::Collector;
using k8s_sd_program::CollectorPods;
using k8s_sd_program::Collectors;
using k8s_sd_program::ConsistentHashing;
using std::chrono::seconds;

namespace {

using Names = std::vector<std::string>;

/// Depends on the owner of each partition.
std::uint64_t checksum(const ConsistentHashing& hashing) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 1061; ++i) sum += (i + 1) * hashing.owner(i);
    return sum;
}

k8s_sd_program::ListedTarget target_at(const std::string& address, const std::string& node = {}) {
    k8s_sd_program::ListedTarget target;
    target.share_key = ConsistentHashing::key_of(address);
    target.node = node;
    return target;
}

AllocationHistory::TimePoint at_second(int second) {
    return AllocationHistory::TimePoint(seconds(second));
}

CollectorPods::TimePoint date(int second) { return CollectorPods::TimePoint(seconds(second)); }

/// \param since  the time of the last transition; nullopt: not set
k8s_sd::api::Pod collector_pod(std::string_view name, bool ready, std::optional<int> since = {}) {
    k8s_sd::api::Pod pod;
    pod.metadata.name = name;
    pod.spec.node_name = "node-1";
    pod.status.phase = "Running";
    k8s_sd::api::PodCondition condition;
    condition.type = "Ready";
    condition.status = ready ? "True" : "False";
    if (since) condition.last_transition_time = k8s_sd::api::Time(seconds(*since));
    pod.status.conditions.push_back(condition);
    return pod;
}

}  // namespace

// The numbers come from tests/programs/k8s-sd/consistent_hashing.py.
TEST_CASE("ConsistentHashing: owners are those of the Target Allocator") {
    CHECK(ConsistentHashing::key_of("") == 0xEF46DB3751D8E999U);
    CHECK(ConsistentHashing::key_of("abc") == 0x44BC2CF5AD770999U);
    CHECK(checksum(ConsistentHashing({"collector-0"})) == 0);
    CHECK(checksum(ConsistentHashing({"collector-0", "collector-1"})) == 260355);
    const Names three{"otel-collector-0", "otel-collector-1", "otel-collector-2"};
    const ConsistentHashing of_three(three);
    CHECK(checksum(of_three) == 577456);
    std::vector<std::size_t> owners;
    for (const char* address : {"10.0.0.1:80", "10.244.1.25:9153", "[fd00::1]:9100"}) {
        owners.push_back(of_three.owner(ConsistentHashing::key_of(address)));
    }
    CHECK(owners == std::vector<std::size_t>{1, 2, 2});
    Names ten;
    for (int i = 0; i < 10; ++i) ten.push_back("c" + std::to_string(i));
    CHECK(checksum(ConsistentHashing(ten)) == 2767193);
    CHECK(checksum(ConsistentHashing({"a b", "a\nb", "\u00e4", "", std::string(200, ' ')})) ==
          1170915);
}

TEST_CASE("ConsistentHashing: the order of members does not matter, and there may be many") {
    const ConsistentHashing one({"a", "b", "c"});
    const ConsistentHashing other({"c", "a", "b"});
    const Names other_names{"c", "a", "b"};
    for (std::uint64_t i = 0; i < 1061; ++i) {
        CHECK(Names{"a", "b", "c"}[one.owner(i)] == other_names[other.owner(i)]);
    }
    Names many;
    for (int i = 0; i < 2000; ++i) many.push_back("c" + std::to_string(i));
    const ConsistentHashing of_many(many);
    std::set<std::size_t> used;
    for (std::uint64_t i = 0; i < 1061; ++i) used.insert(of_many.owner(i));
    CHECK(used.size() == 1061);
}

TEST_CASE("Collectors: per node, targets without a collector on their node need a fallback") {
    const std::vector<Collector> members{{"b", "node-2"}, {"a", "node-1"}, {"c", "node-1"}};
    const Collectors strict(members, {Allocation::per_node, false});
    CHECK(strict.owner(target_at("x:1", "node-2"))->name == "b");
    // One of a node, always the same.
    CHECK(strict.owner(target_at("x:1", "node-1"))->name == "a");
    CHECK(strict.owner(target_at("x:1", "node-3")) == nullptr);
    CHECK(strict.owner(target_at("x:1")) == nullptr);
    const Collectors with_fallback(members, {Allocation::per_node, true});
    CHECK(with_fallback.owner(target_at("x:1", "node-2"))->name == "b");
    CHECK(with_fallback.owner(target_at("x:1")) != nullptr);
    CHECK(Collectors({}, {}).owner(target_at("x:1")) == nullptr);
}

TEST_CASE("AllocationHistory: who had a target keeps it during the handover, and then no more") {
    AllocationHistory history({}, seconds(90));
    CHECK(history.view() == nullptr);
    history.set({{"a", {}}}, {}, at_second(0));
    CHECK_FALSE(history.next_end());
    const auto before = history.view();
    history.set({{"a", {}}}, {}, at_second(1));
    CHECK(history.view() == before);
    history.set({{"b", {}}}, {}, at_second(10));
    CHECK(history.view()->owners(target_at("x:1")) == std::vector<std::string_view>{"b", "a"});
    CHECK(history.knows("a"));
    CHECK(history.next_end() == at_second(100));
    history.advance(at_second(99));
    CHECK(history.view()->owners(target_at("x:1")).size() == 2);
    history.advance(at_second(100));
    CHECK(history.view()->owners(target_at("x:1")) == std::vector<std::string_view>{"b"});
    CHECK_FALSE(history.knows("a"));
    CHECK_FALSE(history.next_end());
}

TEST_CASE("AllocationHistory: without a handover a change counts at once") {
    AllocationHistory history({}, {});
    history.set({{"a", {}}}, {}, at_second(0));
    history.set({{"b", {}}}, {"a"}, at_second(1));
    CHECK(history.view()->owners(target_at("x:1")) == std::vector<std::string_view>{"b"});
    CHECK(history.knows("a"));
    CHECK_FALSE(history.knows("c"));
}

TEST_CASE("AllocationHistory: collectors that have nothing, and come and go, divide no list anew") {
    AllocationHistory history({}, {});
    history.set({{"a", {}}}, {}, at_second(0));
    const auto view = history.view();
    history.set({{"a", {}}}, {"b"}, at_second(1));
    CHECK(history.view() == view);
    CHECK(history.knows("b"));
    history.set({{"a", {}}}, {}, at_second(2));
    CHECK(history.view() == view);
    CHECK_FALSE(history.knows("b"));
}

TEST_CASE("AllocationHistory: collectors that come and go all the time cost no more and more") {
    AllocationHistory history({}, seconds(90));
    for (int i = 0; i < 1000; ++i) {
        history.set({{"c" + std::to_string(i), {}}}, {}, at_second(0));
    }
    CHECK(history.view()->owners(target_at("x:1")).size() == 5);
}

TEST_CASE("CollectorPods: a pod that is not ready has targets for a while") {
    CollectorPods pods{seconds(30)};
    pods.set(collector_pod("a", true), date(0));
    pods.set(collector_pod("b", false, 0), date(10));
    CHECK(pods.members(date(29)) == std::vector<Collector>{{"a", "node-1"}, {"b", "node-1"}});
    CHECK(pods.next_change(date(29)) == date(30));
    // The delay does not restart with each change of the pod.
    pods.set(collector_pod("b", false, 0), date(29));
    CHECK(pods.members(date(30)) == std::vector<Collector>{{"a", "node-1"}});
    CHECK(pods.idle(date(30)) == std::set<std::string, std::less<>>{"b"});
    CHECK_FALSE(pods.next_change(date(30)));
    pods.set(collector_pod("b", true), date(31));
    CHECK(pods.members(date(31)).size() == 2);
    pods.set(collector_pod("b", false, 40), date(41));
    CHECK(pods.next_change(date(41)) == date(70));
    pods.remove(collector_pod("b", false));
    CHECK_FALSE(pods.next_change(date(41)));
}

TEST_CASE("CollectorPods: the pod says since when it is not ready, whoever looks when") {
    const auto ends = [](const k8s_sd::api::Pod& pod) {
        CollectorPods pods{seconds(30)};
        pods.set(pod, date(1000));
        return pods.next_change(date(1000));
    };
    // The pod has been unready for long: a restart of the program grants no new delay.
    CHECK(ends(collector_pod("a", false, 0)) == std::nullopt);
    CHECK(ends(collector_pod("a", false, 990)) == date(1020));
    // The pod's clock is ahead.
    CHECK(ends(collector_pod("a", false, 5000)) == date(1030));
    CHECK(ends(collector_pod("a", false)) == date(1030));
    auto pending = collector_pod("a", false, 990);
    pending.status.phase = "Pending";
    CHECK(ends(pending) == date(1020));
    pending.status.start_time = k8s_sd::api::Time(seconds(980));
    CHECK(ends(pending) == date(1010));
    pending.status.conditions.clear();
    CHECK(ends(pending) == date(1010));
}

TEST_CASE("CollectorPods: another pod of the same name has a while of its own") {
    CollectorPods pods{seconds(30)};
    auto pod = collector_pod("a", false);
    pod.metadata.uid = "1";
    pods.set(pod, date(0));
    pods.set(pod, date(20));
    CHECK(pods.next_change(date(20)) == date(30));
    pod.metadata.uid = "2";
    pods.set(pod, date(20));
    CHECK(pods.next_change(date(20)) == date(50));
}

TEST_CASE("CollectorPods: a pod that has no node, or that ends, has no targets") {
    CollectorPods pods{seconds(30)};
    auto ends = collector_pod("a", true);
    ends.metadata.deletion_timestamp = k8s_sd::api::Time(seconds(5));
    pods.set(ends, date(0));
    auto failed = collector_pod("b", true);
    failed.status.phase = "Failed";
    pods.set(failed, date(0));
    auto waits = collector_pod("c", false);
    waits.status.phase = "Pending";
    waits.spec.node_name = {};
    pods.set(waits, date(0));
    CHECK(pods.members(date(0)).empty());
    CHECK(pods.idle(date(0)) == std::set<std::string, std::less<>>{"a", "b", "c"});
    CHECK_FALSE(pods.next_change(date(0)));
}
