#include "jobs/served_jobs.hpp"

#include "cli/option_values.hpp"
#include "cli/terminal_text.hpp"
#include "jobs/job_notes.hpp"
#include "k8s_sd/scrape/target_filter.hpp"

#include <boost/asio/detached.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

constexpr const char* gone = "the configuration no longer has this job";

std::string in_words(const k8s_sd::ConfigFailure& failure) {
    const bool kubernetes = failure.origin == k8s_sd::TargetOrigin::kubernetes;
    const std::string key(kubernetes ? "kubernetes_sd_configs" : to_string(failure.origin));
    return failure.job + ": " + key + "[" + std::to_string(failure.config) +
           "] cannot be used: " + failure.message;
}

/// Problems of any number of clusters, for a text of one job.
class Problems {
 public:
    void add(const std::string& problem) {
        if (problem.empty() || ++count_ > max) return;
        text_ += "; " + cli::printable(problem, 2000);
    }
    std::string text() const {
        return text_ + (count_ > max ? "; and " + std::to_string(count_ - max) + " more" : "");
    }

 private:
    static constexpr std::size_t max = 20;

    std::string text_{};
    std::size_t count_ = 0;
};

/// The error messages of its configurations.
std::string messages(const k8s_sd::JobStatus& job) {
    Problems problems;
    for (const k8s_sd::JobConfigStatus& config : job.configs) problems.add(config.status.message);
    return problems.text();
}

/// Whether it can become complete, if need be without some of its clusters.
bool is_usable(const k8s_sd::JobStatus& job) {
    std::map<std::string_view, bool> clusters;  // by name: whether it is usable
    for (const k8s_sd::JobConfigStatus& config : job.configs) {
        const bool is_usable = config.provider.has_value();
        if (!config.status.cluster.empty()) {
            bool& all = clusters.try_emplace(config.status.cluster, true).first->second;
            all = all && is_usable;
        } else if (!is_usable) {
            return false;
        }
    }
    return clusters.empty() || std::any_of(clusters.begin(), clusters.end(),
                                           [](const auto& cluster) { return cluster.second; });
}

/// Why a job is incomplete.
std::string in_words(const k8s_sd::JobStatus& job) {
    const bool usable = is_usable(job);
    return "job " + job.name +
           (usable ? " has not been discovered completely yet"
                   : " cannot be discovered until its configuration is corrected") +
           messages(job);
}

std::string in_words_without(const std::vector<std::string>& clusters,
                             const k8s_sd::JobStatus& job) {
    std::string text = "job " + job.name + " is listed without ";
    text += clusters.size() == 1 ? "cluster " : "clusters ";
    return text + cli::printable(cli::listed(clusters, 20), 2000) + messages(job);
}

/// The job of a monitor has the name of one in the file.
std::string in_words_of_file(const k8s_sd::MonitorJob& job) {
    return "the file has a job " + job.origin + ", so that of " + job.object + " is left out";
}

/// Stale targets are better than none, however long it takes.
k8s_sd::Job without_timeout(k8s_sd::Job job) {
    job.supersede_timeout.reset();
    return job;
}

/// A thousand monitors have a thousand selectors: each job receives the targets of its own only.
k8s_sd::Job discovery_of(const k8s_sd::MonitorJob& monitor) {
    k8s_sd::Job job = without_timeout(monitor.job->discovery);
    job.filter = k8s_sd::target_filter(without_share_rules(monitor.job->scrape));
    return job;
}

using FailuresByJob = std::map<std::string_view, FailedConfigs>;

FailedConfigs failed_of(const FailuresByJob& failures, std::string_view job) {
    const auto known = failures.find(job);
    return known == failures.end() ? FailedConfigs() : known->second;
}

/// Why their jobs may wait for clusters: one text for all jobs.
std::function<std::string()> problem_of(const UnusableClusters& clusters) {
    if (clusters.why_unknown) return [why = clusters.why_unknown] { return "; " + why(); };
    Problems problems;
    for (const auto& [name, problem] : clusters.problems) {
        if (!problem.empty()) problems.add("cluster " + cli::printable(name, 200) + ": " + problem);
    }
    return [text = std::make_shared<const std::string>(problems.text())] { return *text; };
}

bool has_unconfirmed(const k8s_sd::JobStatus& job) {
    return std::any_of(job.configs.begin(), job.configs.end(),
                       [](const auto& config) { return config.status.unconfirmed; });
}

}  // namespace

ServedJobs::ServedJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
                       const ServeOptions& options, ServeMetrics& metrics)
    : workers_(std::move(workers)),
      options_(options),
      metrics_(metrics),
      manager_(std::move(strand), [this](k8s_sd::JobDiff diff) { on_diff(std::move(diff)); }) {
    manager_.set_warm_start(options.warm_start);
    manager_.async_run(boost::asio::detached);
}

std::vector<std::string> ServedJobs::apply(const k8s_sd::ScrapeConfigFile& file,
                                           const std::vector<k8s_sd::MonitorJobPtr>& monitors,
                                           const UnusableClusters& clusters) {
    std::vector<k8s_sd::Job> discovery = file.discovery_jobs();
    for (k8s_sd::Job& job : discovery) job = without_timeout(std::move(job));
    std::set<std::string_view> names;
    for (const k8s_sd::ScrapeJob& job : file.jobs) names.insert(job.scrape.job_name);
    std::vector<k8s_sd::MonitorJobPtr> used;
    std::vector<std::string> problems;
    for (const k8s_sd::MonitorJobPtr& job : monitors) {
        if (names.insert(job->origin).second) {
            used.push_back(job);
            discovery.push_back(discovery_of(*job));
        } else {
            problems.push_back(in_words_of_file(*job));
        }
    }
    FailuresByJob failed;
    const auto failures = manager_.apply_config(discovery);
    for (const k8s_sd::ConfigFailure& failure : failures) {
        problems.push_back(in_words(failure));
        failed[failure.job].emplace(failure.origin, failure.config);
    }
    left_out_ = LeftOut(file.failures);
    changes_ = {};
    clusters_problem_ = problem_of(clusters);
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        apply(job, failed_of(failed, job.scrape.job_name), clusters).from.reset();
    }
    for (const k8s_sd::MonitorJobPtr& job : used)
        apply_monitor(*job, failed_of(failed, job->origin));
    remove_all_but(names);
    sort_changes();
    return problems;
}

std::vector<std::string> ServedJobs::change(const k8s_sd::MonitorDiff& diff) {
    std::vector<k8s_sd::MonitorJobPtr> used;
    std::vector<k8s_sd::Job> discovery;
    std::vector<std::string> removed;
    std::vector<std::string> problems;
    const auto is_of_file = [this](const std::string& name) {
        const auto known = jobs_.find(name);
        return known != jobs_.end() && !known->second.from;
    };
    for (const k8s_sd::MonitorJobPtr& job : diff.updated) {
        if (is_of_file(job->origin)) {
            problems.push_back(in_words_of_file(*job));
            continue;
        }
        used.push_back(job);
        discovery.push_back(discovery_of(*job));
    }
    for (const std::string& name : diff.removed) {
        if (!is_of_file(name)) removed.push_back(name);
    }
    FailuresByJob failed;
    const auto failures = manager_.change_jobs(discovery, removed);
    for (const k8s_sd::ConfigFailure& failure : failures) {
        problems.push_back(in_words(failure));
        failed[failure.job].emplace(failure.origin, failure.config);
    }
    changes_ = {};
    for (const k8s_sd::MonitorJobPtr& job : used)
        apply_monitor(*job, failed_of(failed, job->origin));
    for (const std::string& name : removed) {
        const auto job = jobs_.find(name);
        if (job != jobs_.end()) remove(job);
    }
    sort_changes();
    return problems;
}

void ServedJobs::sort_changes() {
    for (auto* const names : {&changes_.added, &changes_.changed, &changes_.removed}) {
        std::sort(names->begin(), names->end());
    }
}

/// One monitor changes, and a thousand do not.
void ServedJobs::apply_monitor(const k8s_sd::MonitorJob& job, const FailedConfigs& failed) {
    const auto known = jobs_.find(job.origin);
    const bool is_unchanged = known != jobs_.end() && known->second.from == job.job &&
                              known->second.failed == failed &&
                              known->second.providers == manager_.providers(job.origin);
    if (!is_unchanged) apply(*job.job, failed).from = job.job;
}

ServedJobs::Entry& ServedJobs::apply(k8s_sd::ScrapeJob job, const FailedConfigs& failed,
                                     const UnusableClusters& clusters) {
    job.scrape = without_share_rules(std::move(job.scrape));
    const std::string name = job.scrape.job_name;
    const std::vector<k8s_sd::ProviderId> providers = manager_.providers(name);
    auto left = leaving_.extract(name);
    const bool is_back = !left.empty();
    if (is_back) jobs_.insert(std::move(left));
    Entry& entry = jobs_[name];
    const bool is_new = !entry.job || is_back;
    if (is_new || *entry.config != job)
        (is_new ? changes_.added : changes_.changed).push_back(name);
    if (entry.job) {
        entry.job->reload(job.scrape, providers);
    } else {
        entry.job = std::make_shared<ServedJob>(
            workers_, job.scrape, options_, [this, name] { return why_incomplete(name); },
            metrics_.lists, &history_);
        entry.since = entry.configured = options_.clock->now();
    }
    entry.failed = failed;
    entry.providers = providers;
    if (entry.config && entry.config->discovery != job.discovery) {
        entry.configured = options_.clock->now();
    }
    entry.config = std::make_shared<k8s_sd::ScrapeJob>(std::move(job));
    expect(entry, clusters);
    if (is_back) entry.job->come_back();
    return entry;
}

void ServedJobs::expect(Entry& entry, const UnusableClusters& clusters) {
    ExpectedProviders expected =
        expected_providers(entry.config->discovery, entry.providers, entry.failed);
    std::function<std::string()> problem;
    bool is_worth_waiting = true;
    if (clusters.jobs.contains(entry.config->scrape.job_name)) {
        for (const auto& [name, why] : clusters.problems)
            expected.clusters.push_back({.name = name, .usable = false});
        problem = clusters_problem_;
        if (clusters.why_unknown) {
            expected.usable = false;
        } else if (clusters.hub_is_empty) {
            // A list without the clusters would remove the targets that readers have of an earlier
            // program. The hub may stay empty, so other jobs do not wait.
            expected.usable = is_worth_waiting = false;
            problem = [] { return std::string("; no ClusterProfile of the hub is selected"); };
        }
    }
    // Clusters become known and usable without a correction of the configuration.
    entry.usable = expected.can_complete() || (problem && is_worth_waiting);
    entry.job->expect(std::move(expected), std::move(problem));
}

void ServedJobs::remove_all_but(const std::set<std::string_view>& names) {
    for (auto it = jobs_.begin(); it != jobs_.end();) {
        const auto job = it++;
        if (!names.contains(job->first)) remove(job);
    }
}

void ServedJobs::remove(std::map<std::string, Entry, std::less<>>::iterator job) {
    changes_.removed.push_back(job->first);
    if (job->second.begun) {
        job->second.job->leave(gone);
        leaving_.insert(jobs_.extract(job));
    } else {
        end(job->first, job->second);
        jobs_.erase(job);
    }
}

void ServedJobs::end(const std::string& name, Entry& entry) {
    entry.job->stop(gone);
    history_.forget(name);
}

/// Diffs arrive on the strand of apply(), so the manager has finished apply() before.
void ServedJobs::on_diff(k8s_sd::JobDiff diff) {
    const auto left = leaving_.find(diff.job);
    if (diff.last) {
        if (left == leaving_.end()) return;
        end(left->first, left->second);
        leaving_.erase(left);
        return;
    }
    const auto job = left != leaving_.end() ? left : jobs_.find(diff.job);
    if (job == jobs_.end()) return;
    job->second.begun = true;
    job->second.job->apply(std::move(diff));
}

std::shared_ptr<ServedJob> ServedJobs::find(std::string_view name) const {
    const auto it = jobs_.find(name);
    return it == jobs_.end() ? nullptr : it->second.job;
}

std::vector<std::string_view> ServedJobs::names() const {
    std::vector<std::string_view> names;
    for (const auto& [name, entry] : jobs_) names.push_back(name);
    return names;
}

std::shared_ptr<const k8s_sd::ScrapeJob> ServedJobs::config(std::string_view name) const {
    const auto it = jobs_.find(name);
    return it == jobs_.end() ? nullptr : it->second.config;
}

/// Any thread: only queries the manager.
std::string ServedJobs::why_incomplete(std::string_view name) const {
    for (const k8s_sd::JobStatus& job : manager_.status()) {
        if (job.name == name) return in_words(job);
    }
    return "job " + std::string(name) + " is gone";
}

std::map<std::string, std::string> ServedJobs::incomplete() const {
    std::map<std::string, std::string> jobs;
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto entry = jobs_.find(status.name);
        if (entry == jobs_.end()) continue;
        const ServedJob& job = *entry->second.job;
        if (!job.complete()) {
            jobs.emplace(status.name, in_words(status) + job.problem());
        } else if (const auto missing = job.missing_clusters(); !missing.empty()) {
            jobs.emplace(status.name, in_words_without(missing, status));
        }
    }
    return jobs;
}

std::string ServedJobs::incomplete(bool usable) const {
    std::string text;
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto entry = jobs_.find(status.name);
        if (entry == jobs_.end() || entry->second.usable != usable) continue;
        const ServedJob& job = *entry->second.job;
        if (!job.complete()) text += in_words(status) + job.problem() + "\n";
    }
    return text;
}

bool ServedJobs::all_unusable() const {
    return !jobs_.empty() && std::none_of(jobs_.begin(), jobs_.end(),
                                          [](const auto& job) { return job.second.usable; });
}

std::string ServedJobs::not_ready() const { return incomplete(!all_unusable()); }

std::string ServedJobs::failed() const { return all_unusable() ? "" : incomplete(false); }

std::string ServedJobs::failed_targets() const {
    std::string text;
    for (const auto& [name, entry] : jobs_) {
        const std::size_t failed = entry.job->counts().failed;
        if (failed == 0) continue;
        text += "job " + name + ": " + cli::counted(failed, "target") +
                " cannot be scraped; /api/ui/targets?state=failed has the reasons\n";
    }
    return text;
}

std::string ServedJobs::why_missing(const std::string& name) const {
    if (const auto why = left_out_.why(name)) return *why;
    if (why_no_monitor_) {
        if (const auto why = why_no_monitor_(name)) return "there is no job " + name + ": " + *why;
    }
    return "there is no job " + name + cli::suggestion(name, names());
}

std::string ServedJobs::unconfirmed() const {
    std::string text;
    for (const k8s_sd::JobStatus& job : manager_.status()) {
        if (has_unconfirmed(job)) {
            text += "job " + job.name + " has targets from before a restart" + messages(job) + "\n";
        }
    }
    return text;
}

std::string ServedJobs::stale() const {
    std::string text;
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto entry = jobs_.find(status.name);
        if (entry == jobs_.end() || status.synced || has_unconfirmed(status)) continue;
        const ServedJob& job = *entry->second.job;
        if (!job.complete() || !job.missing_clusters().empty()) continue;
        text += "job " + status.name +
                " is listed as it was before its configuration changed, "
                "which has not been listed completely yet" +
                messages(status) + "\n";
    }
    return text;
}

std::string ServedJobs::without_clusters() const {
    std::string text;
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto entry = jobs_.find(status.name);
        if (entry == jobs_.end() || !entry->second.job->complete()) continue;
        const auto missing = entry->second.job->missing_clusters();
        if (!missing.empty()) text += in_words_without(missing, status) + "\n";
    }
    return text;
}

std::vector<NamedJob> ServedJobs::monitors_without_targets() const {
    std::vector<NamedJob> jobs;
    for (const auto& [name, entry] : jobs_) {
        const bool is_complete = entry.from && entry.job->complete();
        if (is_complete && entry.job->counts().none()) jobs.emplace_back(name, entry.job);
    }
    return jobs;
}

std::map<std::string, JobMetrics> ServedJobs::metrics() const {
    std::map<std::string, JobMetrics> result;
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto entry = jobs_.find(status.name);
        if (entry != jobs_.end()) result[status.name] = metrics_of(entry->second, status);
    }
    return result;
}

JobMetrics ServedJobs::metrics_of(const Entry& entry, const k8s_sd::JobStatus& status) const {
    const auto seconds_since = [now = options_.clock->now()](k8s_sd::TimePoint time) {
        return std::chrono::duration<double>(now - time).count();
    };
    JobMetrics metrics{.targets = entry.job->counts(), .held = entry.job->held()};
    metrics.complete = entry.job->complete();
    if (!metrics.complete) metrics.incomplete_seconds = seconds_since(entry.since);
    metrics.unconfirmed = has_unconfirmed(status);
    metrics.synced = status.synced;
    if (!metrics.synced) metrics.unsynced_seconds = seconds_since(entry.configured);
    metrics.superseded = status.superseded;
    if (metrics.complete) metrics.missing_clusters = entry.job->missing_clusters().size();
    return metrics;
}

void ServedJobs::stop() {
    manager_.cancel();
    for (auto* const jobs : {&jobs_, &leaving_}) {
        for (const auto& [name, entry] : *jobs) entry.job->stop("the program is ending");
        jobs->clear();
    }
}

}  // namespace k8s_sd_program
