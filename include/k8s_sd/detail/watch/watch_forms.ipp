#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/detail/watch/watch_forms.hpp"

#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

namespace {

/// Whether the server objects to the version or the continue token of the request.
bool is_about_position(const WatchMachine::Outcome& outcome) {
    using Machine = WatchMachine;
    return std::holds_alternative<Machine::Expired>(outcome) ||
           std::holds_alternative<Machine::VersionTooLarge>(outcome) ||
           std::holds_alternative<Machine::Rejected>(outcome) ||
           std::holds_alternative<Machine::BadPages>(outcome);
}

}  // namespace

WatchForms::WatchForms(const WatchSubject& subject, WatchServer& server, WatchReport& report)
    : subject_(subject),
      server_(server),
      report_(report),
      encoding_(subject.options().protobuf && !subject.schema().json_only,
                subject.schema().metadata_only),
      teaches_streams_(!subject.schema().custom) {}

ListMemory::Known WatchForms::known() const { return memory().of(subject_.kind(), now()); }

void WatchForms::forget() noexcept {
    encoding_.forget();
    share_.forget();
    drop_.forget();
}

// --- requests -----------------------------------------------------------------------------------

/// Watch-lists require the current API version; servers with an older one lack the feature.
/// Another watch may have been refused while this one waited. Where compression pays, a compressed
/// LIST comes before a stream without it.
bool WatchForms::may_stream_list(const WatchMachine::List& wanted) const {
    if (!server_.api_version().empty()) return false;
    if (!wanted.first)
        return known().streams_now || memory().take_last_resort(subject_.kind(), now());
    return known().streams && (known().compresses_streams || !wants_gzip());
}

/// Adopts the encoding choice of other watches of the kind, which have seen the first one fail.
void WatchForms::begin_list(const WatchMachine::List& wanted) {
    encoding_.begin_list(now());
    const auto json_until = known().json_until;
    if (json_until && !wanted.other_encoding) encoding_.be_plain_until(*json_until);
}

WatchRequest WatchForms::list(const WatchMachine::List& wanted) const {
    WatchRequest request =
        list_request(query_to_send(), subject_.options(), wanted, server_.api_version());
    request.gzip = wants_gzip();
    return finish(std::move(request), false);
}

WatchRequest WatchForms::streamed_list(const WatchMachine::List& wanted,
                                       std::chrono::seconds timeout) const {
    WatchRequest request =
        streamed_list_request(query_to_send(), subject_.options(), wanted, timeout);
    request.gzip = known().compresses_streams && wants_gzip();
    return finish(std::move(request), true);
}

WatchRequest WatchForms::probe() const {
    return finish(probe_request(query_to_send(), subject_.options(), server_.api_version()), false);
}

WatchRequest WatchForms::watch(const WatchMachine::Watch& watch,
                               std::chrono::seconds timeout) const {
    return finish(watch_request(query_to_send(), watch, timeout, server_.api_version()), true);
}

WatchRequest WatchForms::finish(WatchRequest request, bool events) const {
    request.sharded = asks_for_share();
    request.accept =
        encoding_.accept(events, server_.api_version().empty(), request.other_encoding);
    request.drops = drops_managed_fields(request.other_encoding);
    if (request.drops) request.accept = accepted::without_managed_fields(request.accept);
    return request;
}

/// Plain JSON as the last resort has no parameters.
bool WatchForms::drops_managed_fields(bool other_encoding) const {
    return subject_.options().drop_managed_fields && !encoding_.is_fallback(other_encoding) &&
           drop_.sends() && known().drops;
}

bool WatchForms::asks_for_share() const {
    return !subject_.share().is_all() && subject_.options().server_side_shares && share_.sends() &&
           server_.traffic()->shards.worth_trying(now());
}

/// The query for the server; the watcher filters the rest.
WatchQuery WatchForms::query_to_send() const {
    WatchQuery query = subject_.query();
    if (!asks_for_share()) query.share = {};
    return query;
}

/// Never gzip Secrets: zlib does not wipe its buffers.
bool WatchForms::wants_gzip() const {
    const ApiClientImpl& api = server_.api();
    if (holds_secrets(subject_.kind()) || gzip_failed_ || !api.compresses() ||
        subject_.options().gzip == Compression::never || !known().compresses) {
        return false;
    }
    return subject_.options().gzip == Compression::always ||
           (server_.traffic()->lists.is_slow(now()) && !api.is_local());
}

// --- results ------------------------------------------------------------------------------------

void WatchForms::on_success(const Exchange& exchange) {
    on_drop(exchange.drops);
    if (!share_.on_success(exchange.sharded)) return;
    if (server_.traffic()->shards.on_refused(now())) report_.on_shard_selector_refused();
    report_.on_sharded(false);
}

/// A response shows that the server accepts the parameter for objects without managedFields, or
/// refuses it.
void WatchForms::on_drop(bool with) {
    if (drop_.on_success(with) && memory().on_drop_refused(now())) report_.on_drop_refused();
}

bool WatchForms::on_stream_begun(const Exchange& exchange) {
    memory().on_stream_begun(subject_.kind(), now());
    if (!exchange.gzip || exchange.packed) return false;
    memory().on_plain_stream(now());
    return true;
}

void WatchForms::on_share(bool by_server) {
    if (!by_server) server_.traffic()->shards.on_ignored(now());
    report_.on_sharded(by_server);
}

bool WatchForms::on_verdict(const Exchange& exchange, const Verdict& verdict,
                            bool encoding_failed) {
    const Failure& failure = verdict.failure;
    const auto* failed = std::get_if<WatchMachine::Failed>(&verdict.outcome);
    if (drop_.shows_refusal(exchange.drops, exchange.status)) on_drop(false);
    // An overloaded server says nothing about parameters, whatever its status.
    const bool busy = failed && failed->cause == WatchMachine::Cause::busy;
    if (failure.ec && !busy && is_parameter_refused(exchange)) {
        report_.note(failure);
        return true;
    }
    const bool due_to_form =
        failed ? failed->may_be_due_to_form() : !is_about_position(verdict.outcome);
    if (failure.ec && due_to_form && may_be_due_to_gzip(exchange, failure)) gzip_failed_ = true;
    return encoding_failed && fall_back(failure);
}

/// Whether to repeat the request with a parameter less. A proxy may refuse that of the Accept
/// header, an API server that of the query.
bool WatchForms::is_parameter_refused(const Exchange& exchange) {
    const unsigned status = exchange.status;
    // Without a share, that of Accept comes first: `share_` sends its parameter again.
    if (!exchange.sharded && drop_.on_failure(exchange.drops, status)) return true;
    return share_.on_failure(exchange.sharded, status) || drop_.on_failure(exchange.drops, status);
}

bool WatchForms::may_be_due_to_gzip(const Exchange& exchange, const Failure& failure) {
    if (!exchange.gzip || has_other_objections(exchange.status)) return false;
    // A compressed watch may break for any reason.
    return !exchange.watching() || failure.ec == errc::malformed_response;
}

/// Changes to plain JSON.
/// \returns false if that has failed already
bool WatchForms::fall_back(const Failure& failure) {
    if (!encoding_.fall_back(now())) return false;
    memory().on_json(subject_.kind(), *encoding_.plain_until());
    report_.on_other_encoding(failure);
    return true;
}

void WatchForms::on_list(const Exchange& exchange, const WatchMachine& machine) {
    const ListForms& forms = machine.list_forms();
    if (exchange.streamed) {
        memory().on_streamed(subject_.kind());
    } else if (forms.streams_failed() && teaches_streams_) {
        memory().on_not_streamed(subject_.kind(), machine.stream_refused(), now());
    }
    if (const auto shape = forms.better_shape()) memory().on_shape(subject_.kind(), *shape, now());
    if (std::exchange(gzip_failed_, false) && !exchange.gzip) memory().on_not_compressed(now());
    on_encoding(forms);
}

/// Takes the other encoding if only that one worked.
void WatchForms::on_encoding(const ListForms& forms) {
    if (!forms.current().other_encoding) return encoding_.on_list();
    if (!forms.usual_encoding_failed()) return;
    encoding_.take_other(now());
    memory().on_json(subject_.kind(), encoding_.plain_until().value_or(now()));
    if (!encoding_.plain_until()) return;
    const error_code failed = report_.error();
    report_.on_other_encoding({failed, failed.message()});
}

bool is_encoding_of_no_use(const Exchange& exchange, const Failure& failure) {
    if (exchange.status == 406 || exchange.status == 415) return true;
    const bool encoded = exchange.fields && !exchange.fields->content_encoding.empty();
    return exchange.readable && !encoded && exchange.protobuf &&
           failure.ec == errc::malformed_response;
}

}  // namespace k8s_sd::inline v0::detail
