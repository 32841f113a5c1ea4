#include "collectors/all_targets.hpp"
#include "collectors/target_allocator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using k8s_sd_program::AllocationView;
using k8s_sd_program::AllTargets;
using k8s_sd_program::Collectors;
using k8s_sd_program::ListBody;
using k8s_sd_program::ListBodyPtr;
using k8s_sd_program::TargetAllocator;
using std::chrono::steady_clock;

namespace {

std::shared_ptr<const k8s_sd::api::Pod> pod_of(std::string_view name, bool ready) {
    k8s_sd::api::Pod pod;
    pod.metadata.name = name;
    pod.spec.node_name = "node-1";
    pod.status.phase = "Running";
    k8s_sd::api::PodCondition condition;
    condition.type = "Ready";
    condition.status = ready ? "True" : "False";
    pod.status.conditions.push_back(condition);
    return std::make_shared<const k8s_sd::api::Pod>(pod);
}

ListBodyPtr list_of(const std::string& text) { return std::make_shared<const ListBody>(text); }

AllocationView two_collectors() {
    return AllocationView({std::make_shared<const Collectors>(
        std::vector<k8s_sd_program::Collector>{{"c-0", {}}, {"c 1", {}}}, Collectors::Options{})});
}

}  // namespace

TEST_CASE("TargetAllocator: nothing is left to do after stop(), be the end of a time on its way") {
    boost::asio::io_context io;
    k8s_sd_program::TargetAllocatorOptions options;
    options.selector = "app=collector";
    options.grace = std::chrono::hours(1);
    options.handover = std::chrono::nanoseconds(1);
    TargetAllocator allocator(io.get_executor(), options);
    boost::asio::steady_timer stops(io, steady_clock::now());
    stops.async_wait([&](auto) { allocator.stop(); });
    allocator.on_pods({true, {pod_of("a", true), pod_of("b", false)}, {}, {}});
    allocator.on_pods({false, {pod_of("c", true)}, {}, {pod_of("a", true)}});
    // Both delays are over now; the handover was the second one.
    const auto begin = steady_clock::now();
    while (steady_clock::now() == begin) continue;
    io.poll();
    CHECK(io.stopped());
}

TEST_CASE("TargetAllocator: it is not known who the collectors are before their pods are listed") {
    boost::asio::io_context io;
    k8s_sd_program::TargetAllocatorOptions options;
    options.selector = "app=collector";
    TargetAllocator allocator(io.get_executor(), options);
    CHECK(allocator.view() == nullptr);
    CHECK_FALSE(allocator.knows("a"));
    CHECK(allocator.trouble() == "the pods of the collectors have not been listed yet");
    allocator.on_pods({true, {}, {}, {}});
    CHECK(allocator.view() != nullptr);
    allocator.stop();
}

TEST_CASE("AllTargets: has the lists of all collectors, as the Target Allocator writes them") {
    AllTargets all;
    const auto body = all.body("a b/0", two_collectors(), {list_of("[]\n"), list_of("[1]\n")});
    CHECK(
        *body->bytes() ==
        "{\"c 1\":{\"_link\":\"/debug/jobs/a+b%2F0/targets?collector_id=c+1\",\"targets\":[]\n},\n"
        "\"c-0\":{\"_link\":\"/debug/jobs/a+b%2F0/"
        "targets?collector_id=c-0\",\"targets\":[1]\n}}\n");
}

TEST_CASE("AllTargets: as long as somebody reads a body it is for everybody, and not longer") {
    AllTargets all;
    const auto view = two_collectors();
    const std::vector<ListBodyPtr> lists{list_of("[]\n"), list_of("[1]\n")};
    std::vector<ListBodyPtr> readers;
    for (int i = 0; i < 100; ++i) readers.push_back(all.body("j", view, lists));
    for (const ListBodyPtr& body : readers) CHECK(body == readers[0]);
    CHECK(all.body("j", view, {lists[0], lists[0]}) != readers[0]);
    CHECK(all.body("k", view, lists) != readers[0]);
    const std::weak_ptr<const ListBody> last = readers[0];
    readers.clear();
    CHECK(last.expired());
}

TEST_CASE("AllTargets: only so many bodies are read at a time") {
    AllTargets all;
    const auto view = two_collectors();
    const std::vector<ListBodyPtr> lists{list_of("[]\n"), list_of("[1]\n")};
    std::vector<ListBodyPtr> readers;
    for (std::size_t i = 0; i < AllTargets::max_bodies; ++i) {
        readers.push_back(all.body("j" + std::to_string(i), view, lists));
        CHECK(readers.back() != nullptr);
    }
    CHECK(all.body("more", view, lists) == nullptr);
    CHECK(all.body("j0", view, lists) == readers[0]);
    readers.pop_back();
    CHECK(all.body("more", view, lists) != nullptr);
}
