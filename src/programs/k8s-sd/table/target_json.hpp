#pragma once

#include "k8s_sd/scrape/target_builder.hpp"
#include "table/json_writer.hpp"
#include "table/target_owners.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The Kubernetes object of a target: "pod/shop/web-1"; its source if it has no object.
std::string object_of(const k8s_sd::TargetGroup&, std::size_t index);

/// The limits of texts and labels in a row, because a page of rows is transferred at once.
inline constexpr std::size_t shown_bytes = 400;  ///< of a text
inline constexpr std::size_t shown_labels = 12;
inline constexpr std::size_t shown_value_bytes = 200;  ///< of a label

/// The start of a text, at most so many bytes, without a partial character at its end.
std::string_view cut(std::string_view text, std::size_t bytes = shown_bytes);

/// A target as a row of the page.
void write_row(JsonWriter&, const TargetTable&, const TargetRow&, const TargetOwners& = {});
/// The members of this object, without its braces.
void write_row_members(JsonWriter&, const TargetTable&, const TargetRow&);

/// The approximate limit for the steps of one target, in bytes: each step has all labels.
inline constexpr std::size_t shown_steps_bytes = std::size_t{4} << 20;
/// The approximate size of a label set as JSON.
std::size_t bytes_of(const k8s_sd::LabelMap&);

/// The effect of each rule on a target, as changes and as the resulting labels, up to a dropping
/// rule: the member `steps`. Adds `steps_left_out` if there is no room for all.
void write_steps(JsonWriter&, const k8s_sd::TargetExplanation&, const k8s_sd::RelabelRules&);

/// Changes of labels: the members `added`, `changed` and `removed` of an object.
void write_changes(JsonWriter&, const std::vector<k8s_sd::RelabelStep::Change>&);

/// Applies some steps to the labels before them.
void apply(k8s_sd::LabelMap&, const k8s_sd::RelabelStep&);

}  // namespace k8s_sd_program
