#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/foreign_error.hpp"
#include "k8s_sd/detail/transport/unreachable.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using FailureCause = WatchMachine::Cause;

constexpr std::size_t error_text_limit = 16 * 1024;
// Bounds the delay a faulty or hostile server can impose.
constexpr Duration max_retry_after = std::chrono::hours(1);

/// A Status that reports an error, and its meaning.
struct ServerError : ServerStatus {
    bool version_too_large = false;  ///< the requested resource version is newer than the server's
};

/// The HTTP code equivalent to the reason of a Status without a code; 0 if it has none.
unsigned code_of_reason(std::string_view reason) noexcept {
    struct Row {
        std::string_view reason;
        unsigned code;
    };
    constexpr Row rows[] = {
        {"BadRequest", 400},       {"Unauthorized", 401},
        {"Forbidden", 403},        {"NotFound", 404},
        {"MethodNotAllowed", 405}, {"NotAcceptable", 406},
        {"Expired", 410},          {"Gone", 410},
        {"Invalid", 422},          {"TooManyRequests", 429},
        {"InternalError", 500},    {"ServiceUnavailable", 503},
        {"ServerTimeout", 504},    {"Timeout", 504},
    };
    for (const Row& row : rows) {
        if (row.reason == reason) return row.code;
    }
    return 0;
}

/// Servers before 1.19 report it in the text only (kubernetes/kubernetes#91073).
bool says_version_too_large(const ServerStatus& status) {
    constexpr std::string_view text = "Too large resource version";
    for (const ServerStatus::Cause& cause : status.causes) {
        if (cause.reason == "ResourceVersionTooLarge") return true;
        if (cause.message.find(text) != std::string::npos) return true;
    }
    return status.message.find(text) != std::string::npos;
}

/// The Status of an ERROR event. Without a code it has that of its reason.
ServerError error_of_event(ServerStatus status) {
    const bool version_too_large = says_version_too_large(status);
    if (status.code == 0) status.code = code_of_reason(status.reason);
    return {std::move(status), version_too_large};
}

/// The Status in the body, or one derived from the response head. The HTTP status takes precedence
/// over the code in the body.
ServerError read_error(const ResponseHead& head, std::string_view body) {
    std::optional<ServerStatus> status;
    const bool is_protobuf = head.content_type == protobuf_media_type;
    if (head.content_type == json_media_type) status = read_json_status(body);
    if (is_protobuf) status = read_protobuf_status(body);
    const bool version_too_large = status && says_version_too_large(*status);
    if (!status)
        status.emplace().message = is_protobuf ? "the answer is no Status in protobuf" : "";
    if (status->message.empty() && status->reason.empty() && !is_protobuf)
        status->message = read_foreign_error(body);
    if (!head.content_encoding.empty())
        status->message = "(compressed with " + head.content_encoding.text() + ")";
    status->code = head.status;
    return {std::move(*status), version_too_large};
}

std::optional<Duration> retry_after(const Rare<ResponseFields>& fields,
                                    const ServerStatus& status) {
    std::optional<Duration> wait;
    if (fields) wait = fields->retry_after;
    if (!wait && status.retry_after_seconds != 0)
        wait = std::chrono::seconds(status.retry_after_seconds);
    if (wait) wait = std::min(*wait, max_retry_after);
    return wait;
}

/// The cause of an unsuccessful status.
FailureCause cause_of(unsigned status) {
    switch (status) {
        case 401: return FailureCause::credentials;
        case 429: return FailureCause::busy;
        case 502:
        case 503: return FailureCause::network;
        case 504: return FailureCause::cut;  // from a gateway: a shorter response may get through
        default:
            return status >= 400 && status < 500 ? FailureCause::refused : FailureCause::server;
    }
}

/// Kubernetes 1.34 and later do not let requests wait for their caches
/// (ResilientWatchCacheInitialization, KEP-4568).
bool is_starting(const ServerStatus& status) {
    return status.code == 429 &&
           status.message.find("storage is (re)initializing") != std::string::npos;
}

WatchMachine::Failed failed(const Exchange& exchange, const ServerStatus& status) {
    if (status.code == 404 && !exchange.served) return {std::nullopt, FailureCause::absent};
    WatchMachine::Failed failed{retry_after(exchange.fields, status), cause_of(status.code)};
    if (failed.retry_after) failed.cause = FailureCause::busy;
    if (exchange.watching() && status.code == 404) failed.cause = FailureCause::server;
    return failed;
}

/// An expired version is routine, unless watches expire repeatedly.
Verdict judge_expiry(const Exchange& exchange) {
    const bool again =
        exchange.watching() && exchange.streams.expired + 1 >= StreamRecord::max_expired;
    if (again) {
        return {WatchMachine::Expired{},
                {errc::expired,
                 "the version of each list has expired before a watch of it lived for a minute; "
                 "the server is short of memory for events, or of time for lists",
                 Proof::long_life},
                true};
    }
    if (!exchange.watching() && !exchange.has_position) {
        return {WatchMachine::Expired{},
                {errc::expired, "HTTP 410 to a list of the most recent state, which cannot expire"},
                true};
    }
    return {WatchMachine::Expired{},
            {errc::expired, "the resource version has expired; listing again"}};
}

/// Judges a status other than 200, or an ERROR event.
Verdict judge_server_error(const Exchange& exchange, const ServerError& error) {
    if (error.code == 410) return judge_expiry(exchange);
    Verdict verdict{failed(exchange, error),
                    describe(error, exchange.head(),
                             {exchange.kind, std::string(exchange.ns), exchange.watching()}),
                    true};
    verdict.starting = is_starting(error);
    verdict.credentials_refused = error.code == 401;
    if (error.code == 401 && !exchange.credentials_problem.empty())
        verdict.failure.message += "; " + exchange.credentials_problem.text();
    if (error.version_too_large) {
        verdict.outcome = WatchMachine::VersionTooLarge{};
    } else if ((error.code == 400 || error.code == 422) &&
               (exchange.has_position || exchange.purpose == Purpose::probe)) {
        verdict.outcome = WatchMachine::Rejected{};
    }
    return verdict;
}

Verdict judge_failure(const Exchange& exchange, ExchangeEnd end) {
    const FailureCause cause = end.failure.ec == errc::response_timeout ? FailureCause::silent
                               : exchange.status != 0                   ? FailureCause::cut
                               : is_unreachable(end.failure.ec)         ? FailureCause::unreachable
                                                                        : FailureCause::network;
    return {WatchMachine::Failed{std::nullopt, cause}, std::move(end.failure), true};
}

Verdict not_streamed(Failure failure, const WatchMachine::NotStreamed& why = {}) {
    failure.message += "; the server does not stream this list, so a LIST follows";
    return {why, std::move(failure)};
}

/// Judges an unsuccessful response to a streamed list. A refusal of the streamed form is no
/// failure: the following LIST decides.
Verdict judge_streamed_error(const Exchange& exchange, const ServerError& error, bool event) {
    Verdict verdict = judge_server_error(exchange, error);
    const auto* failed = std::get_if<WatchMachine::Failed>(&verdict.outcome);
    const bool about_form =
        failed ? failed->cause == FailureCause::refused || failed->cause == FailureCause::absent ||
                     (event && failed->cause == FailureCause::server)
               : std::holds_alternative<WatchMachine::Rejected>(verdict.outcome) ||
                     !exchange.has_position;
    return about_form ? not_streamed(std::move(verdict.failure)) : verdict;
}

/// The stream ended before the list was complete.
Verdict judge_streamed_end(const Exchange& exchange, ExchangeEnd end) {
    // The server or a proxy limits the lifetime of the stream.
    constexpr Duration long_life = std::chrono::minutes(1);
    if (!end.failure.ec) {
        end.failure = {errc::truncated_response,
                       "the watch ended before the list that it began with was complete"};
    }
    const bool silent = end.failure.ec == errc::response_timeout;
    if (silent || end.life >= long_life)
        return not_streamed(std::move(end.failure),
                            {.answered = exchange.status == 200, .timed_out = true});
    return judge_failure(exchange, std::move(end));
}

Verdict judge_wrong_content(const ResponseHead& head) {
    const bool is_gzip = head.content_encoding == "gzip" || head.content_encoding == "x-gzip";
    if (!head.content_encoding.empty() && !is_gzip) {
        return {WatchMachine::Failed{},
                {errc::unexpected_encoding,
                 "the answer is compressed (Content-Encoding: " + printable(head.content_encoding) +
                     ") although not requested; a proxy in front of the API server compresses it, "
                     "and must not"},
                true};
    }
    return {WatchMachine::Failed{},
            {errc::unexpected_content_type,
             "the server answered " +
                 (head.content_type.empty() ? "something" : printable(head.content_type)) +
                 " instead of protobuf or JSON; is this the URL of a Kubernetes API server?",
             Proof::life, true},
            true};
}

Verdict judge_list(ExchangeEnd end) {
    if (end.page_problem == errc::malformed_response) {
        return {WatchMachine::BadPages{},
                {end.page_problem, "a page is older than the one before; listing without pages"},
                true};
    }
    if (end.page_problem == errc::endless_list) {
        return {WatchMachine::BadPages{},
                {end.page_problem, "its pages repeat, or do not end; listing without pages"},
                true};
    }
    if (end.page_problem) {
        return {WatchMachine::Failed{std::nullopt, FailureCause::refused},
                {end.page_problem, end.page_problem.message()},
                true};
    }
    if (end.suspicious) return {WatchMachine::Suspicious{}};
    return {std::move(end.page)};
}

Verdict judge_watch(const Exchange& exchange, ExchangeEnd end) {
    const error_code ec = end.failure.ec;
    if (ec == errc::malformed_response)
        return {WatchMachine::Malformed{}, std::move(end.failure), true};
    if (ec && exchange.status == 0) return judge_failure(exchange, std::move(end));
    if (ec == errc::too_many_objects) return judge_failure(exchange, std::move(end));
    StreamRecord::Stream stream;
    stream.life = end.life;
    stream.brought = exchange.events > 0;
    stream.advanced = exchange.advanced;
    if (ec == errc::idle_timeout) {
        const bool failed =
            !stream.brought && exchange.streams.silent + 1 >= StreamRecord::max_silent;
        if (!failed) end.failure.message.clear();
        end.failure.over_with = Proof::event;
        return {WatchMachine::Silent{}, std::move(end.failure), failed};
    }
    const WatchMachine::WatchEnded ended{!ec, end.in_time};
    const bool too_many_short =
        stream.is_short() && exchange.streams.short_ones + 1 >= StreamRecord::max_short;
    if (too_many_short) {
        return {ended,
                {errc::short_watches, "watches end at once without an event; listing again",
                 Proof::steady_life},
                true};
    }
    // Broken connections are routine; two in a row are a failure.
    const bool failed = ec && !stream.brought && !stream.lived();
    if (!failed) end.failure.message.clear();
    return {ended, std::move(end.failure), failed};
}

}  // namespace

error_code Exchange::add_error_text(std::string_view bytes) {
    // Not an error text: the body may contain Secrets, so it must not be copied.
    if (status == 200) return errc::unexpected_content_type;
    error_text += bytes.substr(0, error_text_limit - error_text.size());
    return error_text.size() < error_text_limit ? error_code() : errc::malformed_response;
}

Verdict judge(const Exchange& exchange, ExchangeEnd end) {
    if (exchange.plain_stream && exchange.streams_list())
        return {WatchMachine::NotStreamed{.tried = false}};
    const BodyFindings& found = exchange.found;
    if (!found.version.empty()) {
        if (exchange.watching()) return {WatchMachine::WentBack{found.version.text()}};
        return {WatchMachine::Probed{found.version.text()}};
    }
    if (found.doubted) return {WatchMachine::Doubted{}};
    if (found.suspicious) return {WatchMachine::Suspicious{}};
    const bool is_event = exchange.error_event.has_value();
    if ((exchange.status != 0 && exchange.status != 200) || is_event) {
        const ServerError error = is_event ? error_of_event(*exchange.error_event)
                                           : read_error(exchange.head(), exchange.error_text);
        return exchange.streams_list() ? judge_streamed_error(exchange, error, is_event)
                                       : judge_server_error(exchange, error);
    }
    const bool garbage = exchange.mistyped && end.failure.ec == errc::malformed_response;
    if (exchange.status == 200 && (!exchange.readable || garbage))
        return judge_wrong_content(exchange.head());
    if (exchange.watching()) return judge_watch(exchange, std::move(end));
    if (exchange.streams_list()) return judge_streamed_end(exchange, std::move(end));
    if (end.failure.ec) return judge_failure(exchange, std::move(end));
    if (exchange.purpose == Purpose::probe)
        return {WatchMachine::Probed{std::move(end.page.resource_version)}};
    return judge_list(std::move(end));
}

}  // namespace k8s_sd::inline v0::detail
