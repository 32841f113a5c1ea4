// Snippets of docs/guide/scrape-targets.md.

#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace snippets::scrape_targets {

//[handler
struct Scraper final : k8s_sd::TargetHandler {
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&,
              k8s_sd::StopReason) noexcept override;  // first
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;  // last
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

[[maybe_unused]] static void work_side_by_side(boost::asio::any_io_executor manager_strand) {
    //[parallel
    struct ScrapeJob {
        boost::asio::strand<boost::asio::any_io_executor> strand;
        Scraper scraper;
        k8s_sd::TargetPool pool;
    };
    std::map<std::string, std::shared_ptr<ScrapeJob>> jobs;  // of the manager's strand
    k8s_sd::DiscoveryManager manager(manager_strand, [&](k8s_sd::JobDiff diff) {
        const std::shared_ptr<ScrapeJob> job = jobs.at(diff.job);
        boost::asio::post(job->strand, [job, diff = std::move(diff)] { job->pool.apply(diff); });
    });
    //]
}

[[maybe_unused]] static void reload(k8s_sd::DiscoveryManager& manager,
                                    const k8s_sd::ScrapeConfigFile& file,
                                    std::map<std::string, k8s_sd::TargetPool>& pools) {
    //[reload
    manager.apply_config(file.discovery_jobs());
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        const std::string& name = job.scrape.job_name;
        pools.at(name).reload(job.scrape, {}, manager.providers(name));
    }
    //]
}

[[maybe_unused]] static void share(const k8s_sd::ScrapeConfig& scrape_config, Scraper& scraper) {
    //[sharding
    k8s_sd::Sharding sharding({
        .members = 3,
        .member = k8s_sd::parse_shard_member("agent-0"),  // as StatefulSets name pods
        .replication_factor = 2,
        .member_label = "replica",
        .member_name = "agent-0",
    });
    k8s_sd::TargetPool pool(scrape_config, scraper, sharding);
    //]
}

}  // namespace snippets::scrape_targets
