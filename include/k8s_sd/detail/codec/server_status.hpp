#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What the server said went wrong: a Status object, or the HTTP status where there is none.
/// The texts come from the server and are not to be trusted.
struct ServerStatus {
    unsigned code = 0;
    std::string reason;
    std::string message;
    unsigned retry_after_seconds = 0;
    /// The resource version asked for is from the server's future (three known shapes).
    bool version_too_large = false;
};

/// Servers before 1.19 say it in the text only (kubernetes/kubernetes#91073).
inline bool says_version_too_large(const model::Status& status) {
    constexpr std::string_view text = "Too large resource version";
    for (const model::Status::Cause& cause : status.causes) {
        if (cause.reason == "ResourceVersionTooLarge") return true;
        if (cause.message.find(text) != std::string_view::npos) return true;
    }
    return status.message.find(text) != std::string_view::npos;
}

inline ServerStatus to_server_status(const model::Status& status) {
    const auto number = [](std::int64_t value) {
        constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
        return static_cast<unsigned>(std::clamp<std::int64_t>(value, 0, largest));
    };
    return {number(status.code), std::string(status.reason), std::string(status.message),
            number(status.retry_after_seconds), says_version_too_large(status)};
}

}  // namespace k8s_sd::inline v0::detail
