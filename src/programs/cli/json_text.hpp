#pragma once

#include "cli/line_writer.hpp"
#include "k8s_sd/labels.hpp"

#include <string>
#include <string_view>

namespace cli {

/// Appends the text as a JSON string, with its quotes: the shortest escapes, plus others where a
/// YAML reader would break the line or refuse the character, or where vmagent would expand an
/// environment variable (`%{NAME}`). Invalid UTF-8 becomes U+FFFD. So the same bytes are valid as
/// JSON, as YAML and in target files.
void append_json(std::string& out, std::string_view text);
/// The same as a text of its own.
std::string json_string(std::string_view text);

/// Writes the text as append_json() does.
void write_json(LineWriter&, std::string_view text);
/// The map as a JSON object, sorted by name.
void write_json(LineWriter&, const k8s_sd::LabelMap&);

}  // namespace cli
