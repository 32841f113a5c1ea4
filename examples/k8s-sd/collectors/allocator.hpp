#pragma once

#include "collectors/allocation_history.hpp"
#include "collectors/collector_pods.hpp"
#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/clock.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/watcher.hpp"
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

namespace bridge {

/// Who the collectors are, and how targets are allocated to them.
struct AllocatorOptions {
    unsigned collectors = 0;            ///< a fixed number of them; 0: see `selector`
    std::string prefix = "collector-";  ///< of their names, before a number from 0
    std::string selector{};             ///< of the pods that they are
    std::string ns{};                   ///< of these pods; empty: that of the program's own pod
    Collectors::Options allocation{};
    std::chrono::nanoseconds grace = std::chrono::seconds(30);      ///< see CollectorPods
    std::chrono::nanoseconds handover{};                            ///< see AllocationHistory
    std::shared_ptr<k8s_sd::Clock> clock = k8s_sd::system_clock();  ///< of these two
    /// What pods tell times by.
    std::function<std::chrono::system_clock::time_point()> date = std::chrono::system_clock::now;
    bool show_secrets = false;  ///< to everybody, not only to those with a verified certificate

    bool enabled() const noexcept { return collectors > 0 || !selector.empty(); }
};

/// What OpenTelemetry's Target Allocator knows besides the targets: the collectors, and the
/// configuration that they scrape with. For one strand.
class Allocator {
 public:
    Allocator(const boost::asio::any_io_executor& strand, AllocatorOptions);

    /// Begins to look for collectors. \param server  where their pods are
    /// \throws k8s_sd::ConfigError
    void start(const k8s_sd::DiscoveryConfig& server);
    void stop();
    /// What has become of their pods: by the watch that start() begins.
    void on_pods(const k8s_sd::ObjectDiff<k8s_sd::api::Pod>&);

    const AllocatorOptions& options() const noexcept { return options_; }
    /// Null: not known yet.
    const AllocationViewPtr& view() const noexcept { return history_.view(); }
    /// See AllocationHistory.
    const std::set<std::string, std::less<>>& idle() const noexcept { return history_.idle(); }
    bool knows(std::string_view collector) const noexcept { return history_.knows(collector); }
    /// Why they are not known, in words.
    std::string trouble() const;

    /// Makes the scrape configurations of collectors. \returns jobs and keys that they do not get,
    /// in words
    std::vector<std::string> apply(const k8s_sd::ScrapeConfigFile&);
    /// Of all jobs, as JSON. Null before apply().
    /// \param secrets  whether to show them
    const ListBodyPtr& scrape_configs(bool secrets) const noexcept {
        return secrets || options_.show_secrets ? unmasked_ : masked_;
    }

 private:
    void update();

    const AllocatorOptions options_;
    boost::asio::any_io_executor strand_;
    AllocationHistory history_;
    CollectorPods pods_;
    std::optional<k8s_sd::Watcher<k8s_sd::api::Pod>> watcher_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    ListBodyPtr masked_;
    ListBodyPtr unmasked_;
};

}  // namespace bridge
