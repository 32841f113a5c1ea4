#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

// The steps of the machine, as requests and pauses.

namespace {

/// The wait state after the request is sent.
Waiting waiting_for(Purpose purpose) {
    switch (purpose) {
        case Purpose::list: return Waiting::list;
        case Purpose::probe: return Waiting::probe;
        case Purpose::watch: break;
    }
    return Waiting::watch;
}

}  // namespace

// A list needs one permit from the first to the last page unless interrupted.
void URLWatcherImpl::perform(const WatchMachine::List& wanted) {
    if (permits_.take_list_permit(weak_from_this())) return list(wanted);
    wait(Waiting::list_budget);
    exchange_.close();
    permits_.async_list_permit(weak_from_this(), [this, wanted] {
        list(wanted);
        on_status();
    });
}

void URLWatcherImpl::list(const WatchMachine::List& wanted) {
    server_.api().server_version.check();
    if (wanted.streamed) return stream_list(wanted);
    permits_.return_stream_trial();
    begin_list(wanted);
    begin(forms_.list(wanted), Purpose::list);
}

void URLWatcherImpl::begin_list(const WatchMachine::List& wanted) {
    if (!wanted.continue_token.empty()) return;
    intake_.begin_list();
    report_.begin_list(wanted.reason, now());
    forms_.begin_list(wanted);
}

/// After a restart of the server all watches list. One of them tests whether the server streams
/// lists; the others wait for its result. A trial may end without one, because the server is still
/// starting: then another watch tests. A watch waits for twice the time of a trial at most.
void URLWatcherImpl::stream_list(const WatchMachine::List& wanted,
                                 std::optional<TimePoint> waiting_since) {
    if (!forms_.may_stream_list(wanted)) return go_on(WatchMachine::NotStreamed{false});
    const TimePoint since = waiting_since.value_or(now());
    const bool free = !wanted.first || forms_.known().streams_now ||
                      now() - since >= WatchPermits::max_trial_wait;
    if (free || permits_.take_stream_trial(subject_.kind())) return list_with_watch(wanted);
    wait(Waiting::list_budget);
    permits_.async_stream_trial_end(weak_from_this(), [this, wanted, since] {
        stream_list(wanted, since);
        on_status();
    });
}

/// The list keeps its permit until it is complete; its watch takes one now.
void URLWatcherImpl::list_with_watch(const WatchMachine::List& wanted) {
    begin_list(wanted);
    if (!permits_.take_watch_permit()) return go_on(WatchMachine::NotStreamed{false});
    const std::chrono::seconds timeout = draw_watch_timeout(subject_.options(), permits_.random());
    begin(forms_.streamed_list(wanted, timeout), Purpose::list);
}

void URLWatcherImpl::perform(const WatchMachine::Probe&) { begin(forms_.probe(), Purpose::probe); }

void URLWatcherImpl::perform(const WatchMachine::Watch& watch) {
    permits_.return_permits();
    if (server_.api_version().empty()) return open_watch(watch);
    wait(Waiting::watch);
    find_version(false, [this, watch](WatchServer::Version version) {
        if (!version.moved) open_watch(watch);
    });
}

void URLWatcherImpl::open_watch(const WatchMachine::Watch& watch) {
    if (!permits_.take_watch_permit()) {
        exchange_.begin_unsent(Purpose::watch);
        return conclude({WatchMachine::NoPermit{},
                         {errc::too_many_watches,
                          "the limit (ServerLimits::watches) of open watches is reached"},
                         true});
    }
    const std::chrono::seconds timeout = draw_watch_timeout(subject_.options(), permits_.random());
    WatchRequest request = forms_.watch(watch, timeout);
    idle_timeout_.begin_watch(silence_of_watch(timeout));
    request.idle_timeout =
        machine_.is_suspect() ? idle_timeout_.allowed_if_suspect() : idle_timeout_.allowed();
    begin(std::move(request), Purpose::watch);
}

void URLWatcherImpl::perform(const WatchMachine::Sleep& sleep) {
    if (server_.is_left()) return go_to_other_server();
    permits_.return_permits();
    // The next connection resolves the address again, which spreads clients over replicas, and no
    // idle connection needs keep-alives.
    exchange_.close();
    wait(sleep.why, sleep.delay);
    if (sleep.why == Waiting::poll) report_.begin_poll(subject_.options().poll_interval);
    permits_.async_sleep(sleep.delay, sleep.until_recovery, weak_from_this(), [this] {
        go_on(WatchMachine::Slept{});
        on_status();
    });
}

void URLWatcherImpl::begin(WatchRequest request, Purpose purpose) {
    ExchangeRequest about;
    about.kind = subject_.kind();
    about.ns = subject_.ns();
    about.purpose = purpose;
    about.streams = machine_.streams().rows();
    exchange_.begin(request, std::move(about));
    permits_.on_request();
    wait(Waiting::credentials);
    server_.api().async_get_credentials(
        [weak = weak_from_this(), request = std::move(request)](const RequestCredentials& present) {
            if (const auto self = weak.lock()) self->on_credentials(present, request);
        });
}

void URLWatcherImpl::on_credentials(const RequestCredentials& credentials,
                                    const WatchRequest& request) {
    if (stopped()) return;
    if (credentials.ec) {
        return conclude({WatchMachine::Failed{std::nullopt, WatchMachine::Cause::unsent},
                         {credentials.ec, credentials.problem},
                         true});
    }
    if (server_.is_left()) return go_to_other_server();
    state().credentials_problem = credentials.problem;
    wait(waiting_for(state().purpose));
    ApiClientImpl& api = server_.api();
    HttpRequest http = api.make_request(request.target, credentials, request.accept, request.gzip);
    http.connect_timeout = subject_.options().connect_timeout;
    http.idle_timeout = request.idle_timeout;
    http.idle_error = request.idle_error;
    http.secret_body = holds_secrets(subject_.kind());
    http.http2 = http2_use(api.http_version(), kind_of_request());
    exchange_.send(api.target_for(credentials), std::move(http), credentials.revision, *this,
                   [this](error_code ec, std::string why) {
                       const auto self = shared_from_this();
                       on_end(ec, std::move(why));
                   });
}

RequestKind URLWatcherImpl::kind_of_request() {
    const bool watches = state().purpose == Purpose::watch || state().streamed;
    if (!subject_.object().empty()) return watches ? RequestKind::watch : RequestKind::brief;
    if (watches) permits_.take_own_connection();
    const bool own = permits_.has_own_connection();
    if (watches) return own ? RequestKind::first_watch : RequestKind::watch;
    return own || state().purpose == Purpose::list ? RequestKind::bulk : RequestKind::brief;
}

/// Many watches may wait for minutes, so the time of the request is that of the attempt.
void URLWatcherImpl::on_connect_wait(bool waits) {
    const auto self = shared_from_this();  // the observer may drop the watcher
    if (!waits) {
        exchange_.on_connecting();
        permits_.on_request();
    }
    wait(waits ? Waiting::connect_budget : waiting_for(state().purpose));
    on_status();
}

/// The step is performed anew, so its permits are free meanwhile.
void URLWatcherImpl::on_pause(TimePoint end) {
    const auto self = shared_from_this();  // the observer may drop the watcher
    const Duration pause = std::max(end - now(), Duration{});
    perform(WatchMachine::Sleep{pause, Waiting::retry_after});
    on_status();
}

}  // namespace k8s_sd::inline v0::detail
