#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/run_initiation.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group.hpp"
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
    std::string name{};                      ///< not empty, unique
    std::vector<DiscoveryConfig> configs{};  ///< any number; its targets are those of all
    /// Least time between two diffs of this job; zero: deliver at once. A longer one of its
    /// `configs` counts as well.
    Duration min_update_interval{0};
    /// How long targets of a configuration stay that another one has replaced, when that one has
    /// not been listed; see apply_config(). nullopt: for ever.
    std::optional<Duration> supersede_timeout = std::chrono::minutes(10);
    std::vector<TargetSource> sources{};          ///< that the host feeds itself
    std::vector<StaticConfig> static_configs{};   ///< all of them are one provider
    std::vector<FileSdConfig> file_sd_configs{};  ///< each of them is a provider
    std::vector<HttpSdConfig> http_sd_configs{};  ///< the same
    auto operator<=>(const Job&) const = default;
};

/// Where the targets of a provider come from: which member of Job.
enum class TargetOrigin : std::uint8_t {
    kubernetes,    ///< Job::configs
    source,        ///< Job::sources
    static_lists,  ///< Job::static_configs, all of them
    files,         ///< Job::file_sd_configs
    url,           ///< Job::http_sd_configs
};

/// The name of the member of Job.
constexpr std::string_view to_string(TargetOrigin origin) noexcept {
    constexpr std::string_view names[] = {"configs", "sources", "static_configs", "file_sd_configs",
                                          "http_sd_configs"};
    return names[static_cast<std::size_t>(origin)];
}

/// One discovery configuration that a manager runs; jobs with equal configurations have it in
/// common. Never used again within the life of a manager.
using ProviderId = std::uint64_t;

/// What changed in the target groups that a job has from one provider. Two providers of a job can
/// have groups of the same source (think of two clusters): a group is known by both.
struct ProviderDiff {
    /// Which provider; a job can have several.
    ProviderId provider = 0;
    /// `full`: the job had nothing from this provider before; may be empty.
    TargetGroupDiff diff{};
    /// The job no longer has this provider: everything is in `removed`, which may be empty.
    bool last = false;
};

/// What changed for one job since its previous diff. May be moved and copied to other threads: what
/// it refers to is immutable.
struct JobDiff {
    /// Name of the job.
    std::string job{};
    /// The job's first diff: the complete state, which may be empty; forget everything else.
    bool full = false;
    /// The job's last diff: apply_config() was called without it. Everything is in `removed`.
    bool last = false;
    std::vector<ProviderDiff> providers{};  ///< no provider twice
    /// As long as this or a copy of it is there, the job's next diff does not come: who hands diffs
    /// over to other threads is told no more than they can take. After a job's last diff nothing
    /// waits: a job that comes back begins anew. Who keeps a diff for longer than it works on it
    /// resets this. Any thread may do so, also after the manager and its context are gone.
    std::shared_ptr<const void> turn{};
};

/// A configuration that apply_config() could not use.
struct ConfigFailure {
    /// Name of the job.
    std::string job;
    std::size_t config = 0;  ///< index in the member of Job that `origin` names
    std::string message;     ///< what is wrong and how to mend it
    TargetOrigin origin = TargetOrigin::kubernetes;  ///< see `config`
};

/// How one configuration of a job is doing.
struct JobConfigStatus {
    std::optional<ProviderId> provider{};  ///< none: it cannot be used, see `status.message`
    /// Of the provider.
    DiscovererStatus status{};
    TargetOrigin origin = TargetOrigin::kubernetes;  ///< which member of Job it is of
};

/// How a job is doing.
struct JobStatus {
    /// Of the job.
    std::string name;
    /// Those of Job::configs, then the other members in their order: each of `sources`, one for all
    /// `static_configs` if there are any, each of `file_sd_configs` and `http_sd_configs`.
    std::vector<JobConfigStatus> configs;
    std::size_t groups = 0;  ///< in its state
    /// In these groups.
    std::size_t targets = 0;
    /// Configurations that the job no longer has, whose targets it keeps until those that took
    /// their place have been listed.
    std::size_t superseded = 0;
    bool synced = false;  ///< every configuration has been listed
};

/// The targets of a job, by provider.
struct JobSnapshot {
    /// One provider and what it has.
    struct Provider {
        /// As in ProviderDiff.
        ProviderId provider = 0;
        /// All that have targets, in no particular order.
        std::vector<TargetGroupPtr> groups;
    };
    /// Those that have been listed.
    std::vector<Provider> providers;
};

/// Runs the discovery configurations of any number of jobs and keeps the host informed of what
/// changes in each job. Jobs may come, go and change at any time; see apply_config(). Targets that
/// do not come from Kubernetes (Job::sources and what follows it) are told in the same way.
///
/// Equal configurations of different jobs are discovered once (a *provider*), and configurations
/// that differ only in the role share their watches, as those of Discoverer do. Each target group
/// is generated once and shared by all jobs.
///
/// \par Callback
/// `void(JobDiff)`, or with a parameter `const JobDiff&`, called on the executor given at
/// construction, as if by post: never from inside a member function, never concurrently with
/// itself. A callback may hand the diff over to another executor; the next one of this job comes
/// when that has let go of it, see JobDiff::turn. A job's first diff comes when the
/// first of its configurations has been listed, or at once if it has none that can be used; the
/// other configurations follow with a `full` ProviderDiff each. Later diffs bring true changes
/// only. While the callback runs, and until the job's minimum interval has passed, changes are
/// collected: one entry for each group, the newest state wins, and what has changed back is no
/// change. A job's last diff does not wait for the interval, only for the turn of the one before it
/// (JobDiff::turn); a job that goes before its first diff has none. After cancel() has returned at
/// most a call that had begun is still running.
/// Nothing is ever delivered as removed because of an error: see status().
/// An exception leaves through the function that runs the context, e.g. io_context::run(); the
/// diff counts as delivered, and run() may be called again.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context.
///
/// \par Thread safety
/// apply_config(), async_run(), cancel(), status(), providers() and snapshot() may be called from
/// any thread; moving and destroying must not overlap with other calls.
class K8S_SD_EXPORT DiscoveryManager {
 public:
    using executor_type = asio::any_io_executor;
    /// See Callback above. It must not be empty.
    using Callback = std::function<void(JobDiff)>;

    /// Has no jobs until apply_config().
    /// \throws ConfigError for an executor or callback that is empty
    DiscoveryManager(executor_type, Callback);
    DiscoveryManager(DiscoveryManager&&) noexcept = default;
    DiscoveryManager& operator=(DiscoveryManager&&) noexcept;
    ~DiscoveryManager();

    /// The executor given at construction.
    executor_type get_executor() const noexcept;

    /// Keeps the targets of Kubernetes over restarts; of configurations that come from now on.
    /// \throws ConfigError as validate(const WarmStart&)
    void set_warm_start(const WarmStart&);

    /// Makes these the jobs. What is equal by value goes on untouched: a configuration that some
    /// job still has keeps its watches and targets, whatever the job is called, and a new job with
    /// it gets its targets at once. Values are compared as resolve() leaves them, without the
    /// update interval; of a kubeconfig its files and its context count, and not what it says.
    ///
    /// Where a call adds configurations to a job and takes others away, the targets of those stay
    /// until all that were added have been listed, and go in the diff that brings the last of
    /// them; as long as one that was added cannot be used, they stay as well, but in no case longer
    /// than Job::supersede_timeout. Targets that no diff has brought yet do not stay, but what they
    /// were to replace does. Where a call only takes away, the targets go with the next diff. The
    /// first diff of a new job that has something comes before the last one of a job that goes.
    ///
    /// Reads the files that configurations name; does no network I/O. May be called before
    /// async_run(), and in the callback. After cancel() it changes nothing.
    /// \returns the configurations that cannot be used; everything else is applied
    /// \throws ConfigError for a job without a name, two of one name, or a negative time; nothing
    /// is applied then
    std::vector<ConfigFailure> apply_config(const std::vector<Job>&);

    /// Discovers until it is cancelled. See Discoverer::async_run().
    template <class CompletionToken = asio::deferred_t>
    auto async_run(CompletionToken&& token = CompletionToken{}) {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            Initiate(impl_, get_executor(), &DiscoveryManager::run), token);
    }

    /// Stops; idempotent, prompt. A cancelled manager cannot be run again.
    void cancel() noexcept;

    /// In the order of the configuration. Before async_run() there are no watches, after cancel()
    /// no jobs.
    std::vector<JobStatus> status() const;

    /// Of the configurations that a job has now and that can be used; not of those whose targets it
    /// only keeps until others have taken their place. Empty if there is no such job. It is what
    /// TargetPool::reload() wants to know.
    std::vector<ProviderId> providers(std::string_view job) const;

    /// The newest state of a job, which can be ahead of the diffs that were delivered;
    /// configurations that have not been listed are not in it. nullopt if there is no such job.
    std::optional<JobSnapshot> snapshot(std::string_view job) const;

 private:
    class Impl;
    using Initiate = detail::RunInitiation<Impl>;
    static void run(const std::shared_ptr<Impl>&, asio::any_completion_handler<void(error_code)>);

    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
