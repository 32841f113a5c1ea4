#include "served_job.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
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
    if (targets_.complete()) answer_held();
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
        if (self->stopped_) return on_list({{}, "the program is ending"});
        if (self->targets_.complete()) return self->answer(request, on_list);
        self->hold(std::move(request), std::move(on_list));
    });
}

void ServedJob::visit(std::function<void(JobTargets&)> look) {
    post([look = std::move(look)](ServedJob& job) { look(job.targets_); });
}

void ServedJob::answer(const ListRequest& request, const OnList& on_list) {
    try {
        on_list({targets_.body(request.form, request.selection, Clock::now()), {}});
    } catch (const LimitReached& e) {
        on_list({{}, e.what()});
    }
}

void ServedJob::hold(ListRequest request, OnList on_list) {
    const auto time = std::min(options_.hold, request.patience);
    if (time.count() <= 0 || held_.size() >= options_.held_requests) {
        return on_list({{}, why_incomplete_()});
    }
    held_.push_back({std::move(request), std::move(on_list),
                     Clock::now() + std::chrono::duration_cast<Clock::duration>(time)});
    held_count_ = held_.size();
    refuse_held_later();
}

void ServedJob::answer_held() {
    timer_.cancel();
    held_count_ = 0;
    for (const Held& held : std::exchange(held_, {})) answer(held.request, held.on_list);
}

/// Those whose time is over.
void ServedJob::refuse_held(Clock::time_point now, const std::string& reason) {
    held_.remove_if([&](const Held& held) {
        if (held.until > now) return false;
        held.on_list({{}, reason});
        return true;
    });
    held_count_ = held_.size();
}

void ServedJob::refuse_held_later() {
    if (held_.empty()) return;
    const auto by_time = [](const Held& a, const Held& b) { return a.until < b.until; };
    timer_.expires_at(std::min_element(held_.begin(), held_.end(), by_time)->until);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
        if (ec) return;
        self->refuse_held(Clock::now(), self->why_incomplete_());
        self->refuse_held_later();
    });
}

void ServedJob::stop() {
    post([](ServedJob& job) {
        job.stopped_ = true;
        job.timer_.cancel();
        job.refuse_held(Clock::time_point::max(), "the program is ending");
    });
}

TargetCounts ServedJob::counts() const noexcept {
    return {discovered_, active_, dropped_, failed_};
}

}  // namespace bridge
