#pragma once

#include "k8s_sd/labels.hpp"
#include "support/line_writer.hpp"

#include <string_view>

namespace support {

/// The text as a JSON string, with its quotes.
void write_json(LineWriter&, std::string_view text);
/// The map as a JSON object, sorted by name.
void write_json(LineWriter&, const k8s_sd::LabelMap&);

}  // namespace support
