#include "scrape_watch.hpp"

#include "arguments.hpp"
#include "read_config.hpp"

#include <boost/asio/detached.hpp>
#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace k8s_sd_c {

namespace {

void refuse_failures(const std::vector<k8s_sd::ScrapeConfigFailure>& failures) {
    if (!failures.empty()) throw k8s_sd::ScrapeConfigError(failures);
}

std::vector<k8s_sd::Job> discovery_of(const std::vector<k8s_sd::ScrapeJob>& jobs) {
    std::vector<k8s_sd::Job> discovery;
    for (const k8s_sd::ScrapeJob& job : jobs) discovery.push_back(job.discovery);
    return discovery;
}

/// Refuses what cannot be used, before anything has changed.
void check(const std::vector<k8s_sd::ScrapeJob>& jobs) {
    for (const k8s_sd::ScrapeJob& job : jobs) {
        const k8s_sd::TargetBuilder builder(job.scrape);
        for (const k8s_sd::DiscoveryConfig& config : job.discovery.configs) resolve(config);
    }
}

}  // namespace

std::vector<k8s_sd::ScrapeJob> read_jobs(const k8s_sd_config& given, bool find_server) {
    k8s_sd::ScrapeConfigOptions options;
    options.dialect = read_dialect(given);
    options.prometheus_version = read_version(given);
    auto file = k8s_sd::parse_scrape_configs(required(given.yaml, "yaml"), options,
                                             std::string(text_or(given.file_name, "<yaml>")));
    refuse_failures(file.failures);
    for (k8s_sd::ScrapeJob& job : file.jobs) {
        job.discovery.min_update_interval = std::chrono::milliseconds(given.min_interval_ms);
        if (!find_server) continue;
        job.discovery.configs.edit_each(
            [](k8s_sd::DiscoveryConfig& config) { find_api_server(config); });
    }
    return std::move(file.jobs);
}

ScrapeWatch::ScrapeWatch(const Host& host, WatchIdentity identity,
                         std::vector<k8s_sd::ScrapeJob> jobs, std::size_t max_changes)
    : Watch(host, identity), current_(std::move(jobs)), max_changes_(max_changes) {
    check(current_);
}

void ScrapeWatch::start() {
    const std::lock_guard lock(mutex_);
    begin();
}

void ScrapeWatch::begin() {
    manager_ = std::make_shared<k8s_sd::DiscoveryManager>(
        host().io.get_executor(),
        [weak = weak_of(*this), number = ++manager_number_](const auto& diff) {
            if (const auto self = weak.lock()) self->on_diff(diff, number);
        });
    apply(current_);
    manager_->async_run(asio::detached);
}

std::shared_ptr<k8s_sd::DiscoveryManager> ScrapeWatch::manager() const {
    const std::lock_guard lock(mutex_);
    return manager_;
}

void ScrapeWatch::cancel() noexcept {
    if (const auto manager = this->manager()) manager->cancel();
}

void ScrapeWatch::forget() noexcept {
    cancel();
    std::shared_ptr<k8s_sd::DiscoveryManager> forgotten;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    forgotten.swap(manager_);
    for (const auto& [name, job] : jobs_) {
        job->pool.clear();
        job->pending.clear();
        job->waiting = job->more = false;
        job->reported = {};
        // Unless it comes again, the host has nothing of the job any more.
        job->full = !job->wanted;
        if (!job->wanted) job->known = false;
    }
}

void ScrapeWatch::begin_again() {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, job] : jobs_) job->delivery.reset();
    begin();
    for (const auto& [name, job] : jobs_) flush(name, *job);
}

void ScrapeWatch::check_status() {
    const auto manager = this->manager();
    if (!manager) return;
    const auto jobs = manager->status();
    const std::lock_guard lock(mutex_);
    for (const k8s_sd::JobStatus& job : jobs) {
        const auto it = jobs_.find(job.name);
        if (it == jobs_.end()) continue;
        JobTargets& targets = *it->second;
        ReportedStatus present{job.synced};
        for (const k8s_sd::JobConfigStatus& config : job.configs) {
            if (present.message.empty()) present.message = config.status.message;
        }
        if (present == targets.reported) continue;
        deliver(targets.status_slot, std::make_unique<StatusEvent>(identity(), present, job.name));
        targets.reported = std::move(present);
    }
}

void ScrapeWatch::reload(const k8s_sd_config& given) {
    auto jobs = read_jobs(given, host().find_server);
    check(jobs);
    const std::lock_guard lock(mutex_);
    max_changes_ = given.max_changes;
    if (manager_) apply(jobs);
    current_ = std::move(jobs);
}

void ScrapeWatch::apply(const std::vector<k8s_sd::ScrapeJob>& jobs) {
    std::set<std::string_view> names;
    for (const k8s_sd::ScrapeJob& job : jobs) {
        names.insert(job.discovery.name);
        auto& targets = jobs_[job.discovery.name];
        if (!targets) {
            targets = std::make_unique<JobTargets>(job.scrape);
            targets->slot = std::make_shared<Slot>(
                [&io = host().io, weak = weak_of(*this), name = job.discovery.name] {
                    asio::post(io, [weak, name] {
                        if (const auto self = weak.lock()) self->on_taken(name);
                    });
                });
        }
    }
    const auto failures = manager_->apply_config(discovery_of(jobs));
    if (!failures.empty()) {
        // Rare after check(): a file has changed since. The other jobs have the new configuration.
        throw Failure(K8S_SD_INVALID_CONFIG,
                      failures.front().job + ": " + failures.front().message);
    }
    for (const k8s_sd::ScrapeJob& job : jobs) {
        JobTargets& targets = *jobs_.find(job.discovery.name)->second;
        targets.pool.reload(job.scrape, {}, manager_->providers(job.discovery.name));
        flush(job.discovery.name, targets);
    }
    for (const auto& [name, job] : jobs_) job->wanted = names.contains(name);
    // Jobs that the host knows end with a last diff, and with its event.
    std::erase_if(jobs_, [](const auto& job) { return job.second->is_over(); });
}

void ScrapeWatch::on_diff(const k8s_sd::JobDiff& diff, std::uint64_t number) {
    std::shared_ptr<const void> released;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    if (number != manager_number_) return;
    const auto it = jobs_.find(diff.job);
    if (it == jobs_.end()) return;
    JobTargets& targets = *it->second;
    if (diff.full) {
        targets.pool.clear();
        targets.pending.clear();
        targets.known = targets.full = true;
    }
    targets.pool.apply(diff);
    if (diff.last) targets.known = false;
    released = std::exchange(targets.delivery, diff.delivery);
    if (!flush(diff.job, targets)) {
        released = std::move(targets.delivery);
        if (targets.is_over()) jobs_.erase(it);
    }
}

void ScrapeWatch::on_taken(const std::string& job) {
    std::shared_ptr<const void> released;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(job);
    if (it == jobs_.end()) return;
    JobTargets& targets = *it->second;
    targets.waiting = false;
    if (flush(job, targets)) return;
    released = std::move(targets.delivery);
    if (targets.is_over()) jobs_.erase(it);
}

bool ScrapeWatch::flush(const std::string& name, JobTargets& targets) {
    if (targets.waiting) return true;
    // After a part that promised more, an event ends the diff, even if later changes have undone
    // the rest.
    if (targets.pending.empty() && !targets.full && !targets.more) return false;
    TargetChanges changes = targets.pending.take(max_changes_);
    targets.more = changes.more;
    deliver(targets.slot,
            std::make_unique<TargetEvent>(identity(), targets.full, name, std::move(changes)));
    targets.waiting = true;
    targets.full = false;
    return true;
}

void ScrapeWatch::write_status(JsonWriter& out, std::vector<k8s_sd::WatchStatus>& urls) const {
    const auto manager = this->manager();
    out.name("jobs").begin('[');
    for (const k8s_sd::JobStatus& job :
         manager ? manager->status() : std::vector<k8s_sd::JobStatus>()) {
        out.begin('{').member("job", job.name).member("synced", job.synced);
        out.name("configs").begin('[');
        for (const k8s_sd::JobConfigStatus& config : job.configs) {
            out.begin('{');
            k8s_sd_c::write_status(out, config.status);
            out.end('}');
            urls.insert(urls.end(), config.status.watches.begin(), config.status.watches.end());
        }
        out.end(']').end('}');
    }
    out.end(']');
}

}  // namespace k8s_sd_c
