#pragma once

#include "k8s_sd/scrape/target_builder.hpp"
#include "table/json_writer.hpp"
#include "table/target_owners.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The Kubernetes object that a target is of: "pod/shop/web-1"; its source where it is of none.
std::string object_of(const k8s_sd::TargetGroup&, std::size_t index);

/// What a row shows of texts and labels, which can be long: a page of rows is read at once.
inline constexpr std::size_t shown_bytes = 400;  ///< of a text
inline constexpr std::size_t shown_labels = 12;
inline constexpr std::size_t shown_value_bytes = 200;  ///< of a label

/// The begin of a text, so many bytes at most, without a part of a character at its end.
std::string_view cut(std::string_view text, std::size_t bytes = shown_bytes);

/// A target, as a line of the page.
void write_row(JsonWriter&, const TargetTable&, const TargetRow&, const TargetOwners& = {});
/// The members of this object, without its braces.
void write_row_members(JsonWriter&, const TargetTable&, const TargetRow&);

/// What the account of a target shows of steps, in bytes, about: each has all labels.
inline constexpr std::size_t shown_steps_bytes = std::size_t{4} << 20;
/// Of a label set, as JSON, about.
std::size_t bytes_of(const k8s_sd::LabelMap&);

/// What each rule made of a target, as changes and as the labels then; of the rules behind one that
/// dropped it nothing: the member `steps`. Also `steps_left_out`, where there is no room for all.
void write_steps(JsonWriter&, const k8s_sd::TargetExplanation&,
                 const std::vector<k8s_sd::RelabelRule>&);

/// Changes of labels: the members `added`, `changed` and `removed` of an object.
void write_changes(JsonWriter&, const std::vector<k8s_sd::RelabelStep::Change>&);

/// The labels after some steps: what there was before, changed.
void apply(k8s_sd::LabelMap&, const k8s_sd::RelabelStep&);

}  // namespace bridge
