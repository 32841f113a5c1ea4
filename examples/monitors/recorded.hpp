#pragma once

#include <boost/json/object.hpp>
#include <string_view>

/// Recorded cases: an owner, its cluster, and the expected configuration, one JSON object a line.
namespace monitors {

/// Makes the configuration of a case; does not look at the expected one.
/// \returns {"name", "accepted", "refused": [{"object", "reason", "remedy"}], "config" | "error"}
/// \throws std::invalid_argument for a line of another form
boost::json::object play_recorded(std::string_view line);

}  // namespace monitors
