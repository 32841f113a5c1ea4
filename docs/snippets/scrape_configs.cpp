// Snippets of docs/scrape-configs.md.

#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

namespace snippets {

using namespace std::chrono_literals;
using TargetPools = std::map<std::string, k8s_sd::TargetPool>;

void log(std::string_view text);

[[maybe_unused]] static void load(k8s_sd::DiscoveryManager& manager, TargetPools& pools,
                                  k8s_sd::TargetHandler& scraper) {
    //[load
    const k8s_sd::ScrapeConfigFile file = k8s_sd::load_scrape_configs("prometheus.yml");
    manager.apply_config(file.discovery_jobs());
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        pools.try_emplace(job.scrape.job_name, job.scrape, scraper);
    }
    for (const k8s_sd::ConfigNote& note : file.notes) {
        std::clog << note.where << ": " << note.text << '\n';
    }
    //]
}

[[maybe_unused]] static void follow(boost::asio::io_context& io,
                                    k8s_sd::DiscoveryManager& manager) {
    //[reload
    k8s_sd::ScrapeConfigReloader reloader(io.get_executor(), "prometheus.yml", {}, 5s,
                                          [&](const k8s_sd::ScrapeConfigUpdate& update) {
                                              if (!update.config) return log(update.error->what());
                                              manager.apply_config(update.config->discovery_jobs());
                                          });
    reloader.start();
    //]
}

}  // namespace snippets
