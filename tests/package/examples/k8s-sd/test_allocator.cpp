#include "collectors/allocator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string_view>

using bridge::Allocator;
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

}  // namespace

TEST_CASE("Allocator: nothing is left to do after stop(), be the end of a time on its way") {
    boost::asio::io_context io;
    bridge::AllocatorOptions options;
    options.selector = "app=collector";
    options.grace = std::chrono::hours(1);
    options.handover = std::chrono::nanoseconds(1);
    Allocator allocator(io.get_executor(), options);
    boost::asio::steady_timer stops(io, steady_clock::now());
    stops.async_wait([&](auto) { allocator.stop(); });
    allocator.on_pods({true, {pod_of("a", true), pod_of("b", false)}, {}, {}});
    allocator.on_pods({false, {pod_of("c", true)}, {}, {pod_of("a", true)}});
    // Both times are over now, that of the handover as the second one.
    const auto begin = steady_clock::now();
    while (steady_clock::now() == begin) continue;
    io.poll();
    CHECK(io.stopped());
}

TEST_CASE("Allocator: it is not known who the collectors are before their pods are listed") {
    boost::asio::io_context io;
    bridge::AllocatorOptions options;
    options.selector = "app=collector";
    Allocator allocator(io.get_executor(), options);
    CHECK(allocator.view() == nullptr);
    CHECK_FALSE(allocator.knows("a"));
    CHECK(allocator.trouble() == "the pods of the collectors have not been listed yet");
    allocator.on_pods({true, {}, {}, {}});
    CHECK(allocator.view() != nullptr);
    allocator.stop();
}
