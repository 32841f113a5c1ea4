#include "k8s_sd/detail/discovery/provider_pool.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Shared : Simulation {
    Shared() {
        server.apply(pod({.name = "p1"}));
        server.apply(pod({.name = "p2"}));
        server.apply(service("web"));
        server.apply(slice("web-x", "web", {{"10.0.0.1", "p1"}}));
        server.apply(endpoints("web", {{"10.0.0.1", "p1"}}));
    }
    DiscoveryConfig config(Role role = Role::pod) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        return config;
    }
    std::unique_ptr<Host> host(const DiscoveryConfig& config) {
        auto host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        return host;
    }
    std::int64_t gauge_sum() const {
        std::int64_t sum = 0;
        for (const auto& kind : metrics->kinds) {
            sum += kind.objects + kind.watchers + kind.synced_watchers;
        }
        return sum;
    }
};

}  // namespace

TEST_CASE("Sharing: equal configurations list, watch and generate once") {
    Shared s;
    std::vector<std::unique_ptr<Host>> hosts;
    for (int i = 0; i < 100; ++i) hosts.push_back(s.host(s.config(Role::endpointslice)));
    s.settle();
    CHECK(s.take_requests().size() == 6);
    CHECK(s.server.open_connections() == 3);
    CHECK(s.metrics->groups_generated == 1);
    s.server.apply(pod({.name = "p1", .labels = {{"a", "b"}}}));
    s.settle();
    CHECK(s.metrics->groups_generated == 2);
    CHECK(s.metrics->diffs_delivered == 200);
    for (const auto& host : hosts) {
        CHECK(host->diffs == 2);
        CHECK(host->groups == hosts[0]->groups);  // not only equal, the same
        CHECK(host->complaints.empty());
    }
}

TEST_CASE("Sharing: another role adds only the URLs that are new") {
    Shared s;
    const auto pods = s.host(s.config(Role::pod));
    s.settle();
    CHECK(s.take_requests().size() == 2);
    const auto slices = s.host(s.config(Role::endpointslice));
    s.settle();
    const auto requests = s.take_requests();
    CHECK(requests.size() == 4);
    for (const std::string& request : requests) CHECK_FALSE(contains(request, "/api/v1/pods"));
    CHECK(slices->diffs == 1);
    const auto endpoints_host = s.host(s.config(Role::endpoints));
    s.settle();
    CHECK(s.take_requests().size() == 2);
    CHECK(endpoints_host->diffs == 1);
    CHECK(pods->diffs == 1);
}

TEST_CASE("Sharing: what a configuration says besides role and interval may take other watches") {
    Shared s;
    const auto first = s.host(s.config());
    s.settle();
    s.take_requests();
    DiscoveryConfig config = s.config();
    std::size_t requests = 2;
    SECTION("the interval") {
        config.min_update_interval = 5s;
        requests = 0;
    }
    SECTION("the spelling of the URL") {
        config.api_server.url = "HTTP://SIM.invalid:80/";
        requests = 0;
    }
    SECTION("the order of namespaces, and all of them") {
        config.namespaces = {"", "default"};
        requests = 0;
    }
    SECTION("namespaces, of which there is everything") {
        config.namespaces = {"default"};
        requests = 0;
    }
    SECTION("a selector") { config.selectors = {{Role::pod, "app=web", ""}}; }
    SECTION("the dialect, which nothing of a pod depends on") {
        config.dialect = LabelDialect::victoriametrics;
        requests = 0;
    }
    SECTION("attached metadata of the objects themselves") {
        config.attach_metadata.job = true;
        requests = 0;
    }
    SECTION("attached metadata of other objects") { config.attach_metadata.node = true; }
    SECTION("whether selectors are shared") {
        config.watch.share_selectors = SelectorSharing::never;
    }
    SECTION("credentials") { config.api_server.auth.bearer_token = "t"; }
    SECTION("how it watches") { config.watch.page_size = 17; }
    const auto second = s.host(config);
    s.settle();
    CHECK(s.take_requests().size() == requests);
    CHECK(second->diffs == 1);
    CHECK(second->complaints.empty());
}

TEST_CASE("Sharing: the last one to go closes everything") {
    Shared s;
    {
        std::vector<std::unique_ptr<Host>> hosts;
        for (const Role role : {Role::pod, Role::pod, Role::endpointslice, Role::service}) {
            hosts.push_back(s.host(s.config(role)));
        }
        s.settle();
        CHECK(s.server.open_connections() == 3);
        hosts.erase(hosts.begin());
        s.settle();
        CHECK(s.server.open_connections() == 3);
        hosts.erase(hosts.begin() + 1);  // the slices
        s.settle();
        CHECK(s.server.open_connections() == 2);
        CHECK(hosts[0]->discoverer->status().watches.size() == 1);
    }
    s.settle();
    CHECK(s.server.open_connections() == 0);
    CHECK(s.gauge_sum() == 0);
    s.take_requests();
    s.advance(1h);
    CHECK(s.take_requests().empty());
    CHECK(s.clock->next_expiry() == TimePoint::max());

    const auto again = s.host(s.config());
    s.settle();
    CHECK(s.take_requests().size() == 2);
    CHECK(again->groups.size() == 2);
}

TEST_CASE("Sharing: replacing a discoverer by an equal one costs no request") {
    Shared s;
    auto host = s.host(s.config(Role::endpointslice));
    s.settle();
    s.take_requests();
    SECTION("the new one first") {
        auto next = s.host(s.config(Role::endpointslice));
        host = std::move(next);
    }
    SECTION("the new one first, running for a while") {
        auto next = s.host(s.config(Role::endpointslice));
        s.settle();
        host = std::move(next);
    }
    SECTION("the old one just before") {
        host.reset();
        host = s.host(s.config(Role::endpointslice));
    }
    SECTION("cancelled just before") {
        host->discoverer->cancel();
        auto next = s.host(s.config(Role::endpointslice));
        s.settle();
        host = std::move(next);
    }
    SECTION("cancelled a turn before the next one is there") {
        host->discoverer->cancel();
        std::unique_ptr<Host> next;
        asio::post(s.context, [&] { next = s.host(s.config(Role::endpointslice)); });
        s.settle();
        host = std::move(next);
    }
    SECTION("in a callback") {
        std::unique_ptr<Host> next;
        host->after_diff = [&](const auto&) {
            host->discoverer.reset();
            next = s.host(s.config(Role::endpointslice));
        };
        s.server.apply(pod({.name = "p1", .labels = {{"a", "b"}}}));
        s.settle();
        host = std::move(next);
    }
    s.settle();
    CHECK(s.take_requests() == std::vector<std::string>{});
    CHECK(host->diffs == 1);
    CHECK(host->groups.size() == 1);
    CHECK(s.server.open_connections() == 3);
    s.server.apply(slice("web-y", "web", {{"10.0.0.2", "p2"}}));
    s.settle();
    CHECK(host->groups.size() == 2);
    CHECK(host->complaints.empty());
}

TEST_CASE("Sharing: replacing by another role keeps the watches that both need") {
    Shared s;
    auto host = s.host(s.config(Role::endpointslice));
    s.settle();
    s.take_requests();
    host.reset();
    host = s.host(s.config(Role::endpoints));
    s.settle();
    const auto requests = s.take_requests();
    CHECK(requests.size() == 2);
    CHECK(host->diffs == 1);
    CHECK(s.server.open_connections() == 3);
}

TEST_CASE("Sharing: a late one gets the complete state at once") {
    Shared s;
    const auto first = s.host(s.config());
    s.settle();
    s.server.apply(pod({.name = "p3"}));
    s.server.remove("pods", "default", "p1");
    s.settle();
    s.take_requests();
    const auto late = s.host(s.config());
    s.settle();
    CHECK(late->diffs == 1);
    CHECK(late->groups == first->groups);
    CHECK(s.take_requests().empty());
    s.server.apply(pod({.name = "p4"}));
    s.settle();
    CHECK(late->diffs == 2);
    CHECK(late->complaints.empty());
}

TEST_CASE("Sharing: a late one gets the complete state also if that is empty") {
    Simulation sim;
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = sim.server.url();
    Host first(sim.context.get_executor(), config);
    first.run();
    sim.settle();
    Host late(sim.context.get_executor(), config);
    late.run();
    sim.settle();
    CHECK(first.diffs == 1);
    CHECK(late.diffs == 1);
}

TEST_CASE("Sharing: two contexts share nothing") {
    Shared a;
    Shared b;
    const auto host_a = a.host(a.config());
    const auto host_b = b.host(b.config());
    a.settle();
    b.settle();
    CHECK(a.take_requests().size() == 2);
    CHECK(b.take_requests().size() == 2);
    CHECK(metrics_of(a.context) != metrics_of(b.context));
}

TEST_CASE("Sharing: a watch beyond the server's limit is polled, until there is a place") {
    Simulation sim({}, {}, {.watches = 1});
    const auto host_of = [&](const std::string& ns) {
        sim.server.apply(pod({.name = "p1", .ns = ns}));
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = sim.server.url();
        config.namespaces = {ns};
        auto host = std::make_unique<Host>(sim.context.get_executor(), config);
        host->run();
        sim.settle();
        return host;
    };
    auto first = host_of("a");
    const auto second = host_of("b");
    const auto status = [&] { return second->discoverer->status().watches.at(0); };
    CHECK(second->take_diffs() == "[~pod/b/p1]");
    CHECK(status().error == errc::too_many_watches);
    CHECK(status().waiting == Waiting::poll);
    CHECK(contains(status().message, "ServerLimits::watches"));
    sim.server.apply(pod({.name = "p2", .ns = "b"}));
    sim.advance(66s);
    CHECK(second->take_diffs() == "[~pod/b/p2]");
    CHECK(sim.metrics->of(Kind::pod).polls == 1);
    CHECK(sim.server.open_watches() == 1);
    first.reset();
    sim.advance(70s);
    CHECK_FALSE(status().error);
    CHECK(status().waiting == Waiting::events);
    CHECK(sim.server.open_watches() == 1);
}

TEST_CASE("Sharing: when the last discoverer is gone, no map keeps its configuration") {
    Shared s;
    DiscoveryConfig config = s.config();
    config.api_server.auth.bearer_token = "a-secret";
    const auto& registry = asio::use_service<k8s_sd::detail::GroupRegistry>(s.context);
    auto one = s.host(config);
    auto two = s.host(config);
    s.settle();
    CHECK(registry.size() == 1);
    one.reset();
    s.settle();
    CHECK(registry.size() == 1);
    two.reset();
    s.settle();
    CHECK(registry.size() == 0);

    k8s_sd::detail::ProviderPool pool(s.context.get_executor());
    auto entry = pool.find_or_make(config, {});
    REQUIRE(entry.provider);
    CHECK(pool.find_or_make(config, {}).provider == entry.provider);
    CHECK(pool.size() == 1);
    entry = {};
    CHECK(pool.size() == 0);
    s.settle();
    CHECK(registry.size() == 0);
}
