#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

namespace {

/// Before the next request, if an observer has thrown: by then there may be memory.
constexpr Duration failure_pause = std::chrono::seconds(1);

}  // namespace

// The end of the response: its verdict, and the reports of it.

/// An exception, of an observer or without memory, must not leave the watch without a request and
/// without a timer.
void URLWatcherImpl::on_end(error_code ec, std::string why) {
    try {
        end_response(ec, std::move(why));
    } catch (...) {
        if (!stopped()) call_after(failure_pause, &URLWatcherImpl::fail_response);
        throw;
    }
}

void URLWatcherImpl::end_response(error_code ec, std::string why) {
    if (stopped()) return;
    permits_.cancel_timer();
    permits_.return_watch_permit();
    if (state().purpose == Purpose::probe) report_.on_probe();
    Failure failure = exchange_.finish(ec, std::move(why));
    intake_.stop_removing();  // of a streamed list
    intake_.end_body(!failure.ec);
    if (stopped()) return;
    if (state().too_many) failure.message = intake_.problem_of_count(state());
    ExchangeEnd end = end_of_exchange(std::move(failure));
    if (state().status != 404 || subject_.schema().older_versions.empty())
        return decide(std::move(end));
    permits_.return_list_permit();
    find_version(true, [this, end = std::move(end)](WatchServer::Version version) {
        state().served = version.served;
        if (!version.moved) decide(end);
    });
}

ExchangeEnd URLWatcherImpl::end_of_exchange(Failure failure) const {
    ExchangeEnd end = exchange_.end(std::move(failure));
    const Exchange& exchange = state();
    if (exchange.purpose != Purpose::list || exchange.streamed || end.failure.ec) return end;
    end.page_problem = machine_.problem_of(end.page);
    end.suspicious = end.page.continue_token.empty() && has_lost_much();
    return end;
}

void URLWatcherImpl::decide(ExchangeEnd end) {
    // Later rounds of the list forms try both encodings anyway.
    const bool encoding_failed =
        machine_.list_forms().at_first() && is_encoding_of_no_use(state(), end.failure);
    const Verdict verdict = judge(state(), std::move(end));
    if (forms_.on_verdict(state(), verdict, encoding_failed)) {
        go_on(WatchMachine::AskOtherwise{});
        return on_status();
    }
    if (verdict.credentials_refused) return refresh_credentials(verdict);
    if (!completes_list(verdict)) return conclude(verdict);
    remove_missing([this, verdict] { conclude(verdict); });
}

void URLWatcherImpl::refresh_credentials(const Verdict& verdict) {
    wait(Waiting::credentials);
    permits_.return_list_permit();
    server_.api().async_refresh_credentials(exchange_.credentials(),
                                            [weak = weak_from_this(), verdict](bool changed) {
                                                const auto self = weak.lock();
                                                if (!self || self->stopped()) return;
                                                if (!changed || self->exchange_.has_just_retried())
                                                    return self->conclude(verdict);
                                                self->exchange_.on_retry();
                                                self->go_on(WatchMachine::NewCredentials{});
                                            });
}

void URLWatcherImpl::conclude(const Verdict& verdict) {
    report_traffic(verdict);
    permits_.return_stream_trial();
    report(verdict);
    go_on(verdict.outcome);
    on_status();  // reports the new waiting state, too
}

/// A list may lack very many objects, so their removal takes several handlers. The list is complete
/// only afterwards. It no longer counts if its stream ends before, or the server changes.
void URLWatcherImpl::remove_missing(const std::function<void()>& then) {
    try {
        while (!intake_.remove_missing()) {
            if (stopped()) return;
            notify([this] { observer_.on_batch_end(); });
            if (stopped()) return;
            if (post_removal(then)) return;
        }
    } catch (...) {
        // A streamed list has a timer already.
        if (!stopped() && !state().streamed)
            call_after(failure_pause, &URLWatcherImpl::fail_response);
        throw;
    }
    if (!stopped()) then();
}

/// \returns false without memory
bool URLWatcherImpl::post_removal(const std::function<void()>& then) {
    try {
        asio::post(server_.api().executor, [weak = weak_from_this(), then] {
            const auto self = weak.lock();
            if (self && self->intake_.is_removing()) self->remove_missing(then);
        });
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

/// An observer has thrown. Another request brings what is left.
void URLWatcherImpl::fail_response() {
    if (stopped()) return;
    intake_.stop_removing();
    conclude({WatchMachine::Failed{std::nullopt, WatchMachine::Cause::network},
              {std::make_error_code(std::errc::not_enough_memory),
               "the response could not be processed to its end; it is requested again"},
              true});
}

// --- reports -------------------------------------------------------------------------------------

void URLWatcherImpl::report(const Verdict& verdict) {
    if (std::holds_alternative<WatchMachine::Silent>(verdict.outcome)) {
        idle_timeout_.on_silence();
        report_.on_silence();
    }
    if (verdict.starting && report_.on_starting(now())) return;
    if (verdict.failed) return report_failure(verdict);
    if (verdict.failure.ec) return report_.note(verdict.failure);
    std::visit([this](const auto& outcome) { report_outcome(outcome); }, verdict.outcome);
}

/// Whether several smaller watches may succeed: against the refusal of a collection by the API
/// server, but not against a proxy, and not without the API.
bool URLWatcherImpl::may_divide(const Verdict& verdict) const {
    if (verdict.failure.foreign_response) return false;
    const auto* const failed = std::get_if<WatchMachine::Failed>(&verdict.outcome);
    const bool absent = failed && failed->cause == WatchMachine::Cause::absent;
    // The versions of such a kind have been looked up.
    return !absent || subject_.schema().older_versions.empty();
}

bool URLWatcherImpl::completes_list(const Verdict& verdict) {
    const auto* const page = std::get_if<WatchMachine::PageListed>(&verdict.outcome);
    return page && page->continue_token.empty() && !verdict.failed && !verdict.failure.ec;
}

void URLWatcherImpl::report_failure(const Verdict& verdict) {
    bool made_up = false;
    if (may_divide(verdict)) notify([&] { made_up = observer_.makes_up_for(verdict.failure.ec); });
    if (made_up) return report_.note(verdict.failure);
    if (!stopped()) report_.fail(verdict.failure, state().watching(), now());
}

void URLWatcherImpl::report_outcome(const WatchMachine::PageListed& page) {
    const BodyMeter::Transfer body = exchange_.meter().total();
    if (!state().packed) server_.traffic()->lists.add(body.bytes, body.wait, now());
    // Metadata lists do not contain the selector.
    if (state().sharded && !subject_.schema().metadata_only)
        forms_.on_share(exchange_.reader().shard_selector() == subject_.share().selector());
    if (page.continue_token.empty()) finish_list(page.resource_version);
}

void URLWatcherImpl::report_outcome(const WatchMachine::Probed& probe) {
    report_regression(probe.resource_version);
}

void URLWatcherImpl::report_outcome(const WatchMachine::WentBack& back) {
    report_regression(back.resource_version);
}

void URLWatcherImpl::report_outcome(const WatchMachine::WatchEnded& end) {
    // A proxy or server may close idle watches on its own schedule.
    const bool lived = exchange_.watched() >= std::chrono::seconds(30);
    if (end.clean && (end.in_time || lived)) recover();
}

void URLWatcherImpl::report_outcome(const WatchMachine::Suspicious&) {
    report_.on_suspicious_list(store().missing(), store().known_before_list());
}

void URLWatcherImpl::report_regression(std::string_view version) {
    const bool regressed = is_older_version(version, machine_.greatest_version());
    if (regressed && !std::exchange(regression_reported_, true))
        report_.on_version_regression(version, machine_.greatest_version());
}

/// Reports failures to the other watches of the server; see on_good_head().
void URLWatcherImpl::report_traffic(const Verdict& verdict) {
    using Cause = WatchMachine::Cause;
    const unsigned status = state().status;
    // Servers without the feature return 422.
    if (std::holds_alternative<WatchMachine::NotStreamed>(verdict.outcome) && status == 422)
        server_.traffic()->list_forms.on_not_streamed(subject_.kind(), true, now());
    const auto* failed = std::get_if<WatchMachine::Failed>(&verdict.outcome);
    if (!failed) return;
    if (failed->cause == Cause::unreachable || failed->cause == Cause::network ||
        (failed->cause == Cause::silent && status == 0)) {
        server_.traffic()->on_failure();
        server_.api().on_unreachable();
    }
}

void URLWatcherImpl::finish_list(const std::string& version) {
    report_regression(version);
    regression_reported_ = false;
    server_.on_listed();
    forms_.on_list(state(), machine_);
    if (stopped()) return;
    if (state().drops && state().items > 0)
        report_.on_managed_fields(exchange_.reader().has_managed_fields());
    if (report_.on_list(now(), state().streamed)) on_status();
    if (!stopped() && report_.on_synced()) {
        on_status();
        if (!stopped()) notify([this] { observer_.on_synced(); });
    }
    if (!stopped()) notify([this] { observer_.on_batch_end(); });
}

void URLWatcherImpl::recover() {
    if (!stopped() && report_.recover(now())) on_status();
}

}  // namespace k8s_sd::inline v0::detail
