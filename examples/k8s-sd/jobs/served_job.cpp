#include "jobs/served_job.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <utility>

namespace bridge {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto sweep_interval = std::chrono::minutes(1);

}  // namespace

ServedJob::ServedJob(const asio::any_io_executor& executor, k8s_sd::ScrapeConfig config,
                     const ServeOptions& options, std::function<std::string()> why_incomplete,
                     ListMetrics& metrics, ChangeHistory* history)
    : strand_(asio::make_strand(executor)),
      options_(options),
      why_incomplete_(std::move(why_incomplete)),
      targets_(std::move(config), options.lists, metrics, history),
      readers_(options.held_requests,
               std::chrono::duration_cast<WaitingReaders::Duration>(options.pace)),
      timer_(strand_) {}

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

void ServedJob::expect(std::optional<std::vector<k8s_sd::ProviderId>> providers) {
    post([providers = std::move(providers)](ServedJob& job) mutable {
        job.targets_.expect(std::move(providers));
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
    const TargetCounts counts = targets_.counts();
    discovered_ = counts.discovered;
    active_ = counts.active;
    dropped_ = counts.dropped;
    failed_ = counts.failed;
    complete_ = targets_.complete();
    if (targets_.complete()) readers_.changed();
    answer_waiting();
    forget_unused();
}

/// Now and then: a list that nobody asks for is not to be kept up with every change.
void ServedJob::forget_unused() {
    const auto now = Clock::now();
    if (now - swept_ < sweep_interval) return;
    swept_ = now;
    targets_.forget_unused(now);
}

void ServedJob::get(ListRequest request, OnList on_list) {
    asio::post(strand_, [self = shared_from_this(), request = std::move(request),
                         on_list = std::move(on_list)]() mutable {
        if (self->ended_) return on_list({{}, *self->ended_, Refusal::ended});
        self->readers_.add(std::move(request), std::move(on_list), Clock::now(),
                           [&](const ListRequest& asked) { return self->look(asked); });
        self->answer_waiting();
    });
}

void ServedJob::visit(std::function<void(JobTargets&)> look) {
    post([look = std::move(look)](ServedJob& job) {
        if (!job.ended_) look(job.targets_);
    });
}

/// What is to be answered now.
ListAnswer ServedJob::look(const ListRequest& request) {
    if (!targets_.complete()) {
        if (ended_) return {{}, *ended_, Refusal::ended};
        return {{}, why_incomplete_(), Refusal::incomplete};
    }
    try {
        auto body = targets_.body(request.form, request.selection, Clock::now());
        if (ended_) return {std::move(body), *ended_, Refusal::ended};
        return {std::move(body)};
    } catch (const LimitReached& e) {
        return {{}, e.what(), Refusal::limit};
    }
}

void ServedJob::answer_waiting() {
    readers_.work(Clock::now(), [this](const ListRequest& request) { return look(request); });
    held_count_ = readers_.size();
    wake_later();
}

void ServedJob::wake_later() {
    const auto due = readers_.due();
    if (due == wakes_) return;
    wakes_ = due;
    timer_.cancel();
    if (!due) return;
    timer_.expires_at(*due);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
        if (ec || self->stopped_) return;
        self->wakes_.reset();
        self->answer_waiting();
    });
}

void ServedJob::end_readers(std::string reason) {
    ended_ = std::move(reason);
    readers_.end([this](const ListRequest& request) { return look(request); });
    answer_waiting();
}

void ServedJob::leave(std::string reason) {
    post([reason = std::move(reason)](ServedJob& job) mutable {
        job.end_readers(std::move(reason));
        job.targets_.begin_anew();
        job.on_change();
    });
}

void ServedJob::come_back() {
    post([](ServedJob& job) { job.ended_.reset(); });
}

void ServedJob::stop(std::string reason) {
    post([reason = std::move(reason)](ServedJob& job) mutable {
        job.end_readers(std::move(reason));
        job.stopped_ = true;
    });
}

TargetCounts ServedJob::counts() const noexcept {
    return {discovered_, active_, dropped_, failed_};
}

}  // namespace bridge
