#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>

namespace k8s_sd::test {
namespace {

// So a member that the state gains does not change the binary interface of hosts.
template <class... Handles>
constexpr bool are_pointers = ((sizeof(Handles) == sizeof(std::shared_ptr<void>)) && ...);

TEST_CASE("Handles: each is nothing but a pointer to its state") {
    STATIC_REQUIRE(are_pointers<Discoverer, DiscoveryManager, ClusterInventory>);
    STATIC_REQUIRE(are_pointers<MonitorSource, ScrapeConfigReloader, TargetPool>);
    STATIC_REQUIRE(are_pointers<Membership, ObjectCache, URLWatcher>);
}

}  // namespace
}  // namespace k8s_sd::test
