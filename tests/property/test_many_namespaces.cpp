#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {
std::size_t allocations = 0;  // of one thread
}  // namespace

// NOLINTBEGIN
void* operator new(std::size_t size) {
    ++allocations;
    void* const memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
// NOLINTEND

namespace {

struct Cost {
    std::size_t sync, incident;
};

/// Allocations until so many namespaces are listed, and of an outage of all their watches.
Cost cost_of(std::size_t namespaces) {
    Simulation sim;
    DiscoveryConfig config;
    config.api_server.url = sim.server.url();
    config.watch.cluster_wide_from = 0;
    for (std::size_t i = 0; i < namespaces; ++i) {
        config.namespaces.push_back("a-namespace-with-a-long-name-" + std::to_string(1000 + i));
        sim.server.apply(pod({.name = "web", .ns = config.namespaces.back()}));
    }
    Host host(sim.context.get_executor(), config);
    Cost cost{};
    std::size_t before = allocations;
    host.run();
    sim.settle();
    cost.sync = allocations - before;
    CHECK(host.groups.size() == namespaces);
    before = allocations;
    sim.server.accept_connections(false);
    sim.server.disconnect_all();
    sim.settle();
    cost.incident = allocations - before;
    CHECK(host.discoverer->status().watches.size() == namespaces);
    CHECK(host.discoverer->status().error);
    return cost;
}

}  // namespace

TEST_CASE("Many namespaces: a namespace costs the same however many there are") {
    const Cost few = cost_of(100);
    const Cost many = cost_of(400);
    CAPTURE(few.sync, many.sync, few.incident, many.incident);
    CHECK(many.sync < 5 * few.sync);
    CHECK(many.incident < 5 * few.incident);
}
