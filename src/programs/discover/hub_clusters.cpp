#include "hub_clusters.hpp"

#include "cli/signals.hpp"
#include "cli/terminal_text.hpp"
#include "notes.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace discover {

namespace {

/// The hub itself needs no name.
k8s_sd::DiscoveryConfig without_server(k8s_sd::DiscoveryConfig config,
                                       const cli::ClusterOptions& clusters) {
    config.api_server = {};
    config.kubeconfig_file.clear();
    config.kubeconfig_context.clear();
    config.cluster = {};
    if (!clusters.label.empty()) config.cluster.label = clusters.label;
    return config;
}

}  // namespace

HubClusters::HubClusters(boost::asio::io_context& io, const Options& options)
    : io_(io),
      options_(options),
      inventory_(io.get_executor(), cli::inventory_of(options.config, options.profiles),
                 [this](const k8s_sd::InventoryDiff& diff) { take(diff); }) {
    inventory_.async_run(boost::asio::detached);
}

bool HubClusters::wait(cli::ExitStatus& status) {
    cli::Signals signals(io_.get_executor());
    signals.wait([&](int) {
        status = cli::exit_fine;
        io_.stop();
    });
    boost::asio::steady_timer timeout(io_);
    if (options_.deadline) {
        timeout.expires_at(*options_.deadline);
        timeout.async_wait([&](boost::system::error_code ec) {
            // An expired wait may be queued behind the list. It then runs after this function, or
            // would report a timeout in spite of the list.
            if (ec || listed_) return;
            status = cli::exit_not_synced;
            const std::string why = inventory_.status().profiles.message;
            note(options_, k8s_sd::LogLevel::error, cli::Event::not_synced,
                 "the ClusterProfiles of the hub have not been listed in time" +
                     (why.empty() ? "" : ": " + cli::printable(why, 2000)));
            io_.stop();
        });
    }
    follow([this] { io_.stop(); });
    io_.run();
    io_.restart();
    follow({});
    return listed_;
}

void HubClusters::take(const k8s_sd::InventoryDiff& diff) {
    for (const std::string& problem : clusters_.apply(diff))
        note(options_, k8s_sd::LogLevel::warning, cli::Event::cluster_unusable, problem);
    auto configs = clusters_.configs(without_server(options_.config, options_.clusters));
    const bool is_change = !std::exchange(listed_, true) || configs != configs_;
    configs_ = std::move(configs);
    if (is_change && on_change_) on_change_();
}

}  // namespace discover
