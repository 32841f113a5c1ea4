#pragma once

#include "k8s_sd/scrape/target_builder.hpp"
#include "table/json_writer.hpp"
#include "table/target_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bridge {

/// The Kubernetes object that a target is of: "pod/shop/web-1"; its source where it is of none.
std::string object_of(const k8s_sd::TargetGroup&, std::size_t index);

/// A target, as a line of the page.
void write_row(JsonWriter&, const TargetTable&, const TargetRow&);

/// What each rule made of a target, as changes and as the labels then; of the rules behind one that
/// dropped it nothing.
void write_steps(JsonWriter&, const k8s_sd::TargetExplanation&,
                 const std::vector<k8s_sd::RelabelRule>&);

/// The labels after some steps: what there was before, changed.
void apply(k8s_sd::LabelMap&, const k8s_sd::RelabelStep&);

}  // namespace bridge
