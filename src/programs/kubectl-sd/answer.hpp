#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kubectl_sd {

/// The forms of kubectl's --output.
enum class Form : std::uint8_t { table, wide, json, yaml };

/// Columns as kubectl prints them: as wide as their longest text, three blanks apart.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

/// The value as a YAML document.
std::string yaml_text(const boost::json::value&);

/// The answer of /api/ui/object: for each job whether the object is a target, and why not.
std::string why_text(const boost::json::object& answer, Form);

/// Rows of /api/ui/targets.
std::string targets_text(const boost::json::array& rows, Form);

}  // namespace kubectl_sd
