#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/codec/json_status.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t error_text_limit = 16 * 1024;
// A server that asks for more is mistaken, or not to be trusted.
constexpr Duration longest_retry_after = std::chrono::hours(1);

/// The Status in the body, or what can be said without one. The HTTP status is the one that
/// counts.
ServerStatus read_status(const ResponseHead& head, std::string_view body) {
    std::optional<ServerStatus> status;
    if (head.content_type == "application/json") status = read_json_status(body);
    if (!status) status.emplace().message = body;
    status->code = head.status;
    return std::move(*status);
}

std::optional<Duration> retry_after(const ResponseHead& head, const ServerStatus& status) {
    std::optional<Duration> wait = head.retry_after;
    if (!wait && status.retry_after_seconds != 0)
        wait = std::chrono::seconds(status.retry_after_seconds);
    if (wait) wait = std::min(*wait, longest_retry_after);
    return wait;
}

/// A status other than 200, or an ERROR event.
Verdict judge_server_error(const Exchange& exchange, const ServerStatus& status) {
    if (status.code == 410) {
        return {WatchMachine::Expired{},
                {errc::expired, "the resource version has expired; listing again"}};
    }
    Verdict verdict{WatchMachine::Failed{retry_after(exchange.head, status)},
                    describe(status, exchange.head, exchange.kind), true};
    if (status.code == 401 && !exchange.credentials_problem.empty())
        verdict.failure.message += "; " + exchange.credentials_problem;
    if (status.version_too_large) {
        verdict.outcome = WatchMachine::VersionTooLarge{};
    } else if ((status.code == 400 || status.code == 422) && exchange.has_position) {
        verdict.outcome = WatchMachine::Rejected{};
    }
    return verdict;
}

Verdict judge_refusal(const Exchange& exchange) {
    const ServerStatus status = read_status(exchange.head, exchange.error_text);
    Verdict verdict = judge_server_error(exchange, status);
    verdict.credentials_refused = status.code == 401;
    return verdict;
}

Verdict judge_wrong_content(const ResponseHead& head) {
    return {WatchMachine::Failed{},
            {errc::unexpected_content_type,
             "the server answered " + printable(head.content_type) +
                 " instead of application/json; is this the URL of a Kubernetes API server?"},
            true};
}

Verdict judge_list(ExchangeEnd end) {
    if (end.failure.ec) return {WatchMachine::Failed{}, std::move(end.failure), true};
    return {std::move(end.page)};
}

Verdict judge_watch(const Exchange& exchange, ExchangeEnd end) {
    const error_code ec = end.failure.ec;
    if (ec == errc::malformed_response)
        return {WatchMachine::Malformed{}, std::move(end.failure), true};
    if (ec && exchange.head.status == 0)
        return {WatchMachine::Failed{}, std::move(end.failure), true};
    const bool progressed = exchange.events > 0 || end.lived >= proof_of_life;
    // Connections break every now and then; it is a failure if the next one fails, too.
    if (progressed) end.failure.message.clear();
    return {WatchMachine::WatchEnded{progressed, !ec}, std::move(end.failure), ec && !progressed};
}

}  // namespace

error_code Exchange::add_error_text(std::string_view bytes) {
    // Not an error text; it may be data that has to be cleansed.
    if (head.status == 200) return errc::unexpected_content_type;
    error_text += bytes.substr(0, error_text_limit - error_text.size());
    return error_text.size() < error_text_limit ? error_code() : errc::malformed_response;
}

Verdict judge(const Exchange& exchange, ExchangeEnd end) {
    if (exchange.head.status != 0 && exchange.head.status != 200) return judge_refusal(exchange);
    if (exchange.head.status == 200 && !exchange.readable)
        return judge_wrong_content(exchange.head);
    if (exchange.error_event) return judge_server_error(exchange, *exchange.error_event);
    return exchange.watching ? judge_watch(exchange, std::move(end)) : judge_list(std::move(end));
}

}  // namespace k8s_sd::inline v0::detail
