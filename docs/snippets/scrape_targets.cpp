// Snippets of docs/scrape-targets.md.

#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/io_context.hpp>

namespace snippets {

//[handler
struct Scraper final : k8s_sd::TargetHandler {
    void stop(const k8s_sd::ScrapeTargetPtr& target) override;   // first
    void keep(const k8s_sd::ScrapeTargetPtr& target) override;   // only discovered_labels() are new
    void start(const k8s_sd::ScrapeTargetPtr& target) override;  // last
};
//]

[[maybe_unused]] static void feed(boost::asio::io_context& io,
                                  const k8s_sd::ScrapeConfig& scrape_config) {
    //[pool
    Scraper scraper;
    k8s_sd::TargetPool pool(scrape_config, scraper);
    k8s_sd::DiscoveryManager manager(io.get_executor(),
                                     [&](const k8s_sd::JobDiff& diff) { pool.apply(diff); });
    //]
}

[[maybe_unused]] static void share(const k8s_sd::ScrapeConfig& scrape_config, Scraper& scraper) {
    //[sharding
    k8s_sd::Sharding sharding({
        .members = 3,
        .member = k8s_sd::parse_shard_member("agent-0"),  // as StatefulSets name pods
        .replication_factor = 2,
        .rule = k8s_sd::ShardingRule::rendezvous,
        .member_label = "replica",
        .member_name = "agent-0",
    });
    k8s_sd::TargetPool pool(scrape_config, scraper, sharding);
    //]
}

}  // namespace snippets
