#pragma once

#include "options.hpp"

#include <string>

namespace discover {

/// "14:03:07.123"; of a replay, the time since its beginning.
std::string time_of_day(const Options&);

/// The same before a line of the text format on standard error; empty with --no-log-times.
std::string log_time(const Options&);

}  // namespace discover
