#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/discovery/due_queue.hpp"
#include "k8s_sd/detail/discovery/job_state.hpp"
#include "k8s_sd/detail/discovery/provider.hpp"
#include "k8s_sd/detail/discovery/provider_pool.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/metrics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

namespace k8s_sd::inline v0 {

using detail::JobState;
using detail::Provider;
using detail::ProviderSubscription;
using detail::RunOperation;
using detail::RunState;

namespace {

// Deliver several jobs in one batch: they then share the record of their next changes, see
// Provider::changes_from_now().
constexpr int job_diffs_per_batch = 64;

/// A job with resolved configurations.
struct ResolvedJob {
    std::string name;
    std::vector<JobState::ProviderEntry> entries;
    TargetFilter filter;
    JobState::Times times;
};

void check_jobs(const std::vector<Job>& jobs) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const std::string job = "jobs[" + std::to_string(i) + "]";
        const std::string& name = jobs[i].name;
        if (name.empty()) {
            throw ConfigError(job + ".name", "is empty; give each job its own name");
        }
        if (!names.insert(name).second) {
            throw ConfigError(job + ".name", detail::in_quotes(name) +
                                                 " is also the name of an earlier job; " +
                                                 "give each job its own name");
        }
        if (jobs[i].min_update_interval < Duration::zero()) {
            throw ConfigError(job + ".min_update_interval", "must not be negative");
        }
        if (jobs[i].supersede_timeout.value_or(Duration::zero()) < Duration::zero()) {
            throw ConfigError(job + ".supersede_timeout", "must not be negative");
        }
    }
}

}  // namespace

/// The state behind a handle. Lock order: `apply_mutex_` or the mutex of `delivery_ends_`, then
/// `mutex_`. The callback is called, and files are read, without `mutex_`.
class DiscoveryManager::Impl final : public RunState, public Provider::Observer {
 public:
    Impl(executor_type executor, Callback callback)
        : Impl(executor, detail::ContextEnvironment::of(executor), std::move(callback)) {}

    void set_warm_start(const WarmStart& options) {
        validate(options);
        const std::lock_guard applying(apply_mutex_);
        pool_.set_warm_start(options);
    }

    std::vector<ConfigFailure> apply_config(const std::vector<Job>& jobs) {
        check_jobs(jobs);
        const std::lock_guard applying(apply_mutex_);
        std::vector<ConfigFailure> failures;
        std::vector<ResolvedJob> prepared = prepare(jobs, failures);
        const std::lock_guard lock(mutex_);
        if (!cancelled()) commit(std::move(prepared));
        return failures;
    }

    std::vector<ConfigFailure> change_jobs(const std::vector<Job>& changed,
                                           const std::vector<std::string>& removed) {
        check_jobs(changed);
        const std::lock_guard applying(apply_mutex_);
        std::vector<ConfigFailure> failures;
        std::vector<ResolvedJob> prepared = prepare(changed, failures);
        const std::lock_guard lock(mutex_);
        if (!cancelled()) commit(std::move(prepared), removed);
        return failures;
    }

    std::vector<JobStatus> status() const {
        std::vector<JobStatus> all;
        const std::lock_guard lock(mutex_);
        for (const JobState* job : jobs_) all.push_back(job->status());
        return all;
    }

    std::vector<ServerHealth> servers() const {
        return servers_of(status(), detail::ContextEnvironment::of(executor()).usage());
    }

    std::optional<JobSnapshot> snapshot(std::string_view job) const {
        const std::lock_guard lock(mutex_);
        const JobState* state = find(job);
        if (!state) return std::nullopt;
        return state->snapshot();
    }

    std::vector<ProviderId> providers(std::string_view job) const {
        const std::lock_guard lock(mutex_);
        const JobState* state = find(job);
        return state ? state->providers() : std::vector<ProviderId>();
    }

 private:
    /// Forwards the end of deliveries to the manager until it is cancelled. A host may release a
    /// diff on any thread, even after the manager's context is destroyed, so this must not keep the
    /// manager alive, not even for a moment.
    class DeliveryEnds {
     public:
        explicit DeliveryEnds(Impl& manager) : manager_(&manager) {}
        void notify(const std::string& job) noexcept {
            const std::lock_guard lock(mutex_);
            if (manager_) manager_->end_delivery(job);
        }
        /// Waits for a running notify().
        void forget_manager() noexcept {
            const std::lock_guard lock(mutex_);
            manager_ = nullptr;
        }

     private:
        std::mutex mutex_;  // locked before the manager's
        Impl* manager_;
    };

    /// Destroyed when the host releases a job's diff.
    class JobDelivery {
     public:
        explicit JobDelivery(std::shared_ptr<DeliveryEnds> ends) : ends_(std::move(ends)) {}
        ~JobDelivery() {
            if (!job.empty()) ends_->notify(job);
        }
        JobDelivery(const JobDelivery&) = delete;
        JobDelivery& operator=(const JobDelivery&) = delete;

        std::string job;

     private:
        const std::shared_ptr<DeliveryEnds> ends_;
    };

    const JobState* find(std::string_view job) const {
        const auto state = states_.find(job);
        return state == states_.end() || state->second.ended() ? nullptr : &state->second;
    }

    Impl(const executor_type& executor, const detail::ContextEnvironment& environment,
         Callback callback)
        : RunState(executor, executor, environment.clock(), job_diffs_per_batch),
          metrics_(environment.metrics()),
          callback_(std::move(callback)),
          schedule_reminder_(environment.clock()),
          pool_(executor) {}

    void begin() override try {
        for (JobState* job : jobs_) start(*job);
    } catch (...) {  // the manager does not run, so it delivers nothing
        due_.clear();
        superseding_.clear();
        throw;
    }
    void end() noexcept override {
        due_.clear();
        superseding_.clear();
        jobs_.clear();
        states_.clear();
        failures_ = 0;
        count();
    }
    void on_ended() noexcept override {
        delivery_ends_->forget_manager();
        schedule_reminder_.cancel();
    }

    // --- applying a configuration -----------------------------------------------------------

    // Reads files, so it holds only apply_mutex_.
    std::vector<ResolvedJob> prepare(const std::vector<Job>& jobs,
                                     std::vector<ConfigFailure>& failures) {
        std::vector<ResolvedJob> prepared;
        detail::ProviderEntries known(pool_, self_as<Provider::Observer>(this));
        for (const Job& job : jobs) {
            ResolvedJob& result = prepared.emplace_back();
            result.name = job.name;
            result.filter = job.filter;
            result.times = {job.min_update_interval, job.supersede_timeout};
            for (const DiscoveryConfig& config : job.configs) {
                result.times.interval = std::max(result.times.interval, config.min_update_interval);
            }
            for (const auto& [entry, index] : known.of(job)) {
                result.entries.push_back(*entry);
                if (entry->provider) continue;
                failures.push_back({job.name, index, entry->problem, entry->origin});
            }
        }
        return prepared;
    }

    void commit(std::vector<ResolvedJob> prepared) {
        std::vector<JobState*> jobs = configure(std::move(prepared));
        // Start the new jobs before ending the old ones: targets of a renamed job are then always
        // in at least one job, and shared watches stay alive.
        jobs_.swap(jobs);
        start(jobs_);
        const std::set<JobState*> remaining(jobs_.begin(), jobs_.end());
        for (auto it = states_.begin(); it != states_.end();) {
            JobState& state = (it++)->second;
            if (!remaining.contains(&state)) end(state);
        }
        count();
    }

    void commit(std::vector<ResolvedJob> prepared, const std::vector<std::string>& removed) {
        std::set<std::string> changed;
        for (const ResolvedJob& job : prepared) changed.insert(job.name);
        start(add(std::move(prepared)));
        std::set<JobState*> gone;
        for (const std::string& name : removed) {
            const auto state = states_.find(name);
            const bool is_job = state != states_.end() && !state->second.ended();
            if (!is_job || changed.contains(name)) continue;
            gone.insert(&state->second);
        }
        if (!gone.empty()) {
            std::erase_if(jobs_, [&](JobState* job) { return gone.contains(job); });
        }
        for (JobState* job : gone) end(*job);
        count();
    }

    /// Configures jobs, the new ones after all others.
    std::vector<JobState*> add(std::vector<ResolvedJob> prepared) try {
        for (const ResolvedJob& job : prepared) {
            if (find(job.name)) continue;
            jobs_.push_back(nullptr);
            jobs_.back() = &state_of(job.name);
        }
        return configure(std::move(prepared));
    } catch (...) {
        std::erase_if(jobs_, [](const JobState* job) { return !job || job->ended(); });
        throw;
    }

    JobState& state_of(const std::string& name) {
        return states_.try_emplace(name, name).first->second;
    }

    std::vector<JobState*> configure(std::vector<ResolvedJob> prepared) {
        std::vector<JobState*> jobs;
        for (ResolvedJob& job : prepared) {
            JobState& state = state_of(job.name);
            failures_ -= state.unusable();
            state.configure(std::move(job.entries), job.filter, job.times, clock().now());
            failures_ += state.unusable();
            jobs.push_back(&state);
        }
        // One pass over the groups of a provider for all its new jobs.
        for (const JobState* job : jobs) {
            for (const auto& subscription : job->subscriptions()) subscription->provider()->fill();
        }
        return jobs;
    }

    void start(const std::vector<JobState*>& jobs) {
        for (JobState* job : jobs) start(*job);
    }

    void start(JobState& state) {
        if (!running()) return;
        for (const auto& subscription : state.subscriptions()) subscription->provider()->start();
        due_.remove(state);  // the interval may have changed
        schedule(state);
        watch_superseded(state);
    }

    void end(JobState& state) {
        due_.remove(state);
        superseding_.remove(state);
        failures_ -= state.unusable();
        state.end();
        if (state.begun()) return schedule(state);
        states_.erase(states_.find(state.name()));
    }

    /// Publishes the numbers of jobs and failures.
    void count() {
        const auto publish = [](Metrics::Gauge& gauge, std::size_t& before, std::size_t now) {
            gauge += static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before);
            before = now;
        };
        publish(metrics_->failed_configs, published_failures_, failures_);
        publish(metrics_->jobs, published_jobs_, jobs_.size());
    }

    // --- events of the providers, under mutex_ ----------------------------------------------

    std::mutex& mutex() noexcept override { return mutex_; }

    void on_ready(Provider& provider) override {
        for (ProviderSubscription* subscriber : provider.subscribers()) {
            subscriber->job().on_ready(provider);
            schedule(subscriber->job());
            watch_superseded(subscriber->job());
        }
    }

    void on_changes(Provider& provider,
                    const std::vector<ProviderSubscription*>& concerned) override {
        for (const ProviderSubscription* subscriber : concerned) schedule(subscriber->job());
        for (const ProviderSubscription* subscriber : provider.unfiltered()) {
            schedule(subscriber->job());
        }
    }

    // --- delivery -----------------------------------------------------------------------------

    void schedule(JobState& state) {
        if (due_.contains(state) && missed_delivery()) return wake();
        if (!running() || due_.contains(state) || state.busy() || !state.has_news()) return;
        due_.put(state.due(clock().now()), state);
        if (&due_.next() == &state) wake();
    }

    void watch_superseded(JobState& state) {
        superseding_.remove(state);
        const std::optional<TimePoint> end = state.supersede_end();
        if (!end) return;
        superseding_.put(*end, state);
        if (&superseding_.next() == &state) wake();
    }

    bool deliver_next(TimePoint now) override {
        // Its destructor takes the mutex.
        const std::shared_ptr<JobDelivery> delivery = make_delivery(now);
        std::optional<JobDiff> diff;
        {
            const std::lock_guard lock(mutex_);
            end_superseded(now);
            diff = take_due(now, delivery);
        }
        if (!diff || cancelled()) return false;
        metrics_->job_diffs_delivered.fetch_add(1, std::memory_order_relaxed);
        callback_(std::move(*diff));
        return true;
    }

    std::optional<TimePoint> next_due(TimePoint) override {
        const std::lock_guard lock(mutex_);
        TimePoint next = TimePoint::max();
        if (!due_.empty()) next = due_.next_time();
        if (!superseding_.empty()) next = std::min(next, superseding_.next_time());
        if (next == TimePoint::max()) return std::nullopt;
        return std::max(next, retry_at_);
    }

    std::shared_ptr<JobDelivery> make_delivery(TimePoint now) try {
        return std::make_shared<JobDelivery>(delivery_ends_);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        retry_at_ = detail::due_after(now, detail::Reminder::pause);
        throw;
    }

    void end_superseded(TimePoint now) try {
        while (!superseding_.empty() && superseding_.next_time() <= now) {
            JobState& state = superseding_.next();
            state.end_superseded(now);
            schedule(state);  // without memory the job stays in superseding_, and this is repeated
            watch_superseded(state);
        }
    } catch (...) {
        retry_at_ = detail::due_after(now, detail::Reminder::pause);
        throw;
    }

    std::optional<JobDiff> take_due(TimePoint now, const std::shared_ptr<JobDelivery>& delivery) {
        while (!due_.empty() && due_.next_time() <= now) {
            JobState& state = due_.next();
            if (!state.has_news()) {  // the change was reverted
                due_.remove(state);
                continue;
            }
            JobDiff diff = take(state, now, delivery);
            due_.remove(state);
            diff.delivery = delivery;
            state.begin_delivery(delivery);
            if (state.ended()) states_.erase(states_.find(diff.job));
            return diff;
        }
        return std::nullopt;
    }

    /// Without memory, it is tried again after a pause.
    JobDiff take(JobState& state, TimePoint now, const std::shared_ptr<JobDelivery>& delivery) {
        try {
            delivery->job = state.name();
            std::string name = state.name();
            JobDiff diff = state.take(now);
            diff.job = std::move(name);
            return diff;
        } catch (...) {
            due_.postpone_next(detail::due_after(now, detail::Reminder::pause));
            throw;
        }
    }

    // Any thread.
    void end_delivery(const std::string& job) noexcept try {
        const std::lock_guard lock(mutex_);
        const auto state = states_.find(job);
        if (state != states_.end()) schedule(state->second);
    } catch (const std::bad_alloc&) {
        schedule_later();
    }
    /// All jobs, because there may be no memory for the name of one.
    void schedule_later() noexcept {
        schedule_reminder_.call_later(executor(), [weak = weak_from_this()] {
            if (const auto self = weak.lock()) static_cast<Impl&>(*self).schedule_all();
        });
    }
    void schedule_all() noexcept try {
        const std::lock_guard lock(mutex_);
        for (auto& [name, state] : states_) schedule(state);
    } catch (const std::bad_alloc&) {
        schedule_later();
    }

    const std::shared_ptr<Metrics> metrics_;
    const Callback callback_;
    const std::shared_ptr<DeliveryEnds> delivery_ends_ = std::make_shared<DeliveryEnds>(*this);

    detail::Reminder schedule_reminder_;  // of jobs that could not be when their deliveries ended

    std::mutex apply_mutex_;
    detail::ProviderPool pool_;  // guarded by apply_mutex_

    // Guarded by the mutex, also the objects referred to.
    std::map<std::string, JobState, std::less<>> states_;  // includes jobs with an undelivered end
    std::vector<JobState*> jobs_;                          // in the order of the configuration
    detail::DueQueue<JobState> due_;
    detail::DueQueue<JobState> superseding_;  // by the time their superseded targets are removed
    TimePoint retry_at_ = TimePoint::min();   // of a delivery that could not begin
    std::size_t failures_ = 0;                // unusable configurations of all jobs
    std::size_t published_failures_ = 0;
    std::size_t published_jobs_ = 0;
};

DiscoveryManager::DiscoveryManager(executor_type executor, Callback callback) {
    detail::check_host_executor(executor, "DiscoveryManager");
    detail::check_callback(callback, "DiscoveryManager");
    impl_ = std::make_shared<Impl>(std::move(executor), std::move(callback));
}

DiscoveryManager& DiscoveryManager::operator=(DiscoveryManager&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

DiscoveryManager::~DiscoveryManager() { cancel(); }

DiscoveryManager::executor_type DiscoveryManager::get_executor() const noexcept {
    return impl_->executor();
}

void DiscoveryManager::set_warm_start(const WarmStart& options) { impl_->set_warm_start(options); }

std::vector<ConfigFailure> DiscoveryManager::apply_config(const std::vector<Job>& jobs) {
    return impl_->apply_config(jobs);
}

std::vector<ConfigFailure> DiscoveryManager::change_jobs(const std::vector<Job>& changed,
                                                         const std::vector<std::string>& removed) {
    return impl_->change_jobs(changed, removed);
}

void DiscoveryManager::run(const std::shared_ptr<Impl>& impl, RunOperation::Handler handler) {
    impl->run(std::move(handler));
}

void DiscoveryManager::cancel() noexcept {
    if (impl_) impl_->cancel();
}

std::vector<JobStatus> DiscoveryManager::status() const { return impl_->status(); }

std::vector<ServerHealth> DiscoveryManager::servers() const { return impl_->servers(); }

std::vector<ProviderId> DiscoveryManager::providers(std::string_view job) const {
    return impl_->providers(job);
}

std::optional<JobSnapshot> DiscoveryManager::snapshot(std::string_view job) const {
    return impl_->snapshot(job);
}

}  // namespace k8s_sd::inline v0
