#pragma once

#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/run_initiation.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/json/value.hpp>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// The kinds of owners: of prometheus-operator, then of VictoriaMetrics' operator.
enum class MonitorOwnerKind : std::uint8_t { prometheus, prometheus_agent, vm_agent, vm_single };

/// All of them.
inline constexpr std::array<MonitorOwnerKind, 4> monitor_owner_kinds{
    MonitorOwnerKind::prometheus, MonitorOwnerKind::prometheus_agent, MonitorOwnerKind::vm_agent,
    MonitorOwnerKind::vm_single};

/// "Prometheus": the kind of the object in the API.
constexpr std::string_view to_string(MonitorOwnerKind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"Prometheus", "PrometheusAgent", "VMAgent",
                                                    "VMSingle"};
    return names[static_cast<std::size_t>(kind)];
}

/// An owner in the cluster, followed while it changes.
struct MonitorOwnerObject {
    std::string object_namespace{};                        ///< namespace of the object
    std::string name{};                                    ///< name of the object
    MonitorOwnerKind kind = MonitorOwnerKind::prometheus;  ///< kind of the object
    bool operator==(const MonitorOwnerObject&) const = default;
};

/// An object of one of these kinds outside of the cluster, see parse_monitor_owner().
struct MonitorOwnerDocument {
    boost::json::value object{};      ///< as the API server would send it
    std::string default_namespace{};  ///< for an object without `metadata.namespace`
    bool operator==(const MonitorOwnerDocument&) const = default;
};

/// Which monitors to select, and how to make jobs of them.
using MonitorOwnerInput = std::variant<MonitorOwner, MonitorOwnerDocument, MonitorOwnerObject>;

/// Reads an object of a MonitorOwnerKind from YAML or JSON. Without `kind` it is a Prometheus. Its
/// content is validated by the MonitorSource, since it may refer to Secrets.
/// \throws ConfigError for text other than one mapping
K8S_SD_EXPORT MonitorOwnerDocument parse_monitor_owner(std::string_view yaml,
                                                       const std::string& file_name = "<yaml>",
                                                       std::string default_namespace = "default");

/// Limits of a MonitorSource. A monitor beyond one of them is refused.
struct MonitorSourceLimits {
    /// Secrets and ConfigMaps that are watched. References are admitted in the order of the
    /// monitors: by kind, then by namespace and name.
    std::size_t references = 10'000;
    std::size_t references_per_monitor = 100;  ///< Secrets and ConfigMaps of one monitor
    /// Size of one value of a Secret or ConfigMap, in bytes. Larger ones count as absent.
    std::size_t value_bytes = std::size_t{512} << 10;
    std::size_t jobs_per_monitor = 1'000;  ///< endpoints of one monitor
    /// Estimated size of the jobs of one monitor, in bytes: the common part of its spec counts for
    /// each endpoint, and so does each value.
    std::size_t bytes_per_monitor = std::size_t{16} << 20;
    MonitorQuota quota{};  ///< of all monitors together
    bool operator==(const MonitorSourceLimits&) const = default;
};

/// Configuration of a MonitorSource. The server is found as for DiscoveryConfig.
struct MonitorSourceConfig {
    ApiServerConfig api_server{};      ///< the server, with credentials
    std::string kubeconfig_file{};     ///< see DiscoveryConfig
    std::string kubeconfig_context{};  ///< empty: current-context
    ClusterName cluster{};             ///< for targets of this server, see DiscoveryConfig
    /// Which monitors to select, and how to make jobs of them.
    MonitorOwnerInput owner{};
    MonitorOptions options{};  ///< facts about the cluster and the scrapers
    /// Monitors elsewhere are not seen. Empty: all. At most one of these two may have elements.
    std::vector<std::string> allow_namespaces{};
    std::vector<std::string> deny_namespaces{};  ///< monitors there are not seen
    /// Refuses jobs whose credentials or TLS material are in files, whatever the owner says.
    bool deny_file_access = false;
    /// The number of the scraper among the owner's shards. It replaces `$(SHARD)` in the rules,
    /// and decides `$(INZONE_SHARD)` and `$(TOPOLOGY_ZONE)`. nullopt: placeholders stay.
    std::optional<std::uint64_t> shard{};
    /// The scraper's node, for owners in DaemonSet mode: replaces `$(NODE_NAME)` and
    /// `%{KUBE_NODE_NAME}` in selectors. Empty: placeholders stay, and select no pod.
    std::string node_name{};
    /// The version for discovery and scrape targets of Prometheus' kinds.
    PrometheusVersion prometheus_version = PrometheusVersion::v3_5;
    MonitorSourceLimits limits{};  ///< bounds for hostile objects
    /// When the first jobs are delivered at the latest, although a kind has not been listed or a
    /// Secret has not been read yet.
    Duration sync_timeout = std::chrono::seconds(15);
    /// How long a monitor waits for a Secret or ConfigMap before it is refused. It stays with its
    /// previous jobs meanwhile.
    Duration reference_timeout = std::chrono::seconds(10);
    Duration min_update_interval{0};  ///< minimum time between two calls of the callback
    WatchOptions watch{};             ///< options of LIST and WATCH
};

/// Checks the namespaces, the name of the owner and the times. Thread-safe.
/// \throws ConfigError with the field, such as "MonitorSourceConfig::deny_namespaces"
K8S_SD_EXPORT void validate(const MonitorSourceConfig&);

/// A job made of a monitor.
struct MonitorJob {
    /// "serviceMonitor/ns/name/0": also the name of the job. Jobs of `additionalScrapeConfigs` have
    /// the names from there.
    std::string origin{};
    std::string object{};  ///< "ServiceMonitor ns/name"
    /// As if read from a file. The API server of its `kubernetes_sd_configs` is that of the source.
    /// May have secrets.
    std::shared_ptr<const ScrapeJob> job{};
};
/// A job is immutable. An unchanged job keeps its pointer.
using MonitorJobPtr = std::shared_ptr<const MonitorJob>;

/// The changes since the previous diff.
struct MonitorDiff {
    bool full = false;                     ///< the first diff: all jobs are in `updated`
    std::vector<MonitorJobPtr> updated{};  ///< new jobs, and jobs with another configuration
    std::vector<std::string> removed{};    ///< names of jobs that are gone, sorted
};

/// The result for one monitor.
enum class MonitorState : std::uint8_t {
    accepted,    ///< it has its jobs
    refused,     ///< a fault: no jobs
    unselected,  ///< the owner does not select it
    waiting,     ///< for a Secret, ConfigMap, namespaces or the owner; its previous jobs stay
};

/// "accepted" and so on.
constexpr std::string_view to_string(MonitorState state) noexcept {
    constexpr std::array<std::string_view, 4> names{"accepted", "refused", "unselected", "waiting"};
    return names[static_cast<std::size_t>(state)];
}

/// The status of one monitor.
struct MonitorObjectStatus {
    MonitorKind kind = MonitorKind::service_monitor;  ///< kind of the object
    std::string object_namespace{};                   ///< its namespace
    std::string name{};                               ///< its name
    MonitorState state = MonitorState::waiting;       ///< see above
    MonitorRefusal why{};  ///< unless accepted: the reason and its remedy; without secrets
    std::size_t jobs = 0;  ///< number of jobs now
    bool operator==(const MonitorObjectStatus&) const = default;
};

/// Identifies a monitor.
struct MonitorName {
    MonitorKind kind = MonitorKind::service_monitor;  ///< kind of the object
    std::string object_namespace{};                   ///< its namespace
    std::string name{};                               ///< its name
    bool operator==(const MonitorName&) const = default;
};

/// The watch of one kind of monitors.
enum class MonitorWatchState : std::uint8_t {
    off,      ///< the owner selects no object of that kind
    waiting,  ///< not listed yet
    synced,   ///< listed
    absent,   ///< the server does not have the kind (yet)
    failing,  ///< listed, or not; the last attempt failed
};

/// "off" and so on.
constexpr std::string_view to_string(MonitorWatchState state) noexcept {
    constexpr std::array<std::string_view, 5> names{"off", "waiting", "synced", "absent",
                                                    "failing"};
    return names[static_cast<std::size_t>(state)];
}

/// The status of one kind of monitors.
struct MonitorKindStatus {
    MonitorWatchState watch = MonitorWatchState::off;  ///< see above
    std::string message{};       ///< the failure and its remedy; may quote the server
    std::size_t objects = 0;     ///< seen by the watch
    std::size_t accepted = 0;    ///< by MonitorState
    std::size_t refused = 0;     ///< the same
    std::size_t unselected = 0;  ///< the same
    std::size_t waiting = 0;     ///< the same
};

/// The status of a MonitorSource.
struct MonitorStatus {
    bool synced = false;  ///< the first diff has been or will be delivered
    /// Whether there is an owner. Without one no object is selected.
    bool has_owner = false;
    bool of_vm = false;  ///< the owner selects VictoriaMetrics' kinds
    /// Why the owner, or its present version, is not used; empty: nothing to report. The previous
    /// version stays in use.
    MonitorRefusal owner{};
    std::array<MonitorKindStatus, monitor_kind_count> kinds{};  ///< by MonitorKind
    std::string namespaces{};   ///< the failure of the watch of namespaces, in words
    std::string owner_watch{};  ///< the failure of the watch of the owner's object
    /// Why there are no jobs of `additionalScrapeConfigs`; empty: nothing to report.
    MonitorRefusal additional{};
    std::size_t jobs = 0;           ///< all jobs
    std::size_t bytes = 0;          ///< of their configurations, see MonitorQuota
    std::size_t references = 0;     ///< watched Secrets and ConfigMaps
    std::uint64_t generations = 0;  ///< how often jobs were made of a monitor
    std::uint64_t job_changes = 0;  ///< delivered updates and removals of jobs
};

/// The kinds that the owner may select, in the order of its jobs.
inline std::span<const MonitorKind> kinds_of(const MonitorStatus& status) noexcept {
    if (status.of_vm) return vm_monitor_kinds;
    return monitor_kinds;
}

/// Makes scrape jobs of the ServiceMonitors, PodMonitors, Probes and ScrapeConfigs in a cluster, as
/// prometheus-operator does, and notifies the host of changes. With a VMAgent or VMSingle as owner,
/// it makes jobs of VictoriaMetrics' kinds in vmagent's dialect. docs/guide/monitors.md has the
/// rules and the required permissions.
///
/// It watches the kinds that its owner selects, namespaces if a selector needs their labels, and
/// each Secret and ConfigMap named by a selected monitor. Sources of one execution context share
/// these watches. A changed object makes its own jobs anew and no others.
///
/// \par Callback
/// `void(const MonitorDiff&)`, called on the executor given at construction, as if by post: never
/// from inside a member function, never concurrently with itself. The first call comes after all
/// watches have been listed and all Secrets read, or after `sync_timeout`; it has `full == true`
/// and all jobs, possibly none. Later calls have true changes only. While the callback runs,
/// changes are coalesced: one entry for each job with its latest state, and a reverted change is
/// dropped. After cancel() has returned, at most one call already begun is still running.
/// An exception leaves through the function running the context; the diff counts as delivered.
///
/// \par Failures
/// Errors of the network, the server or a permission never remove jobs. A monitor that becomes
/// invalid, or whose Secret is deleted, loses all its jobs, as in the operator. An owner that
/// becomes invalid stays in use as it was; the deletion of the owner's object removes all jobs.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context.
///
/// \par Thread safety
/// Distinct objects: safe. One object: all member functions may be called from any thread; moving
/// and destroying must not overlap with other calls.
class K8S_SD_EXPORT MonitorSource {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(const MonitorDiff&)>;

    /// Reads the kubeconfig or the service account's files, if the configuration needs them; does
    /// no network I/O.
    /// \throws ConfigError with the field or file and the allowed values; for an empty executor or
    ///         callback. A fault in an owner is reported in status().
    MonitorSource(executor_type, const MonitorSourceConfig&, Callback);
    MonitorSource(MonitorSource&&) noexcept = default;
    MonitorSource& operator=(MonitorSource&&) noexcept;
    ~MonitorSource();

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
            Initiate(impl_, get_executor(), &MonitorSource::run), token);
    }

    /// Replaces the owner. Jobs that stay equal are not mentioned in the next diff.
    void set_owner(MonitorOwnerInput);

    /// Stops the source; idempotent, prompt. A cancelled source cannot be run again.
    void cancel() noexcept;

    /// All jobs in the order of the operator's configuration, possibly ahead of the delivered
    /// diffs; empty before the first diff is ready.
    std::vector<MonitorJobPtr> jobs() const;
    /// A copy of the current status.
    MonitorStatus status() const;
    /// The status of all monitors, by kind, then by namespace and name.
    std::vector<MonitorObjectStatus> objects() const;
    /// A page of these. Other calls wait for the time of one page only.
    /// \param after  the last one of the previous page, which may be gone; nullopt: the first page
    std::vector<MonitorObjectStatus> objects(const std::optional<MonitorName>& after,
                                             std::size_t max) const;
    /// The status of one monitor; nullopt if it is not seen.
    std::optional<MonitorObjectStatus> object(MonitorKind, std::string_view object_namespace,
                                              std::string_view name) const;

 private:
    class Impl;
    using Handler = asio::any_completion_handler<void(error_code)>;
    using Initiate = detail::RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, Handler);

    std::shared_ptr<Impl> impl_;
};

/// The jobs for DiscoveryManager::apply_config().
K8S_SD_EXPORT std::vector<Job> discovery_jobs(const std::vector<MonitorJobPtr>&);

/// Whether the jobs of an owner can be jobs beside others of this dialect: an owner of
/// VictoriaMetrics makes jobs in its dialect, and another one in Prometheus'.
K8S_SD_EXPORT bool supports_monitors(LabelDialect, const MonitorOwnerInput&);

/// The access a MonitorSource needs for its watches: monitors, namespaces, the owner's object;
/// Secrets and ConfigMaps in the namespaces of monitors, since their names are not known in
/// advance. What the jobs discover needs further rights: see required_access().
/// \throws ConfigError as the constructor
K8S_SD_EXPORT std::vector<AccessRule> required_access(const MonitorSourceConfig&);

/// The status in Prometheus' text format. Metrics have no label with a name chosen by users.
K8S_SD_EXPORT std::string to_prometheus_text(const MonitorStatus&);

}  // namespace k8s_sd::inline v0
