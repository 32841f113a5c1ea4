#pragma once

#include <boost/json/array.hpp>
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

/// The answer of a cluster.
struct ClusterAnswer {
    std::string cluster{};  ///< its name; empty: there is only one
    bool is_answered = false;
    std::string error{};           ///< why there is no answer
    boost::json::object answer{};  ///< of /api/ui/object
    boost::json::array rows{};     ///< of /api/ui/targets
};

/// For each job whether the object is a target, and why not. Several clusters have a column.
std::string why_text(const std::vector<ClusterAnswer>&, Form);

/// The targets. Several clusters have a column.
std::string targets_text(const std::vector<ClusterAnswer>&, Form);

}  // namespace kubectl_sd
