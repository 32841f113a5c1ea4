#pragma once

#include "lists/meta_names.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bridge {

/// What a list shows of targets.
enum class ListForm : std::uint8_t {
    discovered,  ///< all labels, as a discovery of its own would show them: the reader has rules
    relabelled,  ///< what the reader needs to scrape: it needs no rules
    urls,        ///< URLs, and the labels of the series only: for readers that relabel nothing
    collector,   ///< all labels of what the rules keep, with the address: for OpenTelemetry
};
inline constexpr std::size_t list_form_count = 4;  ///< number of values of ListForm

/// The name of the enumerator.
constexpr std::string_view to_string(ListForm form) noexcept {
    constexpr std::string_view names[list_form_count] = {"discovered", "relabelled", "urls",
                                                         "collector"};
    return names[static_cast<std::size_t>(form)];
}

/// A form, and what the reader changes about it.
struct ListContent {
    ListForm form = ListForm::discovered;
    /// If there are any: of `discovered`, only these `__meta_*` labels; with `relabelled`, these,
    /// too. The other forms have none.
    MetaNames meta{};
    auto operator<=>(const ListContent&) const = default;
};

}  // namespace bridge
