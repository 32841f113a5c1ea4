#pragma once

#include "jobs/bridge_metrics.hpp"
#include "jobs/left_out.hpp"
#include "jobs/served_job.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/time.hpp"
#include "table/change_history.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// What another configuration has done to the jobs: their names, sorted.
struct JobChanges {
    std::vector<std::string> added{};
    std::vector<std::string> changed{};
    std::vector<std::string> removed{};
};

/// All jobs of a configuration: discovers, and gives each job its diffs. Its functions are for one
/// strand; the jobs work on strands of their own.
class ServedJobs {
 public:
    /// \param strand   of the caller
    /// \param workers  whose threads work on the jobs
    /// \param metrics  outlives the jobs
    ServedJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
               const ServeOptions&, BridgeMetrics& metrics);

    /// Makes these the jobs; what is not touched goes on.
    /// \returns what cannot be used, in words
    std::vector<std::string> apply(const k8s_sd::ScrapeConfigFile&);
    /// By the last apply().
    const JobChanges& changes() const noexcept { return changes_; }
    /// The jobs that the configuration has besides, but with mistakes.
    const LeftOut& left_out() const noexcept { return left_out_; }
    /// In words: there is no such job, perhaps because it is left out.
    std::string why_missing(const std::string& name) const;
    /// Null if the configuration has no such job.
    std::shared_ptr<ServedJob> find(std::string_view name) const;
    std::vector<std::string_view> names() const;
    /// What the configuration says of the job; null if there is no such job.
    std::shared_ptr<const k8s_sd::ScrapeJob> config(std::string_view name) const;
    /// How the jobs are discovered.
    std::vector<k8s_sd::JobStatus> status() const { return manager_.status(); }
    /// The jobs whose lists are not complete yet, and in words what each waits for.
    std::map<std::string, std::string> incomplete() const;
    /// In words, a line each: the jobs whose lists are not complete yet, and will be. If none can
    /// be served before the configuration is mended, all of them.
    std::string not_ready() const;
    /// In words, a line each: the jobs that cannot be served before the configuration is mended,
    /// beside others that can.
    std::string failed() const;
    /// In words, a line each: the jobs with targets of before a restart, see WarmStart.
    std::string unconfirmed() const;
    /// In words, a line each: the jobs whose lists are complete but of an earlier configuration, in
    /// part at least, as the present one has not been listed.
    std::string stale() const;
    std::map<std::string, JobMetrics> metrics() const;
    const ChangeHistory& history() const noexcept { return history_; }
    /// Ends everything, so that the executors have nothing left to do.
    void stop();

 private:
    struct Entry {
        std::shared_ptr<ServedJob> job;
        bool usable = false;  ///< each of its configurations is
        bool begun = false;   ///< it has had a diff
        std::shared_ptr<const k8s_sd::ScrapeJob> config{};
        k8s_sd::TimePoint since{};
        k8s_sd::TimePoint configured{};  ///< when its discovery became what it is
    };

    void apply(k8s_sd::ScrapeJob, bool usable);
    void remove_all_but(const std::set<std::string_view>& names);
    void end(const std::string& name, Entry&);
    void on_diff(k8s_sd::JobDiff);
    JobMetrics metrics_of(const Entry&, const k8s_sd::JobStatus&) const;
    std::string why_incomplete(std::string_view name) const;
    std::string incomplete(bool usable) const;
    bool all_unusable() const;

    boost::asio::any_io_executor workers_;
    const ServeOptions options_;
    BridgeMetrics& metrics_;
    ChangeHistory history_;
    LeftOut left_out_;
    JobChanges changes_;
    std::map<std::string, Entry, std::less<>> jobs_;
    /// Those that the configuration no longer has, whose last diffs have not come. One that comes
    /// back before gets no first diff: it goes on with the targets that it has.
    std::map<std::string, Entry, std::less<>> leaving_;
    k8s_sd::DiscoveryManager manager_;
};

}  // namespace bridge
