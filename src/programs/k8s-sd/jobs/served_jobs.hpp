#pragma once

#include "jobs/left_out.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_job.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/time.hpp"
#include "table/change_history.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program {

/// A job with its name.
using NamedJob = std::pair<std::string, std::shared_ptr<ServedJob>>;

/// The effect of a new configuration on the jobs: their names, sorted.
struct JobChanges {
    std::vector<std::string> added{};
    std::vector<std::string> changed{};
    std::vector<std::string> removed{};
};

/// The clusters of a hub that cannot be discovered.
struct UnusableClusters {
    std::set<std::string, std::less<>> jobs{};      ///< with configurations for all clusters
    std::map<std::string, std::string> problems{};  ///< by the name of the cluster
    /// Why not all clusters are known yet, in words; called in any thread; empty: they are known.
    std::function<std::string()> why_unknown{};
    bool hub_is_empty = false;  ///< it is known, and has no ClusterProfile that is selected
};

/// All jobs of a configuration: runs their discovery and passes its diffs to them. Used on one
/// strand; the jobs have strands of their own.
class ServedJobs {
 public:
    /// \param strand   of the caller
    /// \param workers  the executor of the jobs' threads
    /// \param metrics  outlives the jobs
    ServedJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
               const ServeOptions&, ServeMetrics& metrics);

    /// Replaces the jobs; unchanged ones continue.
    /// \param monitors  further jobs; those of the file have precedence
    /// \param clusters  their jobs wait for them as for clusters that are away
    /// \returns the unusable parts of the configuration, in words
    std::vector<std::string> apply(const k8s_sd::ScrapeConfigFile&,
                                   const std::vector<k8s_sd::MonitorJobPtr>& monitors = {},
                                   const UnusableClusters& clusters = {});
    /// Changes the jobs of these monitors, and no others; after apply().
    /// \returns the unusable parts of these jobs, in words
    std::vector<std::string> change(const k8s_sd::MonitorDiff&);
    /// \param why  why a monitor makes no job of this name, in words; nullopt: no monitor would
    void set_why_no_monitor(std::function<std::optional<std::string>(std::string_view)> why) {
        why_no_monitor_ = std::move(why);
    }
    /// By the last apply() or change().
    const JobChanges& changes() const noexcept { return changes_; }
    /// The other jobs of the configuration, left out because of mistakes.
    const LeftOut& left_out() const noexcept { return left_out_; }
    /// Why a job is missing, in words; it may be left out because of a mistake.
    std::string why_missing(const std::string& name) const;
    /// Null if the configuration has no such job.
    std::shared_ptr<ServedJob> find(std::string_view name) const;
    std::vector<std::string_view> names() const;
    std::size_t count() const noexcept { return jobs_.size(); }
    /// The configuration of the job; null if there is no such job.
    std::shared_ptr<const k8s_sd::ScrapeJob> config(std::string_view name) const;
    /// The discovery status of the jobs.
    std::vector<k8s_sd::JobStatus> status() const { return manager_.status(); }
    /// The health and the use of their API servers.
    std::vector<k8s_sd::ServerHealth> servers() const { return manager_.servers(); }
    /// The jobs with incomplete lists, and the reason for each, in words.
    std::map<std::string, std::string> incomplete() const;
    /// One a line, in words: the jobs with lists not yet complete but expected. If no job can be
    /// served without a correction of the configuration, all of them.
    std::string not_ready() const;
    /// One a line, in words: the jobs in need of a correction of the configuration, if other jobs
    /// can be served.
    std::string failed() const;
    /// One a line, in words: the jobs with targets that cannot be scraped.
    std::string failed_targets() const;
    /// One a line, in words: the jobs with targets stored before a restart, see WarmStart.
    std::string unconfirmed() const;
    /// One a line, in words: the jobs with lists of an earlier configuration, at least in part,
    /// because the present one has not been listed.
    std::string stale() const;
    /// One a line, in words: the jobs with lists that lack some of several clusters.
    std::string without_clusters() const;
    /// The jobs of monitors with complete lists that have no target.
    std::vector<NamedJob> monitors_without_targets() const;
    std::map<std::string, JobMetrics> metrics() const;
    const ChangeHistory& history() const noexcept { return history_; }
    /// Stops everything, so that the executors run out of work.
    void stop();

 private:
    struct Entry {
        std::shared_ptr<ServedJob> job;
        bool usable = false;  ///< it can become complete, if need be without some clusters
        bool begun = false;   ///< it has received a diff
        std::shared_ptr<const k8s_sd::ScrapeJob> config{};
        std::shared_ptr<const k8s_sd::ScrapeJob> from{};  ///< that of the monitor; else null
        std::vector<k8s_sd::ProviderId> providers{};
        FailedConfigs failed{};
        k8s_sd::TimePoint since{};
        k8s_sd::TimePoint configured{};  ///< when its discovery was last changed
    };

    void apply_monitor(const k8s_sd::MonitorJob&, const FailedConfigs&);
    Entry& apply(k8s_sd::ScrapeJob, const FailedConfigs&, const UnusableClusters& = {});
    void expect(Entry&, const UnusableClusters&);
    void remove_all_but(const std::set<std::string_view>& names);
    void remove(std::map<std::string, Entry, std::less<>>::iterator);
    void sort_changes();
    void end(const std::string& name, Entry&);
    void on_diff(k8s_sd::JobDiff);
    JobMetrics metrics_of(const Entry&, const k8s_sd::JobStatus&) const;
    std::string why_incomplete(std::string_view name) const;
    std::string incomplete(bool usable) const;
    bool all_unusable() const;

    boost::asio::any_io_executor workers_;
    const ServeOptions options_;
    ServeMetrics& metrics_;
    ChangeHistory history_;
    LeftOut left_out_;
    std::function<std::string()> clusters_problem_;  ///< of jobs that may lack clusters of the hub
    std::function<std::optional<std::string>(std::string_view)> why_no_monitor_;
    JobChanges changes_;
    std::map<std::string, Entry, std::less<>> jobs_;
    /// Removed jobs with an outstanding last diff. A job added again before that gets no first
    /// diff: it continues with its present targets.
    std::map<std::string, Entry, std::less<>> leaving_;
    k8s_sd::DiscoveryManager manager_;
};

}  // namespace k8s_sd_program
