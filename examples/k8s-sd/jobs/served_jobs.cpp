#include "jobs/served_jobs.hpp"

#include <boost/asio/detached.hpp>
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace bridge {

namespace {

std::string in_words(const k8s_sd::ConfigFailure& failure) {
    const bool kubernetes = failure.origin == k8s_sd::TargetOrigin::kubernetes;
    const std::string key(kubernetes ? "kubernetes_sd_configs" : to_string(failure.origin));
    return failure.job + ": " + key + "[" + std::to_string(failure.config) +
           "] cannot be used: " + failure.message;
}

/// What is wrong with its configurations.
std::string messages(const k8s_sd::JobStatus& job) {
    std::string text;
    for (const k8s_sd::JobConfigStatus& config : job.configs) {
        if (!config.status.message.empty()) text += "; " + config.status.message;
    }
    return text;
}

/// Of a job that is not complete: what it waits for.
std::string in_words(const k8s_sd::JobStatus& job) {
    return "job " + job.name + " has not been discovered completely yet" + messages(job);
}

bool has_unconfirmed(const k8s_sd::JobStatus& job) {
    return std::any_of(job.configs.begin(), job.configs.end(),
                       [](const auto& config) { return config.status.unconfirmed; });
}

}  // namespace

ServedJobs::ServedJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
                       const ServeOptions& options, BridgeMetrics& metrics)
    : workers_(std::move(workers)),
      options_(options),
      metrics_(metrics),
      manager_(std::move(strand), [this](k8s_sd::JobDiff diff) { on_diff(std::move(diff)); }) {
    manager_.set_warm_start(options.warm_start);
    manager_.async_run(boost::asio::detached);
}

std::vector<std::string> ServedJobs::apply(const k8s_sd::ScrapeConfigFile& file) {
    std::vector<k8s_sd::Job> discovery = file.discovery_jobs();
    // Stale beats empty, however long it takes.
    for (k8s_sd::Job& job : discovery) job.supersede_timeout.reset();
    std::vector<std::string> problems;
    std::set<std::string_view> failed;
    const auto failures = manager_.apply_config(discovery);
    for (const k8s_sd::ConfigFailure& failure : failures) {
        problems.push_back(in_words(failure));
        failed.insert(failure.job);
    }
    std::set<std::string_view> names;
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        apply(job, !failed.contains(job.scrape.job_name));
        names.insert(job.scrape.job_name);
    }
    remove_all_but(names);
    return problems;
}

void ServedJobs::apply(const k8s_sd::ScrapeJob& job, bool usable) {
    const std::string& name = job.scrape.job_name;
    const std::vector<k8s_sd::ProviderId> providers = manager_.providers(name);
    Entry& entry = jobs_[name];
    if (entry.job) {
        entry.job->reload(job.scrape, providers);
    } else {
        entry.job = std::make_shared<ServedJob>(
            workers_, job.scrape, options_, [this, name] { return why_incomplete(name); },
            metrics_.lists, &history_);
        entry.since = options_.clock->now();
    }
    entry.usable = usable;
    entry.config = std::make_shared<k8s_sd::ScrapeJob>(job);
    entry.job->expect(usable ? std::optional(providers) : std::nullopt);
}

void ServedJobs::remove_all_but(const std::set<std::string_view>& names) {
    std::erase_if(jobs_, [&](const auto& job) {
        if (names.contains(job.first)) return false;
        history_.forget(job.first);
        job.second.job->stop("the configuration has no such job any more");
        return true;
    });
}

/// The last diff of a job that is gone concerns nobody, and comes before the first one of a job of
/// its name that has come back.
void ServedJobs::on_diff(k8s_sd::JobDiff diff) {
    const auto entry = jobs_.find(diff.job);
    if (diff.last || entry == jobs_.end()) return;
    entry->second.job->apply(std::move(diff));
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

/// Any thread: only asks the manager.
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
        if (entry == jobs_.end() || entry->second.job->complete()) continue;
        jobs.emplace(status.name, in_words(status));
    }
    return jobs;
}

std::string ServedJobs::incomplete(bool usable) const {
    std::string text;
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto entry = jobs_.find(status.name);
        if (entry == jobs_.end() || entry->second.usable != usable) continue;
        if (!entry->second.job->complete()) text += in_words(status) + "\n";
    }
    return text;
}

std::string ServedJobs::not_ready() const { return incomplete(true); }

std::string ServedJobs::failed() const { return incomplete(false); }

std::string ServedJobs::unconfirmed() const {
    std::string text;
    for (const k8s_sd::JobStatus& job : manager_.status()) {
        if (has_unconfirmed(job)) {
            text += "job " + job.name + " has targets of before a restart" + messages(job) + "\n";
        }
    }
    return text;
}

std::map<std::string, JobMetrics> ServedJobs::metrics() const {
    std::map<std::string, JobMetrics> result;
    for (const auto& [name, entry] : jobs_) {
        const bool complete = entry.job->complete();
        const std::chrono::duration<double> waits = options_.clock->now() - entry.since;
        result[name] = {entry.job->counts(), entry.job->held(), complete,
                        complete ? 0 : waits.count()};
    }
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        const auto job = result.find(status.name);
        if (job != result.end()) job->second.unconfirmed = has_unconfirmed(status);
    }
    return result;
}

void ServedJobs::stop() {
    manager_.cancel();
    for (const auto& [name, entry] : jobs_) entry.job->stop("the program is ending");
    jobs_.clear();
}

}  // namespace bridge
