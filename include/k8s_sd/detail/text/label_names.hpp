#pragma once

#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

/// The forms of keys and values of labels.
namespace k8s_sd::inline v0::detail {

/// The name part of a label key, and a label value that is not empty.
constexpr bool is_label_part(std::string_view text) noexcept {
    return !text.empty() && text.size() <= 63 && is_alphanumeric(text.front()) &&
           is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
               return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
           });
}

/// With or without a prefix: "app.kubernetes.io/name", "app".
constexpr bool is_label_key(std::string_view text) noexcept {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return is_label_part(text);
    return is_dns_subdomain(text.substr(0, slash)) && is_label_part(text.substr(slash + 1));
}

constexpr bool is_label_value(std::string_view text) noexcept {
    return text.empty() || is_label_part(text);
}

}  // namespace k8s_sd::inline v0::detail
