#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/run_initiation.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/shared_values.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_filter.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_groups.hpp"
#include "k8s_sd/target_source.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// A named consumer of targets, e.g. one entry of `scrape_configs`.
struct Job {
    std::string name{};                     ///< not empty, unique
    SharedList<DiscoveryConfig> configs{};  ///< any number; the job has the targets of all
    /// Minimum time between two diffs of this job; zero: deliver at once. The longest interval of
    /// the job and its `configs` applies.
    Duration min_update_interval{0};
    /// How long to keep the targets of a replaced configuration while its replacement has not been
    /// listed; see apply_config(). nullopt: no limit.
    std::optional<Duration> supersede_timeout = std::chrono::minutes(10);
    std::vector<TargetSource> sources{};          ///< fed by the host
    std::vector<StaticConfig> static_configs{};   ///< one provider for all of them
    std::vector<FileSdConfig> file_sd_configs{};  ///< one provider each
    std::vector<HttpSdConfig> http_sd_configs{};  ///< one provider each
    /// Leaves out groups without a target that passes; see ProviderDiff::all. A thousand jobs over
    /// the same groups then cost little more than their own groups. Empty: all groups. A job with
    /// another filter has its next diff at once. Configurations that were removed from the job, but
    /// have targets until their replacements have been listed, keep the earlier filter.
    TargetFilter filter{};
    auto operator<=>(const Job&) const = default;
};

/// The member of Job a provider's targets come from.
enum class TargetOrigin : std::uint8_t {
    kubernetes,    ///< Job::configs
    source,        ///< Job::sources
    static_lists,  ///< Job::static_configs, all of them
    files,         ///< Job::file_sd_configs
    url,           ///< Job::http_sd_configs
};

/// The name of the corresponding member of Job.
constexpr std::string_view to_string(TargetOrigin origin) noexcept {
    constexpr std::string_view names[] = {"configs", "sources", "static_configs", "file_sd_configs",
                                          "http_sd_configs"};
    return names[static_cast<std::size_t>(origin)];
}

/// Identifies a discovery configuration of a manager; jobs with equal configurations share it.
/// Never reused within the lifetime of a manager.
using ProviderId = std::uint64_t;

/// The changes in a job's target groups from one provider. Two providers of a job can have groups
/// of the same source (such as two clusters): provider and source together identify a group.
struct ProviderDiff {
    /// The provider; a job can have several.
    ProviderId provider = 0;
    /// `full`: the job's first diff from this provider; may be empty.
    TargetGroupDiff diff{};
    /// The job no longer has this provider: its groups, if any, are all in `removed`.
    bool last = false;
    /// For a job with a filter: all present targets of the provider, including those of the groups
    /// left out. Their changes make no diff. Null: the job has no filter, or the diff is the last.
    /// After a change of Job::filter this may be the only news of a diff.
    std::shared_ptr<const LiveTargets> all{};
};

/// The changes of one job since its previous diff. Immutable contents: may be moved and copied to
/// other threads.
struct JobDiff {
    /// Name of the job.
    std::string job{};
    /// The job's first diff: the complete state, possibly empty; forget everything else.
    bool full = false;
    /// The job's last diff, after it was removed by a call. All its groups are in `removed`.
    bool last = false;
    std::vector<ProviderDiff> providers{};  ///< at most one for each provider
    /// Holds back the job's next diff until every copy is destroyed (backpressure), so a host with
    /// other threads never gets more diffs than they can process. The job's last diff holds back
    /// nothing: a job added again starts anew. A host that keeps a diff after processing it resets
    /// this. May be released on any thread, also after the manager and its context are destroyed.
    std::shared_ptr<const void> delivery{};
};

/// A configuration apply_config() or change_jobs() could not use.
struct ConfigFailure {
    /// Name of the job.
    std::string job;
    std::size_t config = 0;  ///< index in the member of Job named by `origin`
    std::string message;     ///< the problem and its remedy
    TargetOrigin origin = TargetOrigin::kubernetes;  ///< see `config`
};

/// The status of one configuration of a job.
struct JobConfigStatus {
    std::optional<ProviderId> provider{};  ///< nullopt: unusable, see `status.message`
    /// The status of the provider.
    DiscovererStatus status{};
    TargetOrigin origin = TargetOrigin::kubernetes;  ///< the member of Job with this configuration
    std::size_t groups = 0;                          ///< target groups of the provider
    std::size_t targets = 0;                         ///< targets in these groups
};

/// The status of a job.
struct JobStatus {
    /// Name of the job.
    std::string name;
    /// The status of Job::configs, then of the other members in their order: each of `sources`, one
    /// for all `static_configs` if any, each of `file_sd_configs` and `http_sd_configs`.
    std::vector<JobConfigStatus> configs;
    std::size_t groups = 0;  ///< target groups in the job's state, before its filter
    /// Targets in these groups.
    std::size_t targets = 0;
    /// Configurations removed from the job, with targets still kept until their replacements have
    /// been listed.
    std::size_t superseded = 0;
    bool synced = false;  ///< whether every configuration has been listed
};

/// The API servers of these jobs, in order: one entry for each pair of cluster name and URL.
/// Configurations that are unusable count for their name, with an empty URL. Thread-safe.
/// \param usage  see server_usage()
K8S_SD_EXPORT std::vector<ServerHealth> servers_of(const std::vector<JobStatus>& jobs,
                                                   const std::vector<ServerUsage>& usage);

/// The targets of a job, by provider.
struct JobSnapshot {
    /// One provider and its target groups.
    struct ProviderTargets {
        /// See ProviderDiff::provider.
        ProviderId provider = 0;
        /// All groups with targets, in no particular order.
        std::vector<TargetGroupPtr> groups;
    };
    /// The former name of ProviderTargets.
    using Provider [[deprecated("is JobSnapshot::ProviderTargets")]] = ProviderTargets;
    /// The providers with a complete list.
    std::vector<ProviderTargets> providers;
};

/// Runs the discovery configurations of any number of jobs and notifies the host of the changes in
/// each job. Jobs may be added, removed and changed at any time; see apply_config(). Targets from
/// elsewhere than Kubernetes (Job::sources and the members below it) are delivered the same way.
///
/// Equal configurations of different jobs are discovered once (a *provider*), and configurations
/// with a different role but otherwise equal share their watches, as those of Discoverer do. Each
/// target group is generated once and shared by all jobs.
///
/// \par Callback
/// `void(JobDiff)`, or with a parameter `const JobDiff&`, called on the executor given at
/// construction, as if by post: never from inside a member function, never concurrently with
/// itself. A callback may hand the diff over to another executor; the next diff of this job waits
/// until JobDiff::delivery is released. The first diff of a job comes after the first of its
/// configurations has been listed, or at once if the job has no usable one; each other
/// configuration follows with a `full` ProviderDiff. Later diffs have true changes only. While the
/// callback runs, and until the job's minimum interval has passed, changes are coalesced: one entry
/// for each group with its latest state, and a reverted change is dropped. The last diff of a job
/// ignores the interval and waits only for the release of the previous one (JobDiff::delivery); a
/// job removed before its first diff has no last diff. After cancel() has returned, at most one
/// call already begun is still running.
/// Errors never remove targets: see status().
/// An exception leaves through the function running the context, e.g. io_context::run(); the
/// diff counts as delivered, and run() may be called again.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context.
///
/// \par Thread safety
/// apply_config(), async_run(), cancel(), status(), servers(), providers() and snapshot() may be
/// called from any thread; moving and destroying must not overlap with other calls.
class K8S_SD_EXPORT DiscoveryManager {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(JobDiff)>;

    /// A manager without jobs until apply_config().
    /// \throws ConfigError for an empty executor or callback
    DiscoveryManager(executor_type, Callback);
    DiscoveryManager(DiscoveryManager&&) noexcept = default;
    DiscoveryManager& operator=(DiscoveryManager&&) noexcept;
    ~DiscoveryManager();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Keeps targets of Kubernetes across restarts, for configurations added from now on.
    /// \throws ConfigError as validate(const WarmStart&)
    void set_warm_start(const WarmStart&);

    /// Replaces the jobs. Configurations equal by value are kept untouched: a configuration of any
    /// previous job keeps its watches and targets, whatever the name of the job, and a new job with
    /// it gets its targets at once. Values are compared after resolve(), without the update
    /// interval; a kubeconfig is compared by its files and context, not by its content.
    ///
    /// If a call both adds configurations to a job and removes some, the targets of the removed
    /// ones stay until all added ones (or those of their named cluster, if any) have been listed.
    /// The diff with the last list removes them. While an added one is unusable they stay too, but
    /// never longer than Job::supersede_timeout. Targets not delivered yet do not stay, but those
    /// they were to replace do. If a call only removes configurations, their targets go with the
    /// next diff. The first non-empty diff of a new job precedes the last diff of a removed job.
    ///
    /// Reads the files named by the configurations; does no network I/O. May be called before
    /// async_run(), and in the callback. After cancel() it changes nothing.
    /// \returns the unusable configurations; everything else is applied
    /// \throws ConfigError for a job without a name, two jobs of one name, or a negative time;
    ///         nothing is applied in these cases
    std::vector<ConfigFailure> apply_config(const std::vector<Job>&);

    /// The same for some jobs: adds or replaces these, removes those, and leaves all others as they
    /// are. The cost does not grow with the number of other jobs, apart from a pass over a list of
    /// pointers for a removed job. A job in both lists stays. In status() a changed job keeps its
    /// place, and new jobs are the last ones.
    /// \param removed  names; unknown ones are ignored
    /// \returns the unusable configurations of `changed`
    /// \throws ConfigError as apply_config()
    std::vector<ConfigFailure> change_jobs(const std::vector<Job>& changed,
                                           const std::vector<std::string>& removed);

    /// Discovers until cancelled. See Discoverer::async_run().
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &DiscoveryManager::run), token);
    }

    /// Stops the manager; idempotent, prompt. A cancelled manager cannot be run again.
    void cancel() noexcept;

    /// The status of each job, in the order of the configuration. Before async_run() there are no
    /// watches, after cancel() no jobs.
    std::vector<JobStatus> status() const;

    /// The health and the use of each API server, see servers_of(). Servers in the order of the
    /// jobs.
    std::vector<ServerHealth> servers() const;

    /// The usable configurations a job has now, without superseded ones kept until their
    /// replacements are listed. Empty if there is no such job. The argument for
    /// TargetPool::reload().
    std::vector<ProviderId> providers(std::string_view job) const;

    /// The latest state of a job, possibly ahead of the delivered diffs; without configurations
    /// not listed yet, and without groups that do not pass its filter. nullopt if there is no such
    /// job.
    std::optional<JobSnapshot> snapshot(std::string_view job) const;

 private:
    class Impl;
    using Initiate = detail::RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
