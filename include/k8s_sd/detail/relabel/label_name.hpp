#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail {

bool is_label_name(std::string_view name, NameValidation) noexcept;

/// Whether a template with `$1` and the like can make label names. The scheme `utf8` only asks for
/// valid UTF-8; `legacy` for what Prometheus asks: pieces that begin with a letter, `_` or a
/// complete `$name` or `${name}` and go on with such letters and digits.
bool is_label_name_template(std::string_view text, NameValidation) noexcept;

}  // namespace k8s_sd::inline v0::detail
