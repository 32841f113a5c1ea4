#include "jobs/served_job.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace k8s_sd_program {

namespace asio = boost::asio;

ServedJob::ServedJob(const asio::any_io_executor& executor, k8s_sd::ScrapeConfig config,
                     const ServeOptions& options, std::function<std::string()> why_incomplete,
                     ListMetrics& metrics, ChangeHistory* history)
    : strand_(asio::make_strand(executor)),
      options_(options),
      why_incomplete_(std::move(why_incomplete)),
      name_(config.job_name),
      targets_(std::move(config), options.lists, metrics, history),
      readers_(options.held_requests,
               std::chrono::duration_cast<WaitingReaders::Duration>(options.pace)),
      timer_(options.clock->make_timer(strand_)),
      swept_(options.clock->now()) {}

template <class Action>
void ServedJob::post(Action action) {
    asio::post(strand_, [self = shared_from_this(), action = std::move(action)]() mutable {
        if (!self->stopped_) action(*self);
    });
}

void ServedJob::reload(k8s_sd::ScrapeConfig config, std::vector<k8s_sd::ProviderId> providers) {
    post([config = std::move(config), providers = std::move(providers)](ServedJob& job) {
        job.targets_.reload(config, providers);
        job.on_change();
    });
}

void ServedJob::expect(ExpectedProviders expected, std::function<std::string()> problem) {
    {
        const std::lock_guard lock(counts_mutex_);
        problem_.swap(problem);
    }
    post([expected = std::move(expected)](ServedJob& job) mutable {
        job.targets_.expect(std::move(expected));
        job.wait_for_clusters();
        job.on_change();
    });
}

void ServedJob::apply(k8s_sd::JobDiff diff) {
    post([diff = std::move(diff)](ServedJob& job) {
        job.targets_.apply(diff);
        job.on_change();
    });
}

void ServedJob::on_change() {
    LiveCounts live = targets_.live_counts();
    const JobTargetCounts counts = live.now();
    const std::vector<std::string> missing = targets_.missing_clusters();
    {
        const std::lock_guard lock(counts_mutex_);
        std::swap(counts_, live);
        missing_clusters_ = missing;
    }
    const bool was_served = complete_.exchange(targets_.complete());
    if (targets_.complete()) report_start(was_served, counts, missing);
    report_failed(counts);
    if (targets_.complete()) readers_.changed();
    answer_waiting();
}

void ServedJob::report_start(bool was_served, const JobTargetCounts& counts,
                             const std::vector<std::string>& missing) {
    if (missing.empty()) {
        if (!std::exchange(is_reported_, true) && options_.on_complete)
            options_.on_complete(name_, counts);
    } else if (!was_served && options_.on_missing_clusters) {
        options_.on_missing_clusters(name_, counts, missing);
    }
}

/// The time begins with the first configuration of several clusters.
void ServedJob::wait_for_clusters() {
    if (clusters_due_ || !options_.start_without_clusters || !targets_.may_lack_clusters()) return;
    clusters_due_ = options_.clock->now() + std::chrono::duration_cast<k8s_sd::TimePoint::duration>(
                                                *options_.start_without_clusters);
}

void ServedJob::start_without_clusters() {
    const bool is_due = clusters_due_ && *clusters_due_ <= options_.clock->now();
    if (!is_due || !targets_.may_lack_clusters()) return;
    targets_.accept_missing_clusters();
    on_change();
}

/// Targets can fail and recover with each change of their objects, so not every one is reported.
void ServedJob::report_failed(const JobTargetCounts& counts) {
    constexpr std::chrono::minutes pace{10};
    const auto now = options_.clock->now();
    const bool is_more = counts.failed > failed_then_;
    if (is_more && next_report_ && now < *next_report_) return;
    failed_then_ = counts.failed;
    if (!is_more) return;
    next_report_ = now + pace;
    if (options_.on_failed) options_.on_failed(name_, counts, targets_.failure());
}

/// Periodically drops unused lists, so that they need not follow every change.
void ServedJob::forget_unused() {
    const auto now = options_.clock->now();
    if (now < next_sweep()) return;
    swept_ = now;
    targets_.forget_unused(now);
}

k8s_sd::TimePoint ServedJob::next_sweep() const {
    return swept_ + std::chrono::duration_cast<k8s_sd::TimePoint::duration>(options_.sweep);
}

/// An exception in one request must not end the program: destroying `on_list` notifies its client.
OnList ServedJob::without_exceptions(OnList on_list) {
    return [on_list = std::move(on_list)](const ListAnswer& answer) {
        try {
            on_list(answer);
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
        }
    };
}

void ServedJob::get(ListRequest request, OnList on_list) {
    asio::post(strand_, [self = shared_from_this(), request = std::move(request),
                         on_list = std::move(on_list)]() mutable {
        on_list = without_exceptions(std::move(on_list));
        if (self->ended_) return on_list({{}, *self->ended_, Refusal::ended});
        if (!self->complete_) on_list = self->with_reason(std::move(on_list));
        self->readers_.add(std::move(request), std::move(on_list), self->options_.clock->now(),
                           [&](const ListRequest& asked) { return self->answer(asked); });
        self->answer_waiting();
    });
}

void ServedJob::visit(std::function<void(JobTargets&)> visitor) {
    post([visitor = std::move(visitor)](ServedJob& job) {
        if (job.ended_) return;
        try {
            visitor(job.targets_);
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): as in get()
        }
        job.wake_later();
    });
}

/// The present response.
ListAnswer ServedJob::answer(const ListRequest& request) {
    if (!targets_.complete()) {
        if (ended_) return {{}, *ended_, Refusal::ended};
        return {{}, {}, Refusal::incomplete};
    }
    try {
        auto body = targets_.body(request.content, request.selection, options_.clock->now());
        if (ended_) return {std::move(body), *ended_, Refusal::ended};
        return {std::move(body),
                {},
                Refusal::none,
                targets_.warning(request.content, request.selection)};
    } catch (const LimitReached& e) {
        return {{}, e.what(), Refusal::limit};
    } catch (const std::bad_alloc&) {
        return {{}, "there is not enough memory for this list", Refusal::limit};
    }
}

/// Formats the reason only for readers about to receive it, not for all waiting ones.
/// \returns a callback for readers_; these do not outlive this
OnList ServedJob::with_reason(OnList on_list) const {
    return [this, on_list = std::move(on_list)](const ListAnswer& answer) {
        if (answer.why != Refusal::incomplete) return on_list(answer);
        on_list({{}, why_incomplete(), answer.why});
    };
}

void ServedJob::answer_waiting() {
    readers_.work(options_.clock->now(),
                  [this](const ListRequest& request) { return answer(request); });
    held_count_ = readers_.size();
    wake_later();
}

void ServedJob::wake_later() {
    auto due = readers_.due();
    if (targets_.keeps_something()) due = std::min(due.value_or(next_sweep()), next_sweep());
    if (clusters_due_ && targets_.may_lack_clusters())
        due = std::min(due.value_or(*clusters_due_), *clusters_due_);
    if (due == wakes_) return;
    wakes_ = due;
    timer_->cancel();
    if (!due) return;
    timer_->expires_at(*due, [self = shared_from_this()] {
        self->wakes_.reset();
        self->forget_unused();
        self->start_without_clusters();
        self->answer_waiting();
    });
}

void ServedJob::end_readers(std::string reason) {
    ended_ = std::move(reason);
    readers_.end([this](const ListRequest& request) { return answer(request); });
    answer_waiting();
}

void ServedJob::leave(std::string reason) {
    post([reason = std::move(reason)](ServedJob& job) mutable {
        job.end_readers(std::move(reason));
        job.targets_.begin_anew();
        job.clusters_due_.reset();
        job.is_reported_ = false;
        job.on_change();
    });
}

void ServedJob::come_back() {
    post([](ServedJob& job) { job.ended_.reset(); });
}

void ServedJob::stop(std::string reason) {
    post([reason = std::move(reason)](ServedJob& job) mutable {
        job.end_readers(std::move(reason));
        job.timer_->cancel();
        job.stopped_ = true;
    });
}

std::vector<std::string> ServedJob::missing_clusters() const {
    const std::lock_guard lock(counts_mutex_);
    return missing_clusters_;
}

std::string ServedJob::why_incomplete() const { return why_incomplete_() + problem(); }

std::string ServedJob::problem() const {
    std::function<std::string()> problem;
    {
        const std::lock_guard lock(counts_mutex_);
        problem = problem_;
    }
    return problem ? problem() : "";
}

JobTargetCounts ServedJob::counts() const {
    const std::lock_guard lock(counts_mutex_);
    return counts_.now();
}

}  // namespace k8s_sd_program
