#include "k8s_sd/detail/base/operation.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/discovery/due_queue.hpp"
#include "k8s_sd/detail/discovery/job_state.hpp"
#include "k8s_sd/detail/discovery/provider.hpp"
#include "k8s_sd/detail/discovery/provider_pool.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace k8s_sd::inline v0 {

using detail::JobState;
using detail::Provider;
using detail::ProviderSubscription;
using detail::RunOperation;

namespace {

// Jobs that are told together have in common what comes next, so a turn of the delivery strand tells
// several; then other handlers get their turn.
constexpr int diffs_per_turn = 64;

/// A job whose configurations have been looked at.
struct ResolvedJob {
    std::string name;
    std::vector<JobState::Entry> entries;
    Duration interval{0};
};

void check_jobs(const std::vector<Job>& jobs) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const std::string job = "jobs[" + std::to_string(i) + "]";
        const std::string& name = jobs[i].name;
        if (name.empty()) {
            throw ConfigError(job + ".name", "is empty; give each job a name of its own");
        }
        if (!names.insert(name).second) {
            throw ConfigError(job + ".name", detail::in_quotes(name) +
                                                 " is the name of an earlier job as well; " +
                                                 "give each job a name of its own");
        }
        if (jobs[i].min_update_interval < Duration::zero()) {
            throw ConfigError(job + ".min_update_interval", "must not be negative");
        }
    }
}

}  // namespace

/// The state behind a handle. Lock order: `apply_mutex_`, `mutex_`. The callback is called, and
/// files are read, without `mutex_`.
class DiscoveryManager::Impl final : public Provider::Observer,
                                     public std::enable_shared_from_this<Impl> {
 public:
    Impl(executor_type executor, Callback callback)
        : Impl(executor, detail::ContextEnvironment::of(executor), std::move(callback)) {}

    const executor_type& executor() const noexcept { return executor_; }

    std::vector<ConfigFailure> apply_config(const std::vector<Job>& jobs) {
        check_jobs(jobs);
        const std::lock_guard applying(apply_mutex_);
        std::vector<ConfigFailure> failures;
        std::vector<ResolvedJob> prepared = prepare(jobs, failures);
        const std::lock_guard lock(mutex_);
        if (!cancelled_) commit(std::move(prepared), failures.size());
        return failures;
    }

    void run(RunOperation::Handler handler) {
        auto operation =
            std::make_unique<RunOperation>(std::move(handler), executor_, weak_from_this());
        const std::lock_guard lock(mutex_);
        if (operation_) {
            return RunOperation::complete(std::move(operation), asio::error::already_started);
        }
        if (cancelled_) {
            return RunOperation::complete(std::move(operation), asio::error::operation_aborted);
        }
        operation_ = std::move(operation);
        for (JobState* job : jobs_) start(*job);
    }

    void cancel() noexcept {
        if (cancelled_.exchange(true)) return;
        const std::lock_guard lock(mutex_);
        agenda_.clear();
        jobs_.clear();
        streams_.clear();
        count(0);
        // A timer has to be destroyed where it is used.
        asio::post(delivery_, [self = shared_from_this()] { self->timer_.reset(); });
        if (operation_) {
            RunOperation::complete(std::move(operation_), asio::error::operation_aborted);
        }
    }

    std::vector<JobStatus> status() const {
        std::vector<JobStatus> all;
        const std::lock_guard lock(mutex_);
        for (const JobState* job : jobs_) all.push_back(job->status());
        return all;
    }

    std::optional<JobSnapshot> snapshot(std::string_view job) const {
        const std::lock_guard lock(mutex_);
        const auto stream = streams_.find(job);
        if (stream == streams_.end() || stream->second.ended()) return std::nullopt;
        return stream->second.snapshot();
    }

 private:
    Impl(const executor_type& executor, const detail::ContextEnvironment& environment,
         Callback callback)
        : executor_(executor),
          delivery_(asio::make_strand(executor_)),
          clock_(environment.clock()),
          metrics_(environment.metrics()),
          callback_(std::move(callback)),
          pool_(executor_) {}

    // --- applying a configuration -----------------------------------------------------------

    // Under apply_mutex_ only: reads files.
    std::vector<ResolvedJob> prepare(const std::vector<Job>& jobs,
                                     std::vector<ConfigFailure>& failures) {
        std::vector<ResolvedJob> prepared;
        std::map<DiscoveryConfig, JobState::Entry> known;  // equal ones read their files once
        for (const Job& job : jobs) {
            ResolvedJob& result = prepared.emplace_back();
            result.name = job.name;
            result.interval = job.min_update_interval;
            for (std::size_t i = 0; i < job.configs.size(); ++i) {
                DiscoveryConfig config = job.configs[i];
                result.interval = std::max(result.interval, config.min_update_interval);
                // What remains is the same for all jobs. A negative one is an error.
                config.min_update_interval = std::min(config.min_update_interval, Duration{});
                auto entry = known.find(config);
                if (entry == known.end()) {
                    entry =
                        known.emplace(config, pool_.find_or_make(config, weak_from_this())).first;
                }
                result.entries.push_back(entry->second);
                if (entry->second.provider) continue;
                failures.push_back({job.name, i, entry->second.problem});
            }
        }
        return prepared;
    }

    void commit(std::vector<ResolvedJob> prepared, std::size_t failures) {
        std::vector<JobState*> jobs;
        for (ResolvedJob& job : prepared) {
            JobState& stream = streams_.try_emplace(job.name, job.name).first->second;
            stream.configure(std::move(job.entries), job.interval);
            jobs.push_back(&stream);
        }
        // Jobs that remain come before those that go: of a job under a new name there is always
        // one. What is there is started before anything of the old configuration is let go.
        jobs_.swap(jobs);
        for (JobState* job : jobs_) start(*job);
        const std::set<JobState*> remaining(jobs_.begin(), jobs_.end());
        for (auto it = streams_.begin(); it != streams_.end();) {
            JobState& stream = (it++)->second;
            if (!remaining.contains(&stream)) end(stream);
        }
        count(failures);
    }

    void start(JobState& stream) {
        if (!operation_) return;
        for (const auto& part : stream.parts()) part->provider()->start();
        agenda_.remove(stream);  // the interval may be another one
        schedule(stream);
    }

    void end(JobState& stream) {
        agenda_.remove(stream);
        stream.end();
        if (stream.begun()) return schedule(stream);
        streams_.erase(streams_.find(stream.name()));
    }

    void count(std::size_t failures) {
        metrics_->failed_configs += static_cast<std::int64_t>(failures - counted_failures_);
        metrics_->jobs += static_cast<std::int64_t>(jobs_.size() - counted_jobs_);
        counted_failures_ = failures;
        counted_jobs_ = jobs_.size();
    }

    // --- what providers find ----------------------------------------------------------------

    void on_ready(Provider& provider, const TargetGroupDiff& full) override {
        const std::lock_guard lock(mutex_);
        provider.set_ready(full);
        for (ProviderSubscription* part : provider.parts()) {
            part->stream().on_ready(provider);
            schedule(part->stream());
        }
    }

    void on_changes(Provider& provider, const std::vector<GroupChange>& changes) override {
        const std::lock_guard lock(mutex_);
        provider.apply(changes);
        for (const ProviderSubscription* part : provider.parts()) schedule(part->stream());
    }

    // --- delivery -----------------------------------------------------------------------------

    void schedule(JobState& stream) {
        if (!operation_ || agenda_.contains(stream) || !stream.has_news()) return;
        agenda_.put(stream.due(clock_->now()), stream);
        if (&agenda_.next() == &stream) wake();
    }

    void wake() {
        if (std::exchange(awake_, true)) return;
        asio::post(delivery_, [self = shared_from_this()] { self->deliver(); });
    }

    // On the delivery strand.
    void deliver() {
        {
            const std::lock_guard lock(mutex_);
            awake_ = false;
        }
        for (int diffs = 0; diffs < diffs_per_turn && deliver_one(); ++diffs) {
        }
    }

    bool deliver_one() {
        std::string job;
        std::optional<JobDiff> diff;
        {
            const std::lock_guard lock(mutex_);
            diff = take_due(job);
            wake_for_next();  // before the callback, which may throw
        }
        if (!diff || cancelled_) return false;
        diff->job = job;
        metrics_->job_diffs_delivered.fetch_add(1, std::memory_order_relaxed);
        callback_(*diff);
        return true;
    }

    std::optional<JobDiff> take_due(std::string& job) {
        const TimePoint now = clock_->now();
        while (!agenda_.empty() && agenda_.next_time() <= now) {
            JobState& stream = agenda_.next();
            agenda_.remove(stream);
            if (!stream.has_news()) continue;  // it has changed back
            job = stream.name();
            JobDiff diff = stream.take(now);
            if (stream.ended()) streams_.erase(streams_.find(job));
            return diff;
        }
        return std::nullopt;
    }

    void wake_for_next() {
        if (agenda_.empty()) return;
        if (agenda_.next_time() <= clock_->now()) return wake();
        if (!timer_) timer_ = clock_->make_timer(delivery_);
        timer_->expires_at(agenda_.next_time(), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->deliver();
        });
    }

    const executor_type executor_;
    const asio::strand<executor_type> delivery_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<Metrics> metrics_;
    const Callback callback_;
    std::atomic<bool> cancelled_ = false;

    std::mutex apply_mutex_;
    detail::ProviderPool pool_;  // guarded by it

    mutable std::mutex mutex_;  // guards what follows, and all streams, parts and providers
    std::unique_ptr<RunOperation> operation_;
    std::map<std::string, JobState, std::less<>> streams_;  // also of jobs whose end is due
    std::vector<JobState*> jobs_;                           // in the order of the configuration
    detail::DueQueue<JobState> agenda_;
    bool awake_ = false;  // deliver() has been posted
    std::size_t counted_failures_ = 0;
    std::size_t counted_jobs_ = 0;

    std::unique_ptr<Timer> timer_;  // of the delivery strand
};

DiscoveryManager::DiscoveryManager(executor_type executor, Callback callback)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(callback))) {}

DiscoveryManager& DiscoveryManager::operator=(DiscoveryManager&& other) noexcept {
    if (this != &other) {
        cancel();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

DiscoveryManager::~DiscoveryManager() { cancel(); }

DiscoveryManager::executor_type DiscoveryManager::get_executor() const noexcept {
    return impl_->executor();
}
DiscoveryManager::executor_type DiscoveryManager::executor_of(const Impl& impl) noexcept {
    return impl.executor();
}

std::vector<ConfigFailure> DiscoveryManager::apply_config(const std::vector<Job>& jobs) {
    return impl_->apply_config(jobs);
}

void DiscoveryManager::run(const std::shared_ptr<Impl>& impl, RunOperation::Handler handler) {
    impl->run(std::move(handler));
}

void DiscoveryManager::cancel() noexcept {
    if (impl_) impl_->cancel();
}

std::vector<JobStatus> DiscoveryManager::status() const { return impl_->status(); }

std::optional<JobSnapshot> DiscoveryManager::snapshot(std::string_view job) const {
    return impl_->snapshot(job);
}

}  // namespace k8s_sd::inline v0
