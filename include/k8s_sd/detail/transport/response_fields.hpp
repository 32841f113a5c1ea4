#pragma once

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/response_head.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace k8s_sd::inline v0::detail {

/// The normalized content coding; empty: identity.
inline std::string content_coding(std::string_view content_encoding) {
    std::string result = lower_case(trim(content_encoding));
    return result == "identity" ? std::string() : result;
}

// Kubernetes sends seconds; like client-go, this ignores dates.
inline std::optional<Duration> parse_retry_after(std::string_view value) {
    unsigned seconds = 0;
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (ec != std::errc() || end != value.data() + value.size()) return std::nullopt;
    return std::chrono::seconds(seconds);
}

/// Stores a header field of a response, if it matters. The first of repeated fields counts.
/// \param name  lower case
inline void set_field(ResponseHead& head, std::string_view name, std::string_view value) {
    if (name == "content-type" && head.content_type.empty()) {
        head.content_type = lower_case(trim(value.substr(0, value.find(';'))));
        head.content_type_as_sent = trim(value);
    } else if (name == "content-encoding" && head.content_encoding.empty()) {
        head.content_encoding = content_coding(value);
    } else if (name == "date" && head.date.empty()) {
        head.date = value;
    } else if (name == "location" && head.location.empty()) {
        head.location = value;
    } else if (name == "retry-after" && !head.retry_after) {
        head.retry_after = parse_retry_after(value);
    }
}

}  // namespace k8s_sd::inline v0::detail
