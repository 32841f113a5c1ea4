#pragma once

#include "lists/meta_names.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd_program {

/// The content of a list.
enum class ListForm : std::uint8_t {
    discovered,  ///< all labels, like the reader's own discovery: the reader has rules
    relabelled,  ///< the labels needed for scraping: the reader needs no rules
    urls,        ///< URLs and the labels of the series: for readers without any relabelling
    collector,   ///< all labels of targets kept by the rules, with the address: for OpenTelemetry
};
inline constexpr std::size_t list_form_count = 4;  ///< number of values of ListForm

/// The name of the enumerator.
constexpr std::string_view to_string(ListForm form) noexcept {
    constexpr std::string_view names[list_form_count] = {"discovered", "relabelled", "urls",
                                                         "collector"};
    return names[static_cast<std::size_t>(form)];
}

/// A form with the reader's modifications.
struct ListContent {
    ListForm form = ListForm::discovered;
    /// If not empty: `discovered` has only these `__meta_*` labels; `relabelled` has them in
    /// addition. Empty in the other forms.
    MetaNames meta{};
    auto operator<=>(const ListContent&) const = default;
};

}  // namespace k8s_sd_program
