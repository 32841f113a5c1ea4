#include "scrape_jobs.hpp"

#include "k8s_sd/scrape/target_builder.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <utility>

namespace scraper {

namespace {

using Print = std::function<void(std::string line)>;

/// The longest time a moved target continues, with a margin.
k8s_sd::Duration handover_of(const k8s_sd::ScrapeConfigFile& file) {
    k8s_sd::Duration longest = std::chrono::seconds(30);
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        longest = std::max<k8s_sd::Duration>(longest, 2 * job.scrape.scrape_interval);
    }
    return longest + std::chrono::seconds(5);
}

void explain_first_target(k8s_sd::TargetBuilder builder, const k8s_sd::FleetShare& share,
                          const k8s_sd::JobSnapshot& snapshot, const Print& say) {
    for (const auto& provider : snapshot.providers) {
        if (provider.groups.empty()) continue;
        const k8s_sd::TargetGroup& group = *provider.groups.front();
        say("first target of " + std::string(group.source()));
        const k8s_sd::TargetExplanation explanation = builder.explain(group, 0, share);
        for (const k8s_sd::RelabelStep& step : explanation.rules) {
            say("  rule " + std::to_string(step.rule) + ": " + step.reason);
            for (const auto& change : step.changes) {
                say("    " + change.label + ": \"" + change.before + "\" -> \"" + change.after +
                    "\"");
            }
        }
        for (const std::string& step : explanation.steps) say("  " + step);
        return;
    }
    say("has no target to explain");
}

}  // namespace

ScrapeJobs::ScrapeJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
                       const Options& options, k8s_sd::FleetShare share, JobEvents events)
    : strand_(std::move(strand)),
      workers_(std::move(workers)),
      sharding_(options.sharding),
      unconfirmed_(options.unconfirmed),
      share_(std::move(share)),
      events_(std::move(events)),
      parts_(strand_, options.fleet.divide, [this] { discover(); }),
      manager_(strand_, [this](k8s_sd::JobDiff diff) { on_diff(std::move(diff)); }) {
    manager_.set_warm_start(options.warm_start);
    manager_.async_run(boost::asio::detached);
}

void ScrapeJobs::apply(const k8s_sd::ScrapeConfigFile& file) {
    parts_.set_jobs(file.discovery_jobs(), handover_of(file));
    discover();
    // A removed job stays until its last diff, which stops its targets. A job without a first diff
    // gets no last one.
    for (auto& [name, entry] : jobs_) entry.wanted = false;
    for (const k8s_sd::ScrapeJob& job : file.jobs) {
        const std::string& name = job.scrape.job_name;
        Entry& entry = jobs_[name];
        if (entry.job) {
            entry.job->reload(job, manager_.providers(name));
        } else {
            entry.job = std::make_shared<ScrapeJob>(workers_, job, sharding_, share_, unconfirmed_,
                                                    events_);
        }
        entry.config = job.scrape;
        entry.wanted = true;
    }
    std::erase_if(jobs_, [](const auto& job) { return !job.second.wanted && !job.second.begun; });
}

void ScrapeJobs::discover() {
    for (const k8s_sd::ConfigFailure& failure : manager_.apply_config(parts_.jobs())) {
        const bool kubernetes = failure.origin == k8s_sd::TargetOrigin::kubernetes;
        const std::string key(kubernetes ? "kubernetes_sd_configs" : to_string(failure.origin));
        const std::size_t number = kubernetes ? parts_.place_in_file(failure) : failure.config;
        events_.print(failure.job + ": " + key + "[" + std::to_string(number) +
                      "] cannot be used: " + failure.message);
    }
}

void ScrapeJobs::share(const k8s_sd::FleetShare& share) {
    share_ = share;
    parts_.share(share);
    for (const auto& [name, entry] : jobs_) entry.job->share(share);
}

void ScrapeJobs::on_diff(k8s_sd::JobDiff diff) {
    const auto entry = jobs_.find(diff.job);
    if (entry == jobs_.end()) return;
    entry->second.begun = !diff.last;
    entry->second.job->apply(std::move(diff));
    if (!entry->second.begun && !entry->second.wanted) jobs_.erase(entry);
}

void ScrapeJobs::report(std::function<void()> then) const {
    // The last job to release it calls `then`.
    const std::shared_ptr<void> done(nullptr,
                                     [this, strand = strand_, then = std::move(then)](void*) {
                                         boost::asio::post(strand, [this, then] {
                                             report_configs();
                                             then();
                                         });
                                     });
    for (const auto& [name, entry] : jobs_) entry.job->report(done);
}

void ScrapeJobs::report_configs() const {
    if (const std::string problem = parts_.problem(); !problem.empty()) events_.print(problem);
    for (const k8s_sd::JobStatus& status : manager_.status()) {
        for (const k8s_sd::JobConfigStatus& config : status.configs) {
            if (config.status.message.empty()) continue;
            events_.print(status.name + ": " + config.status.message);
        }
    }
}

void ScrapeJobs::explain() const {
    for (const auto& [name, entry] : jobs_) {
        const auto snapshot = manager_.snapshot(name);
        if (!snapshot) continue;
        const auto say = [&, job = name](const std::string& text) {
            events_.print(job + ": " + text);
        };
        explain_first_target(k8s_sd::TargetBuilder(entry.config, sharding_), share_, *snapshot,
                             say);
    }
}

bool ScrapeJobs::complete(const k8s_sd::FleetStatus& fleet) const {
    if (!parts_.known(fleet)) return false;
    const auto jobs = manager_.status();
    return std::all_of(jobs.begin(), jobs.end(), [](const auto& job) { return job.synced; });
}

void ScrapeJobs::stop() {
    parts_.stop();
    manager_.cancel();
    for (const auto& [name, entry] : jobs_) entry.job->stop();
    jobs_.clear();
}

}  // namespace scraper
