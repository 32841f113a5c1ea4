#pragma once

#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The value of a boolean as Go's strconv.ParseBool reads it; nullopt for any other text.
constexpr std::optional<bool> parse_go_bool(std::string_view text) noexcept {
    for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
        if (text == yes) return true;
    }
    for (const char* no : {"0", "f", "F", "FALSE", "false", "False"}) {
        if (text == no) return false;
    }
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0::detail
