#pragma once

#include "collectors/allocation_history.hpp"
#include "collectors/collector_config.hpp"
#include "collectors/collector_pods.hpp"
#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "lists/list_body.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The collectors, and the allocation of targets to them.
struct TargetAllocatorOptions {
    unsigned collectors = 0;            ///< a fixed number of them; 0: see `selector`
    std::string prefix = "collector-";  ///< of their names, before a number from 0
    std::string selector{};             ///< label selector of the collectors' pods
    std::string ns{};                   ///< their namespace; empty: that of the program's own pod
    Collectors::Options allocation{};
    std::chrono::nanoseconds grace = std::chrono::seconds(30);      ///< see CollectorPods
    std::chrono::nanoseconds handover{};                            ///< see AllocationHistory
    std::shared_ptr<k8s_sd::Clock> clock = k8s_sd::system_clock();  ///< for both durations
    /// The clock of the times in pods.
    std::function<std::chrono::system_clock::time_point()> date = std::chrono::system_clock::now;
    bool show_secrets = false;  ///< to all clients, not only to those with a verified certificate

    bool enabled() const noexcept { return collectors > 0 || !selector.empty(); }
};

/// The state of OpenTelemetry's Target Allocator besides the targets: the collectors and their
/// scrape configuration. Used on one strand.
class TargetAllocator {
 public:
    TargetAllocator(const boost::asio::any_io_executor& strand, TargetAllocatorOptions);

    /// Starts watching for collectors. \param server  the server of their pods
    /// \throws k8s_sd::ConfigError
    void start(const k8s_sd::DiscoveryConfig& server);
    void stop();
    /// Changes of the pods, from the watch started by start().
    void on_pods(const k8s_sd::ObjectDiff<k8s_sd::api::Pod>&);

    const TargetAllocatorOptions& options() const noexcept { return options_; }
    /// Null: unknown so far.
    const AllocationViewPtr& view() const noexcept { return history_.view(); }
    /// See AllocationHistory.
    const std::set<std::string, std::less<>>& idle() const noexcept { return history_.idle(); }
    bool knows(std::string_view collector) const noexcept { return history_.knows(collector); }
    /// Why the collectors are unknown, in words.
    std::string trouble() const;

    /// Sets the scrape configurations of collectors. \returns the jobs and keys left out, in words
    std::vector<std::string> apply(const k8s_sd::ScrapeConfigFile&,
                                   const std::vector<k8s_sd::MonitorJobPtr>& monitors = {});
    /// The configurations of all jobs, as JSON. Null before apply().
    /// \param secrets  whether to include secrets
    const ListBodyPtr& scrape_configs(bool secrets) const noexcept {
        return secrets || options_.show_secrets ? unmasked_ : masked_;
    }

 private:
    void update();

    const TargetAllocatorOptions options_;
    boost::asio::any_io_executor strand_;
    AllocationHistory history_;
    CollectorPods pods_;
    std::optional<k8s_sd::Watcher<k8s_sd::api::Pod>> watcher_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    MonitorConfigs monitors_;
    ListBodyPtr masked_;
    ListBodyPtr unmasked_;
};

}  // namespace k8s_sd_program
