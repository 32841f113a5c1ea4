#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/watch/failure.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

errc code_for(unsigned status) {
    switch (status) {
        case 400:
        case 422: return errc::bad_request;
        case 401: return errc::unauthorized;
        case 403: return errc::forbidden;
        case 404: return errc::not_found;
        case 410: return errc::expired;
        case 429: return errc::too_many_requests;
        default: return status >= 500 ? errc::server_error : errc::unexpected_status;
    }
}

// How to mend it, where that is known.
std::string advice(const ServerStatus& status, Kind kind) {
    const std::string resource(to_string(kind));
    switch (status.code) {
        case 400:
        case 422:
            // An API server gives a reason; something else may not even speak the same protocol.
            return status.reason.empty()
                       ? "is this the URL of a Kubernetes API server, with the right scheme?"
                       : "check the selectors for " + resource;
        case 401:
            return "check the credentials: the token may have expired, or be of another cluster";
        case 403: return "grant the verbs list and watch on " + resource + " (RBAC)";
        case 404: return "the server has no such API, or the path in the server's URL is wrong";
        default: return {};
    }
}

std::string text_at(const boost::json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (value == nullptr || !value->is_string()) return {};
    return std::string(value->get_string());
}

unsigned number_at(const boost::json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    if (value == nullptr || !value->is_int64()) return 0;
    return static_cast<unsigned>(std::clamp<std::int64_t>(value->get_int64(), 0, 1'000'000));
}

bool says_version_too_large(const boost::json::object& status) {
    constexpr std::string_view text = "Too large resource version";
    if (text_at(status, "message").find(text) != std::string::npos) return true;
    const auto* details = status.if_contains("details");
    if (details == nullptr || !details->is_object()) return false;
    const auto* causes = details->get_object().if_contains("causes");
    if (causes == nullptr || !causes->is_array()) return false;
    return std::any_of(
        causes->get_array().begin(), causes->get_array().end(), [&](const auto& cause) {
            if (!cause.is_object()) return false;
            return text_at(cause.get_object(), "reason") == "ResourceVersionTooLarge" ||
                   text_at(cause.get_object(), "message").find(text) != std::string::npos;
        });
}

}  // namespace

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
    const auto& object = value.get_object();
    status.reason = text_at(object, "reason");
    status.message = text_at(object, "message");
    status.version_too_large = says_version_too_large(object);
    if (const auto* details = object.if_contains("details"); details && details->is_object()) {
        status.retry_after_seconds = number_at(details->get_object(), "retryAfterSeconds");
    }
    return status;
}

Failure describe(const ServerStatus& status, const ResponseHead& head, Kind kind) {
    Failure failure{code_for(status.code), "HTTP " + std::to_string(status.code)};
    if (!status.message.empty()) failure.message += ": " + printable(status.message);
    if (status.code == 401 && !head.date.empty()) {
        failure.message += "; the server's clock says " + printable(head.date);
    }
    const std::string help = advice(status, kind);
    if (!help.empty()) failure.message += "; " + help;
    return failure;
}

Metrics::Counter& failure_counter(Metrics::PerKind& metrics, error_code ec) {
    if (ec == errc::expired) return metrics.expired;
    if (ec == errc::unauthorized) return metrics.unauthorized;
    if (ec == errc::forbidden) return metrics.forbidden;
    if (ec == errc::not_found) return metrics.not_found;
    if (ec == errc::too_many_requests) return metrics.too_many_requests;
    if (ec == errc::server_error) return metrics.server_errors;
    if (ec == errc::malformed_response || ec == errc::unexpected_content_type ||
        ec == errc::missing_resource_version) {
        return metrics.malformed;
    }
    const bool ours = ec.category() == category();
    const bool timeout = ec == errc::connect_timeout || ec == errc::response_timeout ||
                         ec == errc::idle_timeout || ec == errc::truncated_response;
    return !ours || timeout ? metrics.network_errors : metrics.other_errors;
}

}  // namespace k8s_sd::inline v0::detail
