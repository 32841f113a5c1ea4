#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/dialect.hpp"
#include "k8s_sd/division.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/object_share.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

// Every member of these aggregates has an initialiser so that designated initialisers that leave
// some out do not warn.

/// Server-side filter for one kind. `role` names the kind (a role whose main kind it is).
/// A selector of another kind than that of the configuration's role does not choose targets, it
/// restricts the objects that labels are taken from: with role pod, a node selector restricts the
/// nodes that attach_metadata.node can attach.
struct Selector {
    /// The kind to filter: that of the role.
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
    bool job = false;         ///< name of the Job that controls a pod
    bool cronjob = false;     ///< name of the CronJob, through Jobs
    auto operator<=>(const AttachMetadata&) const = default;
};

/// Whether to ask the server for compressed answers (gzip).
enum class Compression : std::uint8_t {
    automatic,  ///< where the network has proven slower than a server compresses
    always,
    never,
};

/// Whether configurations of one server that differ in selectors or namespaces share watches of
/// more than each of them wants. Selectors are evaluated here then.
enum class SelectorSharing : std::uint8_t {
    automatic,  ///< where at least two selections of a resource are wanted, unless they are narrow
    always,     ///< wherever they can be evaluated here: one selection is enough, or a narrow one
    never,      ///< each has watches with its own selectors and namespaces
};

/// How to list and watch. Zero disables a timeout.
struct WatchOptions {
    unsigned page_size = 500;  ///< objects a page of the first LIST; 0: one page
    Duration connect_timeout = std::chrono::seconds(30);     ///< name lookup, TCP and TLS
    Duration response_timeout = std::chrono::seconds(75);    ///< silence allowed in a LIST
    Duration watch_timeout_min = std::chrono::seconds(300);  ///< timeoutSeconds is drawn from
    Duration watch_timeout_max = std::chrono::seconds(600);  ///< [min, max] for each watch
    Duration backoff_min = std::chrono::milliseconds(800);   ///< least wait after a failure
    /// The waits double up to this one. Jitter makes each longer, at most twice as long.
    Duration backoff_max = std::chrono::seconds(30);
    /// Between two lists where the server lets this client list, but not watch.
    Duration poll_interval = std::chrono::seconds(60);
    /// A watcher begins after a random part of this. Zero suits a single process; where many
    /// start at once, as a DaemonSet does, 10 s spread them. A watch that the server ends before
    /// its time, or whose connection breaks, is opened again after a random part of it, too, of at
    /// most 5 s.
    Duration start_jitter{0};
    /// Lets the first list come from the server's cache (resourceVersion=0): cheaper for servers
    /// before 1.31, but it may be older than what another replica of the server has shown.
    bool first_list_from_cache = false;
    /// Lists come as the first events of a watch (KEP-3157, on by default from Kubernetes 1.34 on),
    /// which spares the server's memory and a request. A server that cannot do that is sent a LIST
    /// instead, and is not asked again for a day.
    bool watch_list = true;
    /// Of lists. One that is asked for compressed comes as a LIST, whatever `watch_list` says.
    Compression gzip = Compression::automatic;
    /// A list that lost more than half of the objects that were known is confirmed by a second
    /// one before anything is removed.
    bool confirm_shrunken_lists = true;
    /// Asks for Kubernetes' protobuf, which takes a fraction of the time to decode, and takes JSON
    /// where the server has no other. False: asks for JSON.
    bool protobuf = true;
    /// From this number of namespaces on, one watch of all namespaces replaces those of each, as
    /// long as the server allows it. Objects of other namespaces are dropped as they arrive.
    /// Zero: never.
    std::size_t cluster_wide_from = 20;
    /// An Endpoints object has a target for each pair of address and port, so a small object can
    /// ask for very many. An object that exceeds this keeps the targets it had.
    std::size_t max_targets_per_object = 100'000;
    /// Configurations of one server and with equal options share watches in this way.
    SelectorSharing share_selectors = SelectorSharing::automatic;
    /// A share (DiscoveryConfig::share) is asked of the server, with the parameter shardSelector
    /// (KEP-5866, off by default in Kubernetes 1.36 and 1.37). A server that does not know it sends
    /// everything; one that refuses it is asked for everything for an hour. False: it is not sent.
    bool server_side_shares = true;
    std::size_t max_object_bytes = std::size_t{16} << 20;  ///< of the retained part of an object
    std::size_t max_objects = 1'000'000;                   ///< that one URL may have
    auto operator<=>(const WatchOptions&) const = default;
};

/// One discovery configuration; one entry of `kubernetes_sd_configs`.
/// Exactly one way to the server is used: `api_server.url`, else `kubeconfig_file`, else the
/// service account of the pod the program runs in ("in-cluster").
struct DiscoveryConfig {
    /// What to discover.
    Role role = Role::pod;
    /// The server, with credentials. An empty URL: see above.
    ApiServerConfig api_server{};
    /// A kubeconfig, or several separated by colons that are merged as $KUBECONFIG is.
    std::string kubeconfig_file{};
    std::string kubeconfig_context{};       ///< empty: current-context
    std::vector<std::string> namespaces{};  ///< empty, or one of them empty: all
    /// Adds the namespace that the program's pod runs in. LabelDialect::victoriametrics: uses it
    /// only where `namespaces` is empty.
    bool own_namespace = false;
    /// Filters of the server; see Selector.
    std::vector<Selector> selectors{};
    /// Of the objects of the role; with roles pod, node and service only. Those that metadata is
    /// attached from are watched in full. What is outside is dropped, also if the server sends it.
    ObjectShare share{};
    /// How members of a fleet divide what this discovers; of its own it changes nothing but
    /// TargetGroup::share_key(). See DividedDiscovery.
    Division division{};
    /// Labels of related objects.
    AttachMetadata attach_metadata{};
    /// Whose labels to make, and whose rules the configuration follows.
    LabelDialect dialect = LabelDialect::prometheus;
    /// Least time between two calls of the callback; zero: deliver at once. Not part of what
    /// decides about sharing.
    Duration min_update_interval{0};
    /// How to list and watch.
    WatchOptions watch{};
    auto operator<=>(const DiscoveryConfig&) const = default;
};

/// Checks everything that can be checked without reading a file. Thread-safe.
/// \throws ConfigError naming the field and what is allowed. Rules: Prometheus' documentation of
/// kubernetes_sd_config and, for LabelDialect::victoriametrics, vmagent's laxer ones: several
/// selectors of one role, selectors of roles that are not watched, and own_namespace with an
/// explicit server.
K8S_SD_EXPORT void validate(const DiscoveryConfig&);

/// Where in-cluster settings come from. Tests replace it.
struct InClusterFiles {
    /// Holds the files `token`, `ca.crt` and `namespace`.
    std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// What is watched: the server, and what it is asked for. `api_server.url` is not empty and in
/// canonical form (lower-case scheme and host, no default port, no trailing slash); files of
/// credentials and certificates stay names. Compared by value; never printed.
struct WatchScope {
    /// The server, resolved.
    ApiServerConfig api_server{};
    std::vector<std::string> namespaces{};  ///< sorted, unique; empty: all
    /// Sorted by role, one per role (several are joined with commas in the order of the
    /// configuration), only of roles that the configuration watches.
    std::vector<Selector> selectors{};
    /// See DiscoveryConfig::share.
    ObjectShare share{};
    Role share_role = Role::pod;  ///< whose objects it is of; without a share Role::pod
    /// See DiscoveryConfig::watch.
    WatchOptions watch{};
    auto operator<=>(const WatchScope&) const = default;
};

/// How it is seen: what decides about labels besides the objects.
struct GroupView {
    LabelDialect dialect = LabelDialect::prometheus;  ///< see DiscoveryConfig::dialect
    AttachMetadata attach_metadata{};                 ///< see DiscoveryConfig::attach_metadata
    Division division{};                              ///< see DiscoveryConfig::division
    auto operator<=>(const GroupView&) const = default;
};

/// A configuration without the role and the update interval, with the server found: what two
/// discoverers must have in common to share target groups. To share watches, the same server and
/// WatchOptions will do.
struct ResolvedConfig {
    WatchScope scope{};  ///< what is watched
    GroupView view{};    ///< how it is seen
    auto operator<=>(const ResolvedConfig&) const = default;
};

/// Validates and resolves: reads the kubeconfig or the in-cluster environment
/// (KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT) and the own namespace. Blocks on files.
/// Thread-safe as long as nothing changes the process environment.
/// \throws ConfigError also for files that cannot be read
K8S_SD_EXPORT ResolvedConfig resolve(const DiscoveryConfig&, const InClusterFiles& = {});

}  // namespace k8s_sd::inline v0
