#pragma once

#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/run_initiation.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// Configuration of a ClusterInventory. The hub, the cluster with the ClusterProfiles, is found as
/// for DiscoveryConfig.
struct InventoryConfig {
    ApiServerConfig api_server{};           ///< the hub, with credentials
    std::string kubeconfig_file{};          ///< see DiscoveryConfig
    std::string kubeconfig_context{};       ///< empty: current-context
    std::vector<std::string> namespaces{};  ///< of the ClusterProfiles; empty: all
    /// Selects ClusterProfiles, e.g. "x-k8s.io/cluster-manager=fleet".
    std::string label_selector{};
    /// Whether Secrets with kubeconfigs are read: those with the label `x-k8s.io/cluster-profile`,
    /// in `secret_namespaces`. Needs permission to list and watch Secrets there.
    bool secrets = true;
    /// Empty: only Secrets in the namespace of a ClusterProfile fit it. Else: writers of Secrets in
    /// these namespaces choose the servers of all ClusterProfiles. A Secret fits the ClusterProfile
    /// in the namespace of its label `x-k8s.io/cluster-profile-namespace`; without the label, that
    /// of any namespace.
    std::vector<std::string> secret_namespaces{};
    /// Required value of the label `x-k8s.io/cluster-inventory-consumer` of Secrets; empty: any.
    std::string consumer{};
    /// Credentials for the access providers of ClusterProfiles (KEP-5339), by name, such as
    /// "google" with an ExecConfig. Programs run only if they are configured here: a ClusterProfile
    /// names none. ExecConfig::provide_cluster_info passes its server and extension.
    std::map<std::string, AuthConfig> access_providers{};
    /// Options of LIST and WATCH on the hub. `max_objects` limits the number of clusters.
    WatchOptions watch = {.max_object_bytes = std::size_t{128} << 10, .max_objects = 1'000};
};

/// A cluster of the inventory.
struct InventoryCluster {
    std::string ns{};            ///< namespace of the ClusterProfile
    std::string name{};          ///< name of the ClusterProfile
    std::string uid{};           ///< UID of the ClusterProfile; a recreated one has another
    std::string display_name{};  ///< spec.displayName
    std::string manager{};       ///< name of the cluster manager
    /// The first 100 of status.properties, such as "topology.kubernetes.io/region".
    std::map<std::string, std::string> properties{};
    /// Whether the condition ControlPlaneHealthy is not False. Information for the host: watches of
    /// an unhealthy server wait and retry anyway.
    bool healthy = true;
    /// The server with its credentials. An empty URL: it was never known, see `problem`.
    ApiServerConfig api_server{};
    /// Why there is no access, or no present one, and the remedy; empty: none. `api_server` is the
    /// last usable one of this UID. Without secrets.
    std::string problem{};
    bool operator==(const InventoryCluster&) const = default;
};

/// The changes since the previous diff. A cluster recreated in between is in `updated`, with
/// another UID.
struct InventoryDiff {
    bool full = false;                        ///< the first diff: all clusters are in `updated`
    std::vector<InventoryCluster> updated{};  ///< new clusters, and clusters with a change
    std::vector<InventoryCluster> removed{};  ///< without a ClusterProfile now; last state
};

/// The status of a ClusterInventory.
struct InventoryStatus {
    bool synced = false;  ///< the first diff has been or will be delivered
    /// Watches of ClusterProfiles, as of the last change of their errors: counts and times are
    /// older.
    DiscovererStatus profiles{};
    DiscovererStatus secrets{};  ///< the same for Secrets, if they are read
    std::size_t clusters = 0;    ///< all clusters
    std::size_t usable = 0;      ///< clusters with a server
};

/// Experimental: its interface and rules may change with the cluster inventory API, which is alpha.
///
/// Watches the ClusterProfiles of a hub (multicluster.x-k8s.io, KEP-4322) and notifies the host of
/// clusters that appear, change and disappear, with the access to their API servers: from a Secret
/// with a kubeconfig, else from an access provider (`status.accessProviders`, or
/// `credentialProviders` in older versions) with credentials in InventoryConfig::access_providers.
/// docs/guide/several-clusters.md has the rules. configs_of_clusters() makes configurations for
/// DiscoveryManager::apply_config().
///
/// A kubeconfig of a Secret is not trusted to name programs or files of this machine: it is refused
/// then.
///
/// \par Callback
/// `void(const InventoryDiff&)`, called on the executor given at construction, as if by post: never
/// from inside a member function, never concurrently with itself. The first call comes after
/// ClusterProfiles and Secrets have been listed. It does not wait for Secrets if a permission is
/// missing, nor longer than 30 seconds. It has `full == true` and all clusters, possibly none.
/// Later calls have true changes only. While the callback runs, changes are coalesced. After
/// cancel() has returned, at most one call already begun is still running. Errors of the network,
/// the hub or a permission never remove clusters. An exception
/// leaves through the function running the context; the diff counts as delivered.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the callback.
/// It must be destroyed before its execution context.
///
/// \par Thread safety
/// Distinct objects: safe. One object: all member functions may be called from any thread; moving
/// and destroying must not overlap with other calls.
class K8S_SD_EXPORT ClusterInventory {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(const InventoryDiff&)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \throws ConfigError with the field or file and the allowed values; for an empty executor or
    ///         callback
    ClusterInventory(executor_type, const InventoryConfig&, Callback);
    ClusterInventory(ClusterInventory&&) noexcept = default;
    ClusterInventory& operator=(ClusterInventory&&) noexcept;
    ~ClusterInventory();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Runs until cancelled. Failures do not end it: see status().
    /// \par Handler signature  `void(error_code)`
    /// \par Completion         asio::error::operation_aborted once cancelled;
    ///                         asio::error::already_started if already running
    /// \par Executor           the handler's associated one, else get_executor(); as if by post
    /// \par Per-operation cancellation  terminal and partial: the same as cancel()
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &ClusterInventory::run), token);
    }

    /// Stops it; idempotent, prompt. A cancelled inventory cannot be run again.
    void cancel() noexcept;

    /// All clusters by namespace and name, possibly ahead of the delivered diffs; empty before the
    /// first diff is ready.
    std::vector<InventoryCluster> clusters() const;
    /// A copy of the current status, possibly ahead of the delivered diffs.
    InventoryStatus status() const;

 private:
    class Impl;
    using Handler = asio::any_completion_handler<void(error_code)>;
    using Initiate = detail::RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, Handler);

    std::shared_ptr<Impl> impl_;
};

/// A configuration for each cluster with a server, for DiscoveryManager::apply_config(): `config`
/// with this server, and with "namespace/name" of the ClusterProfile as `cluster.name`.
/// Thread-safe.
/// \param config  without a server and a name
/// \throws ConfigError for a configuration with one
K8S_SD_EXPORT std::vector<DiscoveryConfig> configs_of_clusters(
    const DiscoveryConfig& config, const std::vector<InventoryCluster>& clusters);

/// The access an inventory needs on the hub.
/// \throws ConfigError as the constructor
K8S_SD_EXPORT std::vector<AccessRule> required_access(const InventoryConfig&);

}  // namespace k8s_sd::inline v0
