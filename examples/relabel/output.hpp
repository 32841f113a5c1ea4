#pragma once

#include "cli/line_writer.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace relabel {

using cli::LineWriter;

/// The labels, or null, as JSON.
void write_result(LineWriter&, const std::optional<k8s_sd::LabelMap>&);

/// The steps, for users. `number`: of the label set, from 1.
void write_steps(LineWriter&, std::size_t number, const k8s_sd::RelabelRules&,
                 const std::vector<k8s_sd::RelabelStep>&);

}  // namespace relabel
