#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <boost/asio/error.hpp>
#include <chrono>
#include <string_view>

namespace k8s_sd::inline v0::detail {

// The response as it arrives: head, body, objects and bookmarks.

namespace {

/// A watch open for this long works, even without an event.
constexpr Duration proof_of_life = std::chrono::seconds(1);

/// How long a watch must stay open to clear a failure; nullopt if lifetime alone cannot clear it.
std::optional<Duration> life_that_proves(Proof proof) {
    switch (proof) {
        case Proof::life: return proof_of_life;
        case Proof::steady_life: return StreamRecord::short_life;
        case Proof::long_life: return StreamRecord::long_life;
        case Proof::event: break;
    }
    return std::nullopt;
}

}  // namespace

void URLWatcherImpl::on_head(const ResponseHead& head) {
    const auto self = shared_from_this();  // the observer may drop the watcher
    report_.on_head(head.http2);
    exchange_.on_head(head);
}

void URLWatcherImpl::on_good_head() {
    const Exchange& exchange = state();
    server_.traffic()->on_success();
    forms_.on_success(exchange);
    if (stopped()) return;  // the logger may stop the watcher
    server_.api().server_version.check();
    if (exchange.watching()) {
        machine_.on_watching(exchange_.head_at());
        return on_watching();
    }
    if (exchange.purpose == Purpose::list)
        server_.traffic()->list_forms.on_answer(exchange_.response_time(), exchange_.head_at());
    if (exchange.streamed) return on_stream_begun();
    if (exchange.body_timeout > Duration{})
        exchange_.set_idle_timeout(exchange.body_timeout, errc::response_timeout);
}

void URLWatcherImpl::on_watching() {
    exchange_.begin_watch();
    permits_.end_waits();
    initial_events_.reset();
    report_.on_watch();
    wait(Waiting::events);
    // Wait for proof that the watch works: an error may follow the head.
    const std::optional<Duration> life = life_that_proves(report_.over_with());
    if (report_.error() && life) call_after(*life, &URLWatcherImpl::recover);
    on_status();
}

error_code URLWatcherImpl::on_body(std::string_view bytes) {
    exchange_.begin_read(bytes.size());
    server_.traffic()->counts->received_bytes += bytes.size();
    report_.on_bytes(bytes.size(), exchange_.meter().arrived());
    if (state().plain_stream && state().streams_list()) return asio::error::operation_aborted;
    if (!exchange_.may_be_readable()) return state().add_error_text(bytes);
    const auto self = shared_from_this();  // the observer may drop the watcher
    const error_code ec = exchange_.read(bytes);
    if (report_.take_unread_change()) on_status();
    if (stopped()) return asio::error::operation_aborted;
    notify([this] { observer_.on_batch_end(); });
    exchange_.end_read();
    return ec;
}

void URLWatcherImpl::on_object(EventType type, const DecodedObject& decoded) {
    const api::ObjectMeta& meta = decoded.meta;
    Exchange& exchange = state();
    if (stopped() || exchange.has_verdict()) return;
    if (exchange.sharded && !subject_.share().contains(meta.uid)) on_object_of_other_share();
    const WatchIntake::Tag tag = intake_.tag_of(exchange, type, decoded);
    if (stopped() || intake_.is_one_too_many(exchange, type, tag.has_value(), meta)) return;
    if (exchange.purpose == Purpose::probe) return exchange_.on_probed_object();
    if (exchange.streams_list()) on_initial_event(type);
    if (stopped()) return;
    intake_.take(exchange, decoded, tag);
    // Not before the object is stored: without memory, the next watch has to bring the event again.
    if (!stopped() && exchange.watching()) on_event(meta.resource_version);
}

/// Reported once per response.
void URLWatcherImpl::on_object_of_other_share() {
    state().sharded = false;
    forms_.on_share(false);
}

void URLWatcherImpl::on_event(std::string_view version) {
    const TimePoint at = exchange_.meter().arrived();
    on_progress(version);
    report_.on_event(at);
    // The event counts all the same: its version may not be comparable.
    if (!stopped() && machine_.doubts_old_objects(at) && machine_.is_before_watch(version))
        state().found.doubted = true;
}

void URLWatcherImpl::on_bookmark(std::string_view version, bool list_ends) {
    Exchange& exchange = state();
    if (stopped() || exchange.has_verdict() || exchange.too_many) return;
    report_.on_bookmark(exchange_.meter().arrived());
    if (exchange.streams_list()) {
        if (list_ends && names_state(version)) end_initial_events(version);
        return;
    }
    if (machine_.is_before_watch(version)) {
        exchange.found.version = version;
        return;
    }
    machine_.on_bookmark();
    on_progress(version);
    if (stopped()) return;
    idle_timeout_.on_bookmark(exchange_.meter().arrived());
    exchange_.set_idle_timeout(idle_timeout_.allowed(), errc::idle_timeout);
}

void URLWatcherImpl::on_error_event(const ServerStatus& error) { state().error_event = error; }

void URLWatcherImpl::on_bad_object(const BadObject& bad) {
    Exchange& exchange = state();
    if (stopped() || exchange.too_many || exchange.has_verdict()) return;
    if (!exchange.watching()) {
        intake_.count_bad(exchange);
        if (exchange.purpose == Purpose::probe) return exchange_.on_probed_object();
        if (exchange.streamed) on_initial_event(EventType::added);
    } else if (!bad.resource_version.empty()) {
        on_progress(bad.resource_version);
    }
    if (!stopped()) intake_.take_bad(exchange, bad);
}

void URLWatcherImpl::on_progress(std::string_view version) {
    ++state().events;
    if (machine_.on_progress(version, exchange_.meter().arrived())) state().advanced = true;
    if (report_.error() && report_.over_with() != Proof::long_life) recover();
}

}  // namespace k8s_sd::inline v0::detail
