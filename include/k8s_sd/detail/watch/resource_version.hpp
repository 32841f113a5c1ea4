#pragma once

#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Versions are decimal numbers since Kubernetes 1.35 (KEP-5504); all others are incomparable.
inline bool is_comparable_version(std::string_view version) noexcept {
    return !version.empty() && version.front() != '0' &&
           version.find_first_not_of("0123456789") == std::string_view::npos;
}

inline bool is_older_version(std::string_view a, std::string_view b) noexcept {
    if (!is_comparable_version(a) || !is_comparable_version(b)) return false;
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// Whether `a` is newer than `b`. Any comparable version is newer than an incomparable or empty
/// `b`.
inline bool is_newer_version(std::string_view a, std::string_view b) noexcept {
    return is_comparable_version(a) && (!is_comparable_version(b) || is_older_version(b, a));
}

}  // namespace k8s_sd::inline v0::detail
