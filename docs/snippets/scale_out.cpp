// Snippets of docs/guide/scale-out.md.

#include "k8s_sd/config.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/fleet/group_share.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace snippets::scale_out {

void deliver(const k8s_sd::TargetGroupDiff& diff);
void scrape_no_more(k8s_sd::TargetId id);
void write_staleness_markers(const k8s_sd::ScrapeTarget& target);

[[maybe_unused]] static void take_part(boost::asio::io_context& io, k8s_sd::TargetPool& pool,
                                       const std::string& pod_name) {
    //[membership
    k8s_sd::Membership membership(
        io.get_executor(),
        {.source = k8s_sd::service_members(io.get_executor(), "agents"), .self = pod_name},
        [&](const k8s_sd::FleetShare& share) {
            pool.share(share, std::chrono::steady_clock::now());
        });
    pool.share(membership.share(), std::chrono::steady_clock::now());  // empty so far
    membership.async_run(boost::asio::detached);
    //]
    //[ready
    membership.set_synced();               // once, after the first complete diff
    const int status = membership.ready()  // for /readyz
                           ? 200
                           : 503;
    //]
    static_cast<void>(status);
}

[[maybe_unused]] static k8s_sd::MembershipConfig keep_the_view(boost::asio::io_context& io,
                                                               const std::string& pod_name) {
    //[kept_view
    return {.source = k8s_sd::service_members(io.get_executor(), "agents"),
            .self = pod_name,
            .snapshot_directory = "/var/lib/agent/sd"};  // may equal that of WarmStart
    //]
}

//[handover
struct Scrapes {
    boost::asio::steady_timer timer;
    k8s_sd::TargetPool pool;

    void finish_handovers_later() {  // after each share()
        const auto next = pool.next_handover();
        if (!next) return;
        timer.expires_at(*next);
        timer.async_wait([this](boost::system::error_code ec) {
            if (ec) return;
            pool.finish_handovers(std::chrono::steady_clock::now());
            finish_handovers_later();
        });
    }
};
//]

struct Scraper final : k8s_sd::TargetHandler {
    //[moved
    void stop(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target,
              k8s_sd::StopReason reason) noexcept override {
        scrape_no_more(id);
        if (reason == k8s_sd::StopReason::gone) write_staleness_markers(*target);
    }
    //]
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}
};

[[maybe_unused]] static void share_groups(k8s_sd::GroupShare& mine,
                                          const k8s_sd::TargetGroupDiff& diff,
                                          const k8s_sd::FleetShare& share) {
    //[groups
    deliver(mine.apply(diff));                                         // of the Discoverer
    deliver(mine.share(share, std::chrono::steady_clock::now()));      // of the Membership
    deliver(mine.finish_handovers(std::chrono::steady_clock::now()));  // at next_handover()
    //]
}

[[maybe_unused]] static void discover_part(k8s_sd::DividedDiscovery& parts,
                                           k8s_sd::DiscoveryManager& manager,
                                           k8s_sd::Membership& membership,
                                           k8s_sd::DiscoveryConfig config,
                                           const k8s_sd::FleetShare& share) {
    const auto now = std::chrono::steady_clock::now();
    //[part
    config.division = k8s_sd::usual_division(config);  // the same in all members
    parts.share(share, now);                           // of the Membership; share the pools, too
    manager.apply_config(
        {{.name = "job", .configs = parts.parts_of({config}), .supersede_timeout = std::nullopt}});
    //]
    //[part_synced
    if (parts.knows_part(membership.status()) && manager.status().front().synced) {
        membership.set_synced();
    }
    //]
}

[[maybe_unused]] static k8s_sd::DiscoveryConfig restrict_to_node(
    const k8s_sd::DiscoveryConfig& config, const std::string& node_name) {
    //[per_node
    return k8s_sd::per_node(config, node_name);  // throws for roles without node filter
    //]
}

}  // namespace snippets::scale_out
