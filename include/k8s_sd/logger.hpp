#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <functional>
#include <string_view>

namespace k8s_sd::inline v0 {

/// How much a log line matters; each level includes those before it.
enum class LogLevel { off, error, warning, info, debug };

/// Where the library's few log lines go. An empty `write` means standard error.
/// `write` may be called from any thread that runs the execution context; it must neither block
/// nor throw.
struct K8S_SD_EXPORT Logger {
    /// The last level that is written.
    LogLevel level = LogLevel::warning;
    /// Gets one line without a line break; no secrets are in it.
    std::function<void(LogLevel, std::string_view)> write{};

    /// Whether a line of that level is written.
    bool enabled(LogLevel l) const noexcept { return l != LogLevel::off && l <= level; }
    /// Writes one line if its level is enabled.
    void log(LogLevel l, std::string_view text) const;
};

/// "warning" and so on.
K8S_SD_EXPORT std::string_view to_string(LogLevel) noexcept;

}  // namespace k8s_sd::inline v0
