// Snippets of docs/guide/scrape-configs.md.

#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace snippets::scrape_configs {

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
    for (const k8s_sd::ScrapeConfigFailure& failure : file.failures) {
        std::clog << "left out: " << failure.where << ": " << failure.message << '\n';
    }
    for (const k8s_sd::ConfigNote& note : file.notes) {
        std::clog << note.where << ": " << note.text << '\n';
    }
    //]
}

[[maybe_unused]] static bool read_settings(const k8s_sd::ScrapeJob& job) {
    //[settings
    const k8s_sd::AuthConfig& auth = job.client->auth;  // bearer_token_file, basic_auth, …
    const auto honor = job.settings.find("honor_labels");
    const bool honors_labels = honor != job.settings.end() && honor->second.json == "true";
    //]
    return honors_labels && auth.bearer_token.empty();
}

[[maybe_unused]] static k8s_sd::ScrapeConfigFile load_of_vmagent(const std::string& this_node) {
    //[variables
    const k8s_sd::ScrapeConfigOptions options{
        .dialect = k8s_sd::LabelDialect::victoriametrics,
        .variables = [this_node](std::string_view name) -> std::optional<std::string> {
            if (name == "KUBE_NODE_NAME") return this_node;
            return std::nullopt;  // `%{NAME}` stays unchanged
        }};
    //]
    return k8s_sd::load_scrape_configs("vmagent.yml", options);
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

[[maybe_unused]] static void follow_on(boost::asio::io_context& io,
                                       const k8s_sd::ScrapeConfigReloader::Callback& on_update) {
    //[pool
    boost::asio::thread_pool pool(1);
    k8s_sd::ScrapeConfigReloader reloader(io.get_executor(), "prometheus.yml", {}, 5s, on_update,
                                          pool.get_executor());
    //]
}

}  // namespace snippets::scrape_configs
