#pragma once

#include "cli/profile_options.hpp"
#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/objects/watcher_config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace discover {

/// The watches of k8s-sd --monitors, in all namespaces.
std::vector<k8s_sd::WatcherConfig> watches_of_monitors(const k8s_sd::DiscoveryConfig& server);
/// The watches of k8s-sd --cluster-profiles.
std::vector<k8s_sd::WatcherConfig> watches_of_profiles(const k8s_sd::DiscoveryConfig& hub,
                                                       const cli::ProfileOptions&);

/// Tries watches, one after the other.
class WatchCheck {
 public:
    using Done = std::function<void(bool all_fine)>;

    WatchCheck(boost::asio::any_io_executor, std::vector<k8s_sd::WatcherConfig>,
               k8s_sd::Duration step_timeout, k8s_sd::AccessCheckHandler on_line, Done done);
    ~WatchCheck();
    WatchCheck(const WatchCheck&) = delete;
    WatchCheck& operator=(const WatchCheck&) = delete;

 private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace discover
