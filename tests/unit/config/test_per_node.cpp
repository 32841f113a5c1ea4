#include "k8s_sd/config.hpp"
#include "k8s_sd/fleet/fleet_rules.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using k8s_sd::test::config_error;

namespace {

DiscoveryConfig of_role(Role role) {
    DiscoveryConfig config;
    config.role = role;
    config.api_server.url = "http://127.0.0.1:1";
    return config;
}

using Selectors = std::vector<Selector>;

}  // namespace

TEST_CASE("per_node: pods and nodes are those of the node") {
    const DiscoveryConfig pods = per_node(of_role(Role::pod), "n1");
    CHECK(pods.selectors == Selectors{{Role::pod, "", "spec.nodeName=n1"}});
    CHECK(pods.watch.first_list_from_cache);
    CHECK(pods.watch.share_selectors == SelectorSharing::never);
    CHECK(pods.watch.start_jitter == 10s);
    validate(pods);
    const DiscoveryConfig nodes = per_node(of_role(Role::node), "n1");
    CHECK(nodes.selectors == Selectors{{Role::node, "", "metadata.name=n1"}});
    validate(nodes);
}

TEST_CASE("per_node: other selectors stay, and attached nodes are restricted too") {
    DiscoveryConfig config = of_role(Role::pod);
    config.selectors = {{Role::pod, "app=web", "status.phase=Running"}};
    config.attach_metadata.node = true;
    config.watch.start_jitter = 1s;
    const DiscoveryConfig restricted = per_node(config, "n1");
    CHECK(restricted.selectors ==
          Selectors{{Role::pod, "app=web", "status.phase=Running,spec.nodeName=n1"},
                    {Role::node, "", "metadata.name=n1"}});
    CHECK(restricted.watch.start_jitter == 1s);
    validate(restricted);
}

TEST_CASE("per_node: what would be cluster-wide on every node is refused, unless it is allowed") {
    for (const Role role : {Role::service, Role::endpoints, Role::endpointslice, Role::ingress}) {
        CAPTURE(to_string(role));
        const std::string error = config_error([&] { per_node(of_role(role), "n1"); });
        CHECK_THAT(error, StartsWith("role: role " + std::string(to_string(role))));
        CHECK_THAT(error, ContainsSubstring("the server would send every change"));
        CHECK(per_node(of_role(role), "n1", ClusterWide::allow) == of_role(role));
    }
    DiscoveryConfig config = of_role(Role::pod);
    config.attach_metadata.namespace_ = true;
    CHECK_THAT(config_error([&] { per_node(config, "n1"); }),
               StartsWith("attach_metadata.namespace: "));
    CHECK_THAT(config_error([&] { per_node(of_role(Role::pod), ""); }), StartsWith("node: "));
}

TEST_CASE("fleet_start_jitter: 50 ms for each member, none for one, 30 s at most") {
    CHECK(fleet_start_jitter(0) == 0s);
    CHECK(fleet_start_jitter(1) == 0s);
    CHECK(fleet_start_jitter(10) == 500ms);
    CHECK(fleet_start_jitter(1'000'000) == 30s);
}
