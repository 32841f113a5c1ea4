#pragma once

#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Versions are decimal numbers since Kubernetes 1.35 (KEP-5504); other ones are not compared.
inline bool is_older_version(std::string_view a, std::string_view b) noexcept {
    const auto comparable = [](std::string_view version) {
        return !version.empty() && version.front() != '0' &&
               version.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!comparable(a) || !comparable(b)) return false;
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace k8s_sd::inline v0::detail
