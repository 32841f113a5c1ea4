#include "clusters/profile_clusters.hpp"

#include "cli/terminal_text.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstddef>
#include <utility>

namespace k8s_sd_program {

void ProfileClusters::start(const k8s_sd::InventoryConfig& config, const std::string& label,
                            Memory memory, OnChange on_change) {
    label_ = label;
    memory_ = std::move(memory);
    if (!memory_.warm_start.directory.empty()) {
        hub_ = hub_in_words(config);
        file_ = std::make_shared<const ClusterMemory>(
            k8s_sd::detail::SnapshotFiles::of(strand_, memory_.warm_start.directory),
            memory_.warm_start.max_age);
        timer_ = memory_.clock->make_timer(strand_);
        wait_for_hub(on_change);
    }
    inventory_.emplace(strand_, config,
                       [this, on_change = std::move(on_change)](const k8s_sd::InventoryDiff& diff) {
                           on_change(diff, take(diff));
                       });
    inventory_->async_run(boost::asio::detached);
}

void ProfileClusters::stop() {
    stopped_ = true;
    if (timer_) timer_->cancel();
    if (inventory_) inventory_->cancel();
}

void ProfileClusters::wait_for_hub(OnChange on_change) {
    const auto when = memory_.clock->now() + memory_.warm_start.server_timeout;
    timer_->expires_at(when, [this, on_change = std::move(on_change)] {
        boost::asio::post(
            memory_.worker, [this, file = file_, hub = hub_, strand = strand_, on_change] {
                auto loaded = std::make_shared<const ClusterMemory::Loaded>(file->load(hub));
                boost::asio::post(strand, [this, loaded, on_change] { use(*loaded, on_change); });
            });
    });
}

/// Uses the clusters of the file, unless the hub was faster.
void ProfileClusters::use(const ClusterMemory::Loaded& loaded, const OnChange& on_change) {
    if (stopped_ || known_) return;
    if (loaded.clusters.empty()) {
        if (!loaded.problem.empty()) memory_.warn("the clusters of before: " + loaded.problem);
        return;
    }
    remembered_ = "the hub has not been listed since the start; its clusters are those of " +
                  std::to_string(loaded.age.count()) + " s ago, without credentials";
    memory_.warn(remembered_);
    known_ = true;
    const k8s_sd::InventoryDiff diff{.full = true, .updated = loaded.clusters};
    clusters_.apply(diff);
    on_change(diff, {});
}

void ProfileClusters::save_later(k8s_sd::Duration pause) {
    timer_->expires_at(memory_.clock->now() + pause, [this] { save(); });
}

/// The age of the file is the time that the program has been down, so it is written again even
/// without changes.
void ProfileClusters::save() {
    saved_ = clusters_.all();
    boost::asio::post(memory_.worker,
                      [this, file = file_, hub = hub_, strand = strand_, clusters = saved_] {
                          const std::string problem = file->save(hub, clusters);
                          boost::asio::post(strand, [this, problem] {
                              if (!problem.empty() && problem != write_problem_)
                                  memory_.warn(problem);
                              write_problem_ = problem;
                          });
                      });
    save_later(memory_.warm_start.max_age / 4);
}

/// \returns the new problems, in words
std::vector<std::string> ProfileClusters::take(const k8s_sd::InventoryDiff& diff) {
    known_ = true;
    remembered_.clear();
    std::vector<std::string> problems = clusters_.apply(diff);
    if (file_ && !stopped_ && clusters_.all() != saved_) save();
    return problems;
}

std::string ProfileClusters::why_unknown() const {
    std::string text = "the ClusterProfiles of the hub have not been listed yet";
    const k8s_sd::InventoryStatus status = inventory_->status();
    for (const std::string& message : {status.profiles.message, status.secrets.message})
        if (!message.empty()) text += "; " + cli::printable(message, 2000);
    return text;
}

std::vector<k8s_sd::DiscoveryConfig> ProfileClusters::servers() const {
    k8s_sd::DiscoveryConfig config;
    if (!label_.empty()) config.cluster.label = label_;
    return clusters_.configs(config);
}

std::vector<k8s_sd::ServerHealth> ProfileClusters::unusable_servers() const {
    std::vector<k8s_sd::ServerHealth> servers;
    for (auto& [name, problem] : unusable()) {
        k8s_sd::ServerHealth& server = servers.emplace_back();
        server.cluster = name;
        server.error = make_error_code(k8s_sd::errc::not_found);
        server.message = problem;
        server.configs = server.unusable = 1;
    }
    return servers;
}

std::string ProfileClusters::trouble() const {
    if (!inventory_) return {};
    constexpr std::size_t max_lines = 50;
    const k8s_sd::InventoryStatus status = inventory_->status();
    std::string text = remembered_.empty() ? "" : remembered_ + "\n";
    if (!status.profiles.message.empty())
        text +=
            "ClusterProfiles of the hub: " + cli::printable(status.profiles.message, 2000) + "\n";
    if (!status.secrets.message.empty())
        text +=
            "Secrets of ClusterProfiles: " + cli::printable(status.secrets.message, 2000) + "\n";
    if (known_ && clusters_.size() == 0) text += "no ClusterProfile of the hub is selected\n";
    std::size_t problems = 0;
    for (const k8s_sd::InventoryCluster& cluster : clusters_.all()) {
        if (cluster.problem.empty() || ++problems > max_lines) continue;
        const bool is_usable = !cluster.api_server.url.empty();
        text += "cluster " + cli::printable(cli::name_of(cluster), 200) +
                (is_usable ? " has no present access, and its last one is used: "
                           : " cannot be discovered: ") +
                cli::printable(cluster.problem, 2000) + "\n";
    }
    if (problems > max_lines)
        text += std::to_string(problems - max_lines) + " more clusters have no access\n";
    return text;
}

std::string ProfileClusters::metrics() const {
    if (!inventory_) return {};
    const k8s_sd::InventoryStatus status = inventory_->status();
    const std::size_t bad = unusable().size();
    return to_text(ProfileMetrics{.usable = clusters_.size() - bad,
                                  .unusable = bad,
                                  .fails = status.profiles.error || status.secrets.error});
}

}  // namespace k8s_sd_program
