#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/discovery/provider_config.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <compare>
#include <memory>
#include <variant>

namespace k8s_sd::inline v0::detail {

/// Where the target groups of a provider come from.
class TargetFeed {
 public:
    TargetFeed() = default;
    TargetFeed(const TargetFeed&) = delete;
    TargetFeed& operator=(const TargetFeed&) = delete;
    /// The observer is told nothing more once the strand of the feed has come to it.
    virtual ~TargetFeed() = default;
    /// From now on the observer is told, on a strand; never from inside this call. Further calls do
    /// nothing.
    virtual void start(std::weak_ptr<GroupWatcher::Observer>) = 0;
    virtual DiscovererStatus status() const = 0;
    /// A configuration that it serves was applied again: what was refused may be allowed now.
    virtual void look_again() {}
};

/// Target groups of Kubernetes.
struct KubernetesTargets {
    ResolvedConfig config;
    Role role = Role::pod;
    auto operator<=>(const KubernetesTargets&) const = default;
};

/// A ProviderConfig that was checked and made complete.
using ResolvedProvider =
    std::variant<KubernetesTargets, TargetSource, StaticConfigs, FileSdConfig, HttpSdConfig>;

/// Equal ones are the same provider. See configured_server().
ResolvedProvider provider_key(const ResolvedProvider&);

/// Reads files for configurations of Kubernetes. \throws ConfigError
ResolvedProvider resolve_provider(const ProviderConfig&, const InClusterFiles&);

/// Does no I/O before it is started.
/// \param warm_start  of targets of Kubernetes \throws ConfigError
std::unique_ptr<TargetFeed> make_feed(const asio::any_io_executor&, const ResolvedProvider&,
                                      const WarmStart& warm_start);

}  // namespace k8s_sd::inline v0::detail
