#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <algorithm>
#include <compare>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace k8s_sd::inline v0::detail {

using StaticConfigs = std::vector<StaticConfig>;

/// The configuration of one provider. The alternatives are in the order of TargetOrigin.
using ProviderConfig =
    std::variant<DiscoveryConfig, TargetSource, StaticConfigs, FileSdConfig, HttpSdConfig>;

inline TargetOrigin origin_of(const ProviderConfig& config) noexcept {
    return static_cast<TargetOrigin>(config.index());
}

/// Drops the settings of the job.
inline ProviderConfig provider_config(DiscoveryConfig config) {
    // Keep negative intervals: validation rejects them later.
    config.min_update_interval = std::min(config.min_update_interval, Duration{});
    config.max_groups_per_diff = 0;
    return config;
}

/// The source of a provider's target groups.
class TargetFeed {
 public:
    TargetFeed() = default;
    TargetFeed(const TargetFeed&) = delete;
    TargetFeed& operator=(const TargetFeed&) = delete;
    /// Stops asynchronously: the strand of the feed may still notify the observer until it stops.
    virtual ~TargetFeed() = default;
    /// Starts to notify the observer, on a strand, never from inside this call. Further calls do
    /// nothing.
    virtual void start(std::weak_ptr<GroupWatcher::Observer>) = 0;
    virtual DiscovererStatus status() const = 0;
    /// One of its configurations was applied again: a missing permission may be granted now.
    virtual void recheck() {}
};

/// Target groups of Kubernetes.
struct KubernetesTargets {
    ResolvedConfig config;
    Role role = Role::pod;
    auto operator<=>(const KubernetesTargets&) const = default;
};

/// A validated and resolved ProviderConfig.
using ResolvedProvider =
    std::variant<KubernetesTargets, TargetSource, StaticConfigs, FileSdConfig, HttpSdConfig>;

/// Equal keys mean the same provider. See configured_server().
ResolvedProvider provider_key(const ResolvedProvider&);

/// Reads files for configurations of Kubernetes. \throws ConfigError
ResolvedProvider resolve_provider(const ProviderConfig&, const InClusterFiles&);

/// Does no I/O before it is started.
/// \param warm_start  for targets of Kubernetes \throws ConfigError
std::unique_ptr<TargetFeed> make_feed(const asio::any_io_executor&, const ResolvedProvider&,
                                      const WarmStart& warm_start);

}  // namespace k8s_sd::inline v0::detail
