#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The error reported by the server: a Status object, or the HTTP status if there is none. The
/// texts come from the server and are untrusted.
struct ServerStatus {
    unsigned code = 0;
    std::string reason;
    std::string message;
    unsigned retry_after_seconds = 0;
    /// The requested resource version is newer than the server's (three known shapes).
    bool version_too_large = false;
};

/// Servers before 1.19 report it in the text only (kubernetes/kubernetes#91073).
inline bool says_version_too_large(const model::Status& status) {
    constexpr std::string_view text = "Too large resource version";
    for (const model::Status::Cause& cause : status.causes) {
        if (cause.reason == "ResourceVersionTooLarge") return true;
        if (cause.message.find(text) != std::string_view::npos) return true;
    }
    return status.message.find(text) != std::string_view::npos;
}

/// The HTTP code equivalent to the reason of a Status without a code; 0 if it has none.
inline unsigned code_of_reason(std::string_view reason) noexcept {
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

inline ServerStatus to_server_status(const model::Status& status) {
    const auto number = [](std::int64_t value) {
        constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
        return static_cast<unsigned>(std::clamp<std::int64_t>(value, 0, largest));
    };
    const unsigned code = number(status.code);
    return {code != 0 ? code : code_of_reason(status.reason), std::string(status.reason),
            std::string(status.message), number(status.retry_after_seconds),
            says_version_too_large(status)};
}

/// The Status in the body of an error response; nullopt if the body is not a JSON object. Members
/// of the wrong type are skipped.
std::optional<ServerStatus> read_json_status(std::string_view body);

/// The Status in the body of an error response; nullopt if the body is not a Status in protobuf.
/// Members of the wrong type are skipped.
std::optional<ServerStatus> read_protobuf_status(std::string_view body);

}  // namespace k8s_sd::inline v0::detail
