#pragma once

#include "cli/event_log.hpp"
#include "k8s_sd/logger.hpp"
#include "options.hpp"

#include <string>

namespace discover {

/// Writes a line to standard error, in the form of --log-format.
void note(const Options&, k8s_sd::LogLevel, cli::Event, const std::string& text);

/// Writes a line about usual events to standard error, in the text format.
void comment(const Options&, const std::string& text);

/// The library's logger in the form of note(); on a terminal in colour, in place of a line of
/// progress.
k8s_sd::Logger logger_of(const Options&);

}  // namespace discover
