#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/codec/json_decoder.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t error_text_limit = 16 * 1024;
// A server that asks for more is mistaken, or not to be trusted.
constexpr Duration longest_retry_after = std::chrono::hours(1);

// --- the Status in the body of a refusal ----------------------------------------------------

std::string_view status_text(const boost::json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (value == nullptr || !value->is_string()) return {};
    return {value->get_string().data(), value->get_string().size()};
}

std::int64_t status_number(const boost::json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

void add_status_details(const boost::json::object& details, model::Status& status) {
    status.retry_after_seconds = status_number(details, "retryAfterSeconds");
    const auto* causes = details.if_contains("causes");
    if (causes == nullptr || !causes->is_array()) return;
    for (const boost::json::value& cause : causes->get_array()) {
        if (!cause.is_object()) continue;
        status.causes.push_back({status_text(cause.get_object(), "reason"),
                                 status_text(cause.get_object(), "message")});
    }
}

/// Views into `object`.
model::Status view_of_status(const boost::json::object& object) {
    model::Status status;
    status.reason = status_text(object, "reason");
    status.message = status_text(object, "message");
    const auto* details = object.if_contains("details");
    if (details != nullptr && details->is_object())
        add_status_details(details->get_object(), status);
    return status;
}

/// The Status in the body, or what can be said without one. The HTTP status is the one that
/// counts.
ServerStatus read_status(const ResponseHead& head, std::string_view body) {
    ServerStatus status;
    status.code = head.status;
    error_code ec;
    const auto value = head.content_type == "application/json" ? boost::json::parse(body, ec)
                                                               : boost::json::value();
    if (ec || !value.is_object()) {
        status.message = body;
        return status;
    }
    const model::Status said = view_of_status(value.get_object());
    status.reason = said.reason;
    status.message = said.message;
    status.retry_after_seconds =
        static_cast<unsigned>(std::clamp<std::int64_t>(said.retry_after_seconds, 0, 1'000'000));
    status.version_too_large = says_version_too_large(said);
    return status;
}

// --- what it means --------------------------------------------------------------------------

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

// A body without a type is tried: the parser tells JSON from the rest.
bool Exchange::accepted() const noexcept {
    return head.status == 200 &&
           (head.content_type == "application/json" || head.content_type.empty());
}

error_code Exchange::add_error_text(std::string_view bytes) {
    // Not an error text; it may be data that has to be cleansed.
    if (head.status == 200) return errc::unexpected_content_type;
    error_text += bytes.substr(0, error_text_limit - error_text.size());
    return error_text.size() < error_text_limit ? error_code() : errc::malformed_response;
}

Verdict judge(const Exchange& exchange, ExchangeEnd end) {
    if (exchange.head.status != 0 && exchange.head.status != 200) return judge_refusal(exchange);
    if (exchange.head.status == 200 && !exchange.accepted())
        return judge_wrong_content(exchange.head);
    if (exchange.error_event) return judge_server_error(exchange, *exchange.error_event);
    return exchange.watching ? judge_watch(exchange, std::move(end)) : judge_list(std::move(end));
}

}  // namespace k8s_sd::inline v0::detail
