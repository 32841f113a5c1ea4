#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail {

bool is_label_name(std::string_view name, NameValidation) noexcept;

/// Whether a template with references such as `$1` may produce label names. The scheme `utf8`
/// requires valid UTF-8; `legacy` requires Prometheus' pattern: parts starting with a letter, `_`
/// or a complete `$name` or `${name}`, followed by these or digits.
bool is_label_name_template(std::string_view text, NameValidation) noexcept;

}  // namespace k8s_sd::inline v0::detail
