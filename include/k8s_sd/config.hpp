#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/selector.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

// Every member of these aggregates has an initializer, so designated initializers may omit members
// without a warning.

/// How members of a fleet divide the objects of a configuration, see DividedDiscovery.
enum class DivideBy : std::uint8_t {
    nothing,     ///< each member discovers all of them
    objects,     ///< by the uid of each object; roles pod, node and service
    namespaces,  ///< each member has some of the namespaces; all roles but node
};
inline constexpr std::size_t divide_by_count = 3;  ///< number of values of DivideBy

/// The name of the enumerator.
constexpr std::string_view to_string(DivideBy by) noexcept {
    constexpr std::string_view names[divide_by_count] = {"nothing", "objects", "namespaces"};
    return names[static_cast<std::size_t>(by)];
}

/// How to divide the discovered objects among the members of a fleet. Must be the same in all
/// members.
struct Division {
    DivideBy by = DivideBy::nothing;  ///< see above
    /// With DivideBy::objects: number of equal parts assigned to members, a power of two, at most
    /// 4096. More parts make the shares of many members more equal, and requests longer. 256 are
    /// enough for about 30 members.
    unsigned slots = 256;
    auto operator<=>(const Division&) const = default;
};

/// Server-side filter for one kind, given as the role with this main kind. A selector of another
/// kind than that of the configuration's role does not select targets but restricts the source
/// objects of labels: with role pod, a node selector restricts the nodes available to
/// attach_metadata.node.
struct Selector {
    /// The role of the kind to filter.
    Role role = Role::pod;
    std::string label{};  ///< labelSelector, e.g. "app=web,tier in (a,b)"
    std::string field{};  ///< fieldSelector, e.g. "spec.nodeName=node-1"
    auto operator<=>(const Selector&) const = default;
};

/// Opt-in labels from related objects; each needs permission to list and watch its kind.
struct AttachMetadata {
    bool node = false;        ///< labels of the node (cluster-wide permission)
    bool namespace_ = false;  ///< labels of the namespace (cluster-wide permission)
    bool deployment = false;  ///< name of the Deployment, through ReplicaSets
    bool job = false;         ///< name of the Job controlling a pod
    bool cronjob = false;     ///< name of the CronJob, through Jobs
    auto operator<=>(const AttachMetadata&) const = default;
};

/// Whether to request compressed responses (gzip).
enum class Compression : std::uint8_t {
    automatic,  ///< if the network has proven slower than the server's compression
    always,
    never,
};

/// Whether configurations of one server with different selectors or namespaces share watches of a
/// superset of their objects. The client then evaluates the selectors.
enum class SelectorSharing : std::uint8_t {
    automatic,  ///< for at least two selections of a resource, unless they are narrow
    always,     ///< for any selection the client can evaluate, even a single or narrow one
    never,      ///< each configuration has watches with its own selectors and namespaces
};

/// Options of LIST and WATCH. Zero disables a timeout.
struct WatchOptions {
    unsigned page_size = 500;  ///< objects per page of the first LIST; 0: one page
    Duration connect_timeout = std::chrono::seconds(30);     ///< name lookup, TCP and TLS
    Duration response_timeout = std::chrono::seconds(75);    ///< maximum silence during a LIST
    Duration watch_timeout_min = std::chrono::seconds(300);  ///< timeoutSeconds is drawn from
    Duration watch_timeout_max = std::chrono::seconds(600);  ///< [min, max] for each watch
    Duration backoff_min = std::chrono::milliseconds(800);   ///< minimum wait after a failure
    /// Maximum of the exponential backoff. Jitter makes each wait longer, at most twice as long.
    Duration backoff_max = std::chrono::seconds(30);
    /// Interval of lists if the server allows this client to list, but not to watch.
    Duration poll_interval = std::chrono::seconds(60);
    /// Maximum random delay before the start of a watcher. Zero suits a single process; 10 s spread
    /// many processes with a simultaneous start, such as the pods of a DaemonSet. After a broken
    /// connection, or an early end by the server, a watch is reopened with this delay, too, limited
    /// to 5 s.
    Duration start_jitter{0};
    /// Reads the first list from the server's cache (resourceVersion=0): cheaper for servers before
    /// 1.31, but possibly older than the state already seen from another replica of the server.
    bool first_list_from_cache = false;
    /// Requests the list as the first events of a watch (KEP-3157, on by default since Kubernetes
    /// 1.34): saves memory of the server and a request. Without support by the server a LIST is
    /// sent instead, and the streamed list is tried again after a day, or once the server reports
    /// another version.
    bool watch_list = true;
    /// Compression of lists. Kubernetes 1.37 and later compress streamed lists, too. On other
    /// servers a compressed list is requested as a LIST, whatever `watch_list` says.
    Compression gzip = Compression::automatic;
    /// Lists once more for confirmation, before anything is removed, if a list lost more than half
    /// of the known objects.
    bool confirm_suspicious_lists = true;
    /// Requests Kubernetes' protobuf, decoded in a fraction of the time, and accepts JSON from
    /// servers without it. False: requests JSON.
    bool protobuf = true;
    /// Requests objects without metadata.managedFields (KEP-5958, expected in Kubernetes 1.38): a
    /// large part of their bytes, never read. Other servers ignore this. After a refusal it is left
    /// out for a day. False: never requested.
    bool drop_managed_fields = true;
    /// From this number of namespaces on, one watch of all namespaces replaces one watch for each,
    /// as long as the server allows it. Objects of other namespaces are dropped on arrival.
    /// Zero: never.
    std::size_t cluster_wide_from = 20;
    /// Limit of the targets of one object. An Endpoints object has a target for each pair of
    /// address and port, so a small object can declare very many. An object beyond the limit keeps
    /// its previous targets.
    std::size_t max_targets_per_object = 100'000;
    /// Sharing of watches between configurations with the same server and equal options.
    SelectorSharing share_selectors = SelectorSharing::automatic;
    /// Requests a share (DiscoveryConfig::share) from the server, with the parameter shardSelector
    /// (KEP-5866, off by default in Kubernetes 1.36 and 1.37). A server without support sends
    /// everything; after a refusal everything is requested for an hour. False: never sent.
    bool server_side_shares = true;
    std::size_t max_object_bytes = std::size_t{16} << 20;  ///< retained part of an object
    std::size_t max_objects = 1'000'000;                   ///< objects of one URL
    auto operator<=>(const WatchOptions&) const = default;
};

/// The name of an API server for its targets, in a process with several clusters: a label common to
/// all targets of the configuration, visible to relabelling rules.
struct ClusterName {
    std::string name{};  ///< value of the label; empty: no label
    /// Name of the label. Neither `job`, `instance` nor a label of the dialects; a name that begins
    /// with `__meta_` exists during relabelling only.
    std::string label = "cluster";
    auto operator<=>(const ClusterName&) const = default;
};

/// One discovery configuration; one entry of `kubernetes_sd_configs`.
/// The server is found in exactly one way: `api_server.url`, else `kubeconfig_file`, else the
/// service account of the program's pod ("in-cluster").
struct DiscoveryConfig {
    /// The kind of targets to discover.
    Role role = Role::pod;
    /// The server, with credentials. An empty URL: see above.
    ApiServerConfig api_server{};
    /// A kubeconfig, or several separated by colons, merged as for $KUBECONFIG.
    std::string kubeconfig_file{};
    std::string kubeconfig_context{};  ///< empty: current-context
    /// A name for the server, as a label of its targets and in status and metrics. Configurations
    /// with different names share watches, but not target groups.
    ClusterName cluster{};
    std::vector<std::string> namespaces{};  ///< empty, or with an empty element: all
    /// Adds the namespace of the program's pod. LabelDialect::victoriametrics: used only if
    /// `namespaces` is empty.
    bool own_namespace = false;
    /// Server-side filters; see Selector.
    std::vector<Selector> selectors{};
    /// The share of the role's objects; for roles pod, node and service only. Objects used for
    /// attached metadata are watched in full. Objects outside the share are dropped if the
    /// server sends them.
    ObjectShare share{};
    /// How members of a fleet divide the discovered objects; by itself it affects only
    /// TargetGroup::share_key(). See DividedDiscovery.
    Division division{};
    /// Labels of related objects.
    AttachMetadata attach_metadata{};
    /// The dialect of the labels and of the configuration's rules.
    LabelDialect dialect = LabelDialect::prometheus;
    /// The version of Prometheus with these targets and labels; LabelDialect::victoriametrics has
    /// no versions. It decides about targets and labels, not about options: those of later versions
    /// are accepted with each.
    PrometheusVersion prometheus_version = PrometheusVersion::v3_5;
    /// Minimum time between two calls of the callback; zero: deliver at once. Does not affect the
    /// sharing of watches and groups.
    Duration min_update_interval{0};
    /// Maximum number of groups in one diff of a Discoverer; zero: no limit. A larger diff is
    /// delivered in parts, one call after the other without min_update_interval, see
    /// TargetGroupDiff::more. Other handlers of the executor run in between. A DiscoveryManager
    /// ignores the limit. Does not affect the sharing of watches and groups.
    std::size_t max_groups_per_diff = 0;
    /// Options of LIST and WATCH.
    WatchOptions watch{};
    auto operator<=>(const DiscoveryConfig&) const = default;
};

/// Performs all checks possible without reading a file. Thread-safe.
/// \throws ConfigError with the field and the allowed values. Rules: Prometheus' documentation of
/// kubernetes_sd_config and, for LabelDialect::victoriametrics, vmagent's laxer ones: several
/// selectors of one role, selectors of unwatched roles, and own_namespace with an explicit server.
K8S_SD_EXPORT void validate(const DiscoveryConfig&);

/// The names of the contexts in a kubeconfig, or in several separated by colons, merged as for
/// $KUBECONFIG; sorted. Blocks on files. Thread-safe.
/// \throws ConfigError also for unreadable files
K8S_SD_EXPORT std::vector<std::string> kubeconfig_contexts(const std::string& kubeconfig_file);

/// A configuration for each of these contexts of `config.kubeconfig_file`, with the context as
/// `cluster.name`. Reads no file. Thread-safe.
/// \param contexts  without repetitions
/// \throws ConfigError without a kubeconfig, for a name given twice, and if `config` has a context
///         or a name of its own
K8S_SD_EXPORT std::vector<DiscoveryConfig> configs_of_contexts(
    const DiscoveryConfig& config, const std::vector<std::string>& contexts);

/// The location of in-cluster settings, replaceable for tests.
struct InClusterFiles {
    /// The directory with the files `token`, `ca.crt` and `namespace`.
    std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// The server and the requested objects. `api_server.url` is not empty and in canonical form
/// (lower-case scheme and host, no default port, no trailing slash); files of credentials and
/// certificates are kept by name. Compared by value; never printed.
struct WatchScope {
    /// The server, resolved.
    ApiServerConfig api_server{};
    std::vector<std::string> namespaces{};  ///< sorted, unique; empty: all
    /// Sorted by role, one for each role of the configuration's watches; several selectors of a
    /// role are joined with commas in the order of the configuration.
    std::vector<Selector> selectors{};
    /// See DiscoveryConfig::share.
    ObjectShare share{};
    Role share_role = Role::pod;  ///< role of the share's objects; Role::pod without a share
    /// See DiscoveryConfig::watch.
    WatchOptions watch{};
    auto operator<=>(const WatchScope&) const = default;
};

/// The presentation of watched objects: the settings with an effect on labels.
struct GroupView {
    LabelDialect dialect = LabelDialect::prometheus;  ///< see DiscoveryConfig::dialect
    /// See DiscoveryConfig::prometheus_version.
    PrometheusVersion prometheus_version = PrometheusVersion::v3_5;
    AttachMetadata attach_metadata{};  ///< see DiscoveryConfig::attach_metadata
    Division division{};               ///< see DiscoveryConfig::division
    ClusterName cluster{};             ///< see DiscoveryConfig::cluster
    auto operator<=>(const GroupView&) const = default;
};

/// A configuration with its server resolved, without the role and the options of delivery.
/// Discoverers with equal values share target groups; to share watches, the same server and
/// WatchOptions suffice.
struct ResolvedConfig {
    WatchScope scope{};  ///< the watched objects
    GroupView view{};    ///< the presentation of these objects
    auto operator<=>(const ResolvedConfig&) const = default;
};

/// Validates and resolves: reads the kubeconfig or the in-cluster environment
/// (KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT) and the own namespace. Blocks on files.
/// Thread-safe as long as nothing changes the process environment.
/// \throws ConfigError also for unreadable files
K8S_SD_EXPORT ResolvedConfig resolve(const DiscoveryConfig&, const InClusterFiles& = {});

/// How per_node() treats a configuration with cluster-wide watches.
enum class ClusterWide : std::uint8_t {
    refuse,
    allow,  ///< accepts it unchanged
};

/// The configuration for one of many agents, one on each node, as in a DaemonSet: restricted to the
/// objects of the node, selected by an index of the server. A role without such a restriction is
/// refused: its watches on every node would send every change of the cluster to every node, and
/// such load has taken down control planes. Thread-safe.
///
/// Role pod gets the field selector `spec.nodeName`; role node and the nodes of
/// attach_metadata.node get `metadata.name`. Lists come from the server's cache, and begin within
/// 10 s unless `watch.start_jitter` says otherwise; watches are not shared with wider ones.
/// \param node  the name of the node: the downward API's `spec.nodeName`
/// \throws ConfigError for an empty node, and for a cluster-wide watch, with the remedy
K8S_SD_EXPORT DiscoveryConfig per_node(DiscoveryConfig config, std::string_view node,
                                       ClusterWide = ClusterWide::refuse);

/// Finds the API server for a program without an explicit configuration. A configuration with
/// `api_server.url` or `kubeconfig_file` is left unchanged. Otherwise the first existing source is
/// used: the files of $KUBECONFIG, the service account of the program's pod, ~/.kube/config. With
/// `kubeconfig_context` only kubeconfigs are considered. Checks only whether files exist;
/// resolve() reads them. Thread-safe as long as nothing changes the process environment.
/// \throws ConfigError with the list of tried sources if there is none; if an option needs a URL
///         and the lookup found a kubeconfig; also if $KUBECONFIG names files and none of them
///         exists: kubectl tries no other file then, either
K8S_SD_EXPORT void find_api_server(DiscoveryConfig&, const InClusterFiles& = {});

}  // namespace k8s_sd::inline v0
