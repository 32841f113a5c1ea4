#include "integration/cache/object_cache_fixture.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"

#include <algorithm>
#include <cstddef>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A discoverer of services and pods, and a cache of 100 Secrets with one watch each. The server
/// answers no list.
struct Busy : CachedCluster {
    Busy() {
        server.set_intercept([](const sim::Request& request) {
            std::optional<sim::Response> never;
            if (!request.is_watch()) never = sim::Response::never();
            return never;
        });
        for (int i = 0; i < 100; ++i) {
            const std::string name = "s" + std::to_string(i);
            server.apply(secret(name, {{"token", "t"}}));
            references.push_back(refer(name));
        }
        server.apply(pod({.name = "web"}));
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = Role::endpointslice;
        config.api_server.url = server.url() + "/";  // the same server
        host.emplace(context.get_executor(), config);
    }
    std::size_t lists() const {
        const auto requests = server.requests();
        return static_cast<std::size_t>(
            std::count_if(requests.begin(), requests.end(),
                          [](const auto& record) { return !record.request.is_watch(); }));
    }

    std::vector<ObjectCache::Reference> references;
    std::optional<Host> host;
};

}  // namespace

TEST_CASE("Server budget: a cache and a discoverer together list no more than they may") {
    Busy b;
    b.host->run();
    b.settle();
    CHECK(b.lists() == ServerLimits{}.concurrent_lists);
    CHECK(b.metrics->lists_running == 8);
    CHECK(b.metrics->lists_waiting == 103 - 8);
    CHECK(b.server.open_connections() == 8);

    // Requests that are given up make room for the next.
    b.server.clear_requests();
    b.advance(76s);
    CHECK(b.lists() >= 8);
    CHECK(b.metrics->lists_running == 8);
    CHECK(b.server.open_connections() == 8);

    b.server.set_intercept({});
    b.advance(180s);
    CHECK(b.host->diffs == 1);
    for (const auto& status : b.cache->status().objects) {
        CHECK(status.state == CachedState::present);
    }
    CHECK(b.metrics->lists_running == 0);
    CHECK(b.metrics->lists_waiting == 0);
    CHECK(b.metrics->open_watches == 103);
}

TEST_CASE("Server budget: a destroyed cache returns its permits") {
    Busy b;
    b.settle();
    CHECK(b.lists() == 8);
    b.host->run();
    b.settle();
    b.server.set_intercept({});
    b.cache.reset();
    b.settle();
    CHECK(b.host->diffs == 1);
    CHECK(b.metrics->lists_waiting == 0);
}
