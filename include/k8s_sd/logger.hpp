#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The severity of a log line; each level includes those before it.
enum class LogLevel { off, error, warning, info, debug };

/// A log line in its parts, for structured logs. The views are valid until the call returns.
struct LogRecord {
    /// The severity, compared with Logger::level.
    LogLevel level = LogLevel::warning;
    std::string_view text{};     ///< the line; without secrets
    std::optional<Kind> kind{};  ///< kind of the objects concerned
    std::string_view ns{};       ///< of the watch or the object; empty: all namespaces, or none
    error_code error{};          ///< the error, if any
};

/// The destination of the library's few log lines: `write` and `write_record`, as far as set, or
/// standard error if neither is set.
/// Both may be called from any thread that runs the execution context; they must neither block nor
/// throw.
struct K8S_SD_EXPORT Logger {
    /// The least severe level to write.
    LogLevel level = LogLevel::warning;
    /// Receives one line, without line break and without secrets.
    std::function<void(LogLevel, std::string_view)> write{};

    /// Receives the same line as a record.
    std::function<void(const LogRecord&)> write_record{};

    /// Whether lines of this level are written.
    bool enabled(LogLevel l) const noexcept { return l != LogLevel::off && l <= level; }
    /// Writes one line if its level is enabled.
    void log(LogLevel l, std::string_view text) const { log(LogRecord{l, text}); }
    /// The same with the other parts of the line, for `write_record`.
    void log(const LogRecord& record) const;
};

/// "warning" and so on.
K8S_SD_EXPORT std::string_view to_string(LogLevel) noexcept;

}  // namespace k8s_sd::inline v0
