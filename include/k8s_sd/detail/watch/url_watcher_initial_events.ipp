#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

// A list as the initial events of a watch.

namespace {

/// A timer this late was held up by a busy executor, and so were incoming bytes.
constexpr Duration late_timer = std::chrono::seconds(1);

}  // namespace

void URLWatcherImpl::on_stream_begun() {
    state().plain_stream = forms_.on_stream_begun(state());
    permits_.return_stream_trial();
    begin_initial_events();
}

void URLWatcherImpl::begin_initial_events() {
    initial_events_ = InitialEventsTimeout(subject_.options());
    initial_events_->begin(exchange_.head_at(), state().hasty);
    wait_for_initial_events(initial_events_->deadline());
}

void URLWatcherImpl::on_initial_event(EventType type) {
    const TimePoint at = exchange_.meter().arrived();
    if (type != EventType::added) return initial_events_->on_change(at);
    initial_events_->on_object(at);
    exchange_.on_listed();
}

void URLWatcherImpl::wait_for_initial_events(TimePoint until) {
    permits_.call_after(until - now(), [weak = weak_from_this(), until] {
        if (const auto self = weak.lock()) self->on_initial_events_late(until);
    });
}

void URLWatcherImpl::on_initial_events_late(TimePoint due) {
    if (stopped() || !state().streams_list()) return;
    // A busy executor delays the read; process the buffered bytes first.
    const Duration late = now() - due;
    if (late > late_timer) {
        initial_events_->on_blocked(late);
        return wait_for_initial_events(std::max(initial_events_->deadline(), now() + late_timer));
    }
    if (initial_events_->deadline() > now())
        return wait_for_initial_events(initial_events_->deadline());
    exchange_.close();
    on_end(errc::response_timeout, "the list that the watch began with does not end");
}

/// Until all missing objects are removed, further events are still part of the list.
void URLWatcherImpl::end_initial_events(std::string_view version) {
    if (intake_.is_removing()) return;
    if (has_lost_much()) {
        state().found.suspicious = true;
        return;
    }
    remove_missing([this, version = std::string(version)] { on_list_streamed(version); });
}

/// All known state came over this stream, and the stream continues.
void URLWatcherImpl::on_list_streamed(const std::string& version) {
    Exchange& exchange = state();
    if (exchange.sharded && shows_shard(subject_.share().fraction(), exchange.items))
        forms_.on_share(true);
    permits_.return_list_permit();
    const BodyMeter::Transfer listed = exchange_.meter().listed();
    if (!exchange.packed) server_.traffic()->lists.add(listed.bytes, listed.wait, now());
    finish_list(version);
    if (stopped()) return;
    machine_.on_list_streamed({version, {}, exchange.items}, now());
    exchange.purpose = Purpose::watch;
    idle_timeout_.begin_watch(silence_of_watch(exchange_.watch_timeout()));
    exchange_.set_idle_timeout(idle_timeout_.allowed(), errc::idle_timeout);
    on_watching();
}

}  // namespace k8s_sd::inline v0::detail
