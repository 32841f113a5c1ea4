#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

/// How much a log line matters; each level includes those before it.
enum class LogLevel { off, error, warning, info, debug };

/// A log line in its parts, for logs that are no lines of text. The views live until the call
/// returns.
struct LogRecord {
    LogLevel level = LogLevel::warning;
    std::string_view text{};     ///< the line; no secrets are in it
    std::optional<Kind> kind{};  ///< of the objects that it is about
    std::string_view ns{};       ///< of the watch or the object; empty: all namespaces, or none
    error_code error{};          ///< what went wrong, where something did
};

/// Where the library's few log lines go: to `write` and `write_record`, as far as they are set, and
/// to standard error if none of them is.
/// Both may be called from any thread that runs the execution context; they must neither block nor
/// throw.
struct K8S_SD_EXPORT Logger {
    /// The last level that is written.
    LogLevel level = LogLevel::warning;
    /// Gets one line without a line break; no secrets are in it.
    std::function<void(LogLevel, std::string_view)> write{};

    /// Gets the same line as a record.
    std::function<void(const LogRecord&)> write_record{};

    /// Whether a line of that level is written.
    bool enabled(LogLevel l) const noexcept { return l != LogLevel::off && l <= level; }
    /// Writes one line if its level is enabled.
    void log(LogLevel l, std::string_view text) const { log(LogRecord{l, text}); }
    void log(const LogRecord& record) const;
};

/// "warning" and so on.
K8S_SD_EXPORT std::string_view to_string(LogLevel) noexcept;

}  // namespace k8s_sd::inline v0
