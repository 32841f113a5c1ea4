#include "k8s_sd/detail/watch/watch_permits.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The recovery of a server wakes all waiting watches: spread over this time, and none of them
/// sooner than this pause after its own failure.
constexpr Duration recovery_jitter = std::chrono::seconds(1);
constexpr Duration min_recovery_pause = std::chrono::seconds(4);
/// Watches leave a server removed from the kubeconfig spread over this time.
constexpr Duration leaving_jitter = std::chrono::seconds(5);

}  // namespace

WatchPermits::WatchPermits(const asio::any_io_executor& executor, Clock& clock,
                           const std::shared_ptr<ServerTraffic>& traffic, std::uint64_t seed)
    : executor_(executor), clock_(clock), traffic_(traffic), random_(seed) {}

void WatchPermits::stop() noexcept {
    stopped_ = true;
    cancel();
    if (leaving_) leaving_->cancel();
}

void WatchPermits::cancel() noexcept {
    end_waits();
    return_permits();
}

void WatchPermits::return_permits() noexcept {
    return_list_permit();
    watch_permit_.reset();
    own_connection_.reset();
    return_stream_trial();
}

bool WatchPermits::take_list_permit(const Owner& owner) {
    const ListPermit& list = waits_.use().list;
    if (list.permit || !list.needed) return true;
    PermitQueue::Permit permit = traffic_->list_permits->try_permit();
    if (!permit) return false;
    grant_list_permit(std::move(permit), owner);
    return true;
}

void WatchPermits::grant_list_permit(PermitQueue::Permit permit, const Owner& owner) {
    ListPermit& list = waits_.use().list;
    list.request.reset();
    list.end = clock_.make_timer(executor_);
    list.end->expires_at(now() + max_list_permit_time, [this, owner] {
        const auto alive = owner.lock();
        if (alive && !stopped_) list_without_permit();
    });
    list.permit = std::move(permit);  // not before: without memory it would have no end
}

bool WatchPermits::take_watch_permit() {
    watch_permit_.reset();
    watch_permit_ = traffic_->watch_permits->try_permit();
    return static_cast<bool>(watch_permit_);
}

void WatchPermits::take_own_connection() {
    if (own_connection_) return;
    PermitQueue::Permit permit = traffic_->own_connections->try_permit();
    if (permit) own_connection_.emplace() = std::move(permit);
}

void WatchPermits::async_list_permit(const Owner& owner, Handler of_list) {
    const auto handler = std::make_shared<const Handler>(std::move(of_list));  // no copies
    waits_.use().list.request = traffic_->list_permits->async_permit(
        executor_, [this, owner, handler](PermitQueue::Permit permit) {
            const auto alive = owner.lock();
            if (!alive || stopped_) return;
            grant_list_permit(std::move(permit), owner);
            cancel_timer();  // not before: without memory the list goes ahead at its time
            (*handler)();
        });
    call_after(max_list_permit_wait, [this, owner, handler] {
        const auto alive = owner.lock();
        if (!alive || stopped_) return;
        list_without_permit();
        (*handler)();
    });
}

bool WatchPermits::take_stream_trial(Kind kind) {
    ServerTraffic::StreamTrial& trial = waits_.use().stream_trial;
    if (!trial) trial = traffic_->try_stream_trial(kind);
    return static_cast<bool>(trial);
}

void WatchPermits::async_stream_trial_end(const Owner& owner, const Handler& handler) {
    sleep(max_trial_wait, owner, handler);
    waits_.use().wake_up = traffic_->async_stream_trial_end(executor_, [this, owner, handler] {
        const auto alive = owner.lock();
        if (!alive || stopped_) return;
        cancel_timer();
        handler();
    });
}

void WatchPermits::async_sleep(Duration pause, bool until_recovery, const Owner& owner,
                               const Handler& handler) {
    sleep(pause, owner, handler);
    if (until_recovery && !std::exchange(woken_, false)) wait_until_recovery(pause, owner, handler);
}

void WatchPermits::sleep(Duration pause, const Owner& owner, const Handler& handler) {
    call_after(pause, [this, owner, handler] {
        const auto alive = owner.lock();
        if (!alive || stopped_) return;
        if (waits_) waits_->wake_up.reset();
        handler();
    });
}

void WatchPermits::wait_until_recovery(Duration pause, const Owner& owner, const Handler& handler) {
    const TimePoint end = now() + pause;
    const TimePoint earliest = now() + min_recovery_pause;
    // The recovery may have happened while this watch waited for its response.
    if (traffic_->recoveries() != recoveries_) return wake(earliest, end, owner, handler);
    waits_.use().wake_up =
        traffic_->async_recovery(executor_, [this, owner, handler, end, earliest] {
            const auto alive = owner.lock();
            if (alive && !stopped_) wake(earliest, end, owner, handler);
        });
}

void WatchPermits::wake(TimePoint earliest, TimePoint end, const Owner& owner,
                        const Handler& handler) {
    const TimePoint soon = std::max(now(), earliest) + draw_jitter(recovery_jitter);
    if (soon >= end) return;
    woken_ = true;
    sleep(soon - now(), owner, handler);
}

void WatchPermits::leave_later(Owner owner, Handler handler) {
    if (!leaving_) leaving_ = clock_.make_timer(executor_);
    leaving_->expires_at(now() + draw_jitter(leaving_jitter),
                         [this, owner = std::move(owner), handler = std::move(handler)] {
                             const auto alive = owner.lock();
                             if (alive && !stopped_) handler();
                         });
}

void WatchPermits::call_after(Duration wait, Handler handler) {
    if (!timer_) timer_ = clock_.make_timer(executor_);
    timer_->expires_at(now() + wait, std::move(handler));
}

Duration WatchPermits::draw_jitter(Duration max) {
    using Distribution = std::uniform_int_distribution<Duration::rep>;
    return Duration(Distribution(0, max.count())(random_));
}

}  // namespace k8s_sd::inline v0::detail
