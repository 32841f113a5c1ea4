#pragma once

#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"

#include <functional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// What the reports of all watches of a client share. There may be thousands of watches.
struct ReportContext {
    const std::string& server;  ///< the URL, for messages
    Metrics& metrics;
    const Logger& logger;
    /// Removes credentials from a text, because the server may echo them.
    std::function<std::string(std::string)> redact;
};

}  // namespace k8s_sd::inline v0::detail
