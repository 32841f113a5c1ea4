#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <boost/asio/error.hpp>
#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

namespace {

/// A watch open for this long works, even without an event.
constexpr Duration proof_of_life = std::chrono::seconds(1);
/// A timer this late was held up by a busy executor, and so were incoming bytes.
constexpr Duration late_timer = std::chrono::seconds(1);

/// The wait state after the request is sent.
Waiting waiting_for(Purpose purpose) {
    switch (purpose) {
        case Purpose::list: return Waiting::list;
        case Purpose::probe: return Waiting::probe;
        case Purpose::watch: break;
    }
    return Waiting::watch;
}

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

URLWatcherImpl::URLWatcherImpl(std::shared_ptr<ApiClient> client, WatchQuery query,
                               const WatchOptions& options, WatchObserver& observer,
                               WatchMaking making)
    : server_(std::move(client)),
      query_(std::move(query)),
      options_(options),
      observer_(observer),
      report_(
          query_, server_.api().url(), server_.api().environment.metrics->of(query_.kind),
          server_.api().environment.logger,
          [this](std::string text) { return server_.api().redact(std::move(text)); }, now()),
      intake_(query_, options_, observer, std::move(making), report_),
      forms_(query_, options_, intake_.schema(), server_, report_),
      machine_(options, server_.api().next_seed(), forms_.has_other_encoding(),
               intake_.schema().custom),
      permits_(server_.api().executor, server_.api().environment.clock, server_.traffic(),
               server_.api().next_seed()),
      idle_timeout_(server_.traffic()->bookmarks),
      initial_events_(options),
      exchange_(server_.api().make_connection(), server_.api().environment.clock, intake_.schema(),
                options.max_object_bytes, *this, *this) {}

void URLWatcherImpl::start() {
    if (life_ != Life::created) return;
    life_ = Life::started;
    take_server();
    server_.api().add_user(*this);
    const auto self = shared_from_this();  // the observer may drop the watcher
    machine_.know(forms_.known());
    perform(machine_.start());
}

void URLWatcherImpl::stop() noexcept {
    if (stopped()) return;
    life_ = Life::stopped;
    server_.api().remove_user(*this);
    intake_.stop();
    exchange_.stop();
    permits_.stop();
    report_.end();
}

WatchStatus URLWatcherImpl::status() const {
    WatchStatus status = report_.whole_status();
    status.resource_version = machine_.resource_version();
    return status;
}

// --- steps of the machine -----------------------------------------------------------------------

void URLWatcherImpl::go_on(const WatchMachine::Outcome& outcome) {
    if (stopped()) return;
    machine_.know(forms_.known());
    perform(machine_.next(outcome, now()));
}

void URLWatcherImpl::perform(const WatchMachine::Step& step) {
    if (stopped()) return;
    std::visit([this](const auto& s) { perform(s); }, step);
}

// A list holds its permit from the first to the last page unless interrupted.
void URLWatcherImpl::perform(const WatchMachine::List& wanted) {
    if (permits_.take_list_permit()) return list(wanted);
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
    if (free || permits_.take_stream_trial(query_.kind)) return list_with_watch(wanted);
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
    const std::chrono::seconds timeout = draw_watch_timeout(options_, permits_.random());
    begin(forms_.streamed_list(wanted, timeout), Purpose::list);
}

void URLWatcherImpl::perform(const WatchMachine::Probe&) {
    report_.begin_probe();
    begin(forms_.probe(), Purpose::probe);
}

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
    const std::chrono::seconds timeout = draw_watch_timeout(options_, permits_.random());
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
    if (sleep.why == Waiting::poll) report_.begin_poll(options_.poll_interval);
    permits_.async_sleep(sleep.delay, sleep.until_recovery, weak_from_this(), [this] {
        go_on(WatchMachine::Slept{});
        on_status();
    });
}

void URLWatcherImpl::begin(WatchRequest request, Purpose purpose) {
    ExchangeRequest about;
    about.kind = query_.kind;
    about.ns = query_.ns;
    about.purpose = purpose;
    about.streams = machine_.streams();
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
    http.connect_timeout = options_.connect_timeout;
    http.idle_timeout = request.idle_timeout;
    http.idle_error = request.idle_error;
    http.secret_body = holds_secrets(query_.kind);
    exchange_.send(api.target_for(credentials), std::move(http), credentials.revision, *this,
                   [this](error_code ec, std::string why) {
                       const auto self = shared_from_this();
                       on_end(ec, std::move(why));
                   });
}

/// Asks discovery for the API versions of the kind and switches to the best one.
/// \param lost  the watched version is missing on the server
void URLWatcherImpl::find_version(bool lost, std::function<void(WatchServer::Version)> then) {
    const KindSchema& schema = intake_.schema();
    server_.begin_search();
    server_.api().served_versions.async_get(
        query_.kind, schema.older_versions, ApiAbsence::max_query_pause(schema.custom),
        [weak = weak_from_this(), lost, then = std::move(then)](ServedVersions::Answer best) {
            const auto self = weak.lock();
            if (!self || self->stopped()) return;
            self->server_.end_search();
            if (self->server_.is_left()) return self->go_to_other_server();
            const WatchServer::Version version = self->server_.take_version(best, lost);
            self->on_version(version);
            then(version);
            self->on_status();
        });
}

void URLWatcherImpl::on_version(WatchServer::Version version) {
    if (!version.moved) return;
    report_.begin_api_version(server_.api_version());
    go_on(WatchMachine::Moved{});
}

// --- change of the server -----------------------------------------------------------------------

void URLWatcherImpl::on_server_change() {
    permits_.leave_later(weak_from_this(), [this] { leave(); });
}

/// Aborts a request to the old server; other waits check the server themselves afterwards.
void URLWatcherImpl::leave() {
    const bool sent = !server_.searching() && report_.status().waiting != Waiting::credentials;
    if (sent && server_.is_left()) go_to_other_server();
}

void URLWatcherImpl::take_server() {
    if (!server_.take()) return;
    permits_.take_traffic(server_.traffic());
    idle_timeout_ = WatchIdleTimeout(server_.traffic()->bookmarks);
}

/// Discards the state of the old server.
void URLWatcherImpl::go_to_other_server() {
    exchange_.discard();
    permits_.cancel();
    intake_.end_body(false);
    forms_.forget();
    take_server();
    go_on(WatchMachine::OtherServer{});
    on_status();
}

// --- the response as it arrives -----------------------------------------------------------------

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

void URLWatcherImpl::on_head(const ResponseHead& head) {
    const auto self = shared_from_this();  // the observer may drop the watcher
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
    report_.on_watch();
    wait(Waiting::events);
    // Wait for proof that the watch works: an error may follow the head.
    const std::optional<Duration> life = life_that_proves(report_.over_with());
    if (report_.status().error && life) call_after(*life, &URLWatcherImpl::recover);
    observer_.on_status();
}

error_code URLWatcherImpl::on_body(std::string_view bytes) {
    exchange_.begin_read(bytes.size());
    report_.on_bytes(bytes.size(), exchange_.meter().arrived());
    if (state().plain_stream && state().streams_list()) return asio::error::operation_aborted;
    if (!exchange_.may_be_readable()) return state().add_error_text(bytes);
    const auto self = shared_from_this();  // the observer may drop the watcher
    const error_code ec = exchange_.read(bytes);
    if (!stopped() && report_.take_unread_change()) observer_.on_status();
    if (stopped()) return asio::error::operation_aborted;
    observer_.on_batch_end();
    exchange_.end_read();
    return ec;
}

void URLWatcherImpl::on_object(EventType type, const DecodedObject& decoded) {
    const api::ObjectMeta& meta = decoded.meta;
    Exchange& exchange = state();
    if (stopped() || exchange.has_verdict()) return;
    if (exchange.sharded && !query_.share.contains(meta.uid)) on_object_of_other_share();
    const WatchIntake::Tag tag = intake_.tag_of(exchange, type, decoded);
    if (stopped() || intake_.is_one_too_many(exchange, type, tag.has_value(), meta)) return;
    if (exchange.purpose == Purpose::probe) return exchange_.on_probed_object();
    if (exchange.streams_list()) on_initial_event(type);
    if (exchange.watching()) on_event(meta.resource_version);
    if (!stopped()) intake_.take(exchange, decoded, tag);
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
        state().doubted = true;
}

void URLWatcherImpl::on_bookmark(std::string_view version, bool list_ends) {
    Exchange& exchange = state();
    if (stopped() || exchange.has_verdict() || exchange.too_many) return;
    report_.on_bookmark(exchange_.meter().arrived());
    if (exchange.streams_list()) {
        if (list_ends && !version.empty()) on_list_streamed(version);
        return;
    }
    if (machine_.is_before_watch(version)) {
        exchange.old_version = version;
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
    if (report_.status().error && report_.over_with() != Proof::long_life) recover();
}

// --- a list as the first events of a watch ------------------------------------------------------

void URLWatcherImpl::on_stream_begun() {
    state().plain_stream = forms_.on_stream_begun(state());
    permits_.return_stream_trial();
    begin_initial_events();
}

void URLWatcherImpl::begin_initial_events() {
    initial_events_.begin(exchange_.head_at(), state().hasty);
    wait_for_initial_events(initial_events_.deadline());
}

void URLWatcherImpl::on_initial_event(EventType type) {
    const TimePoint at = exchange_.meter().arrived();
    if (type != EventType::added) return initial_events_.on_change(at);
    initial_events_.on_object(at);
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
        initial_events_.on_blocked(late);
        return wait_for_initial_events(std::max(initial_events_.deadline(), now() + late_timer));
    }
    if (initial_events_.deadline() > now())
        return wait_for_initial_events(initial_events_.deadline());
    exchange_.close();
    on_end(errc::response_timeout, "the list that the watch began with does not end");
}

/// All known state came over this stream, and the stream continues.
void URLWatcherImpl::on_list_streamed(std::string_view version) {
    Exchange& exchange = state();
    if (has_lost_much()) {
        exchange.suspicious = true;
        return;
    }
    if (exchange.sharded && shows_shard(query_.share.fraction(), exchange.items))
        forms_.on_share(true);
    permits_.cancel_timer();
    permits_.return_list_permit();
    const BodyMeter::Transfer& listed = exchange_.meter().listed();
    if (!exchange.packed) server_.traffic()->lists.add(listed.bytes, listed.wait, now());
    finish_list(std::string(version));
    if (stopped()) return;
    machine_.on_list_streamed({std::string(version), {}, exchange.items}, now());
    exchange.purpose = Purpose::watch;
    idle_timeout_.begin_watch(silence_of_watch(exchange_.watch_timeout()));
    exchange_.set_idle_timeout(idle_timeout_.allowed(), errc::idle_timeout);
    on_watching();
}

// --- the end of the response --------------------------------------------------------------------

void URLWatcherImpl::on_end(error_code ec, std::string why) {
    if (stopped()) return;
    permits_.cancel_timer();
    permits_.return_watch_permit();
    Failure failure = exchange_.finish(ec, std::move(why));
    intake_.end_body(!failure.ec);
    if (stopped()) return;
    if (state().too_many) failure.message = intake_.problem_of_count(state());
    ExchangeEnd end = end_of_exchange(std::move(failure));
    if (state().head.status != 404 || intake_.schema().older_versions.empty())
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
    verdict.credentials_refused ? refresh_credentials(verdict) : conclude(verdict);
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

// --- reports ------------------------------------------------------------------------------------

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

void URLWatcherImpl::report_failure(const Verdict& verdict) {
    if (observer_.makes_up_for(verdict.failure.ec)) return report_.note(verdict.failure);
    if (!stopped()) report_.fail(verdict.failure, state().watching(), now());
}

void URLWatcherImpl::report_outcome(const WatchMachine::PageListed& page) {
    const BodyMeter::Transfer& body = exchange_.meter().total();
    if (!state().packed) server_.traffic()->lists.add(body.bytes, body.wait, now());
    // Metadata lists do not contain the selector.
    if (state().sharded && !intake_.schema().metadata_only)
        forms_.on_share(exchange_.reader().shard_selector() == query_.share.selector());
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
    const unsigned status = state().head.status;
    // Servers without the feature return 422.
    if (std::holds_alternative<WatchMachine::NotStreamed>(verdict.outcome) && status == 422)
        server_.traffic()->list_forms.on_not_streamed(query_.kind, true, now());
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
    intake_.finish_list();
    if (stopped()) return;
    forms_.on_list(state(), machine_);
    if (stopped()) return;
    if (state().drops && state().items > 0)
        report_.on_managed_fields(exchange_.reader().has_managed_fields());
    if (report_.on_list(now(), state().streamed)) observer_.on_status();
    if (!stopped() && report_.on_synced()) {
        observer_.on_status();
        if (!stopped()) observer_.on_synced();
    }
    if (!stopped()) observer_.on_batch_end();
}

void URLWatcherImpl::recover() {
    if (!stopped() && report_.recover(now())) observer_.on_status();
}

void URLWatcherImpl::on_status() {
    if (!stopped()) observer_.on_status();
}

void URLWatcherImpl::wait(Waiting waiting, std::optional<Duration> pause) {
    report_.wait(waiting, now(), pause);
}

void URLWatcherImpl::call_after(Duration wait, void (URLWatcherImpl::*method)()) {
    permits_.call_after(wait, [weak = weak_from_this(), method] {
        if (const auto self = weak.lock()) ((*self).*method)();
    });
}

}  // namespace k8s_sd::inline v0::detail
