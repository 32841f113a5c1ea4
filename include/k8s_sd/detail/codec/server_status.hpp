#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A decoded Status, or one made of a response head. Its texts come from the server and are
/// untrusted. watch/outcome.ipp decides its meaning.
struct ServerStatus {
    struct Cause {
        std::string reason, message;
    };
    unsigned code = 0;  ///< 0: none
    std::string reason{};
    std::string message{};
    unsigned retry_after_seconds = 0;
    std::vector<Cause> causes{};
};

inline ServerStatus to_server_status(const model::Status& from) {
    const auto number = [](std::int64_t value) {
        constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
        return static_cast<unsigned>(std::clamp<std::int64_t>(value, 0, largest));
    };
    ServerStatus status{.code = number(from.code),
                        .reason = std::string(from.reason),
                        .message = std::string(from.message),
                        .retry_after_seconds = number(from.retry_after_seconds)};
    for (const model::Status::Cause& cause : from.causes) {
        status.causes.push_back({std::string(cause.reason), std::string(cause.message)});
    }
    return status;
}

/// The Status in the body of an error response; nullopt if the body is not a JSON object. Members
/// of the wrong type are skipped.
std::optional<ServerStatus> read_json_status(std::string_view body);

/// The Status in the body of an error response; nullopt if the body is not a Status in protobuf.
/// Members of the wrong type are skipped.
std::optional<ServerStatus> read_protobuf_status(std::string_view body);

}  // namespace k8s_sd::inline v0::detail
