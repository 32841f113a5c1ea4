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

/// What a log line reports: stable names for whoever filters or counts lines, listed in
/// docs/guide/logs.md. Texts may change.
enum class LogEvent {
    watch_failed,            ///< a watch has an error, or another one than before
    watch_recovered,         ///< the watch works again
    watch_interrupted,       ///< an end of a watch that the next attempt makes up for
    watch_refused,           ///< the collection cannot be watched, and is listed repeatedly instead
    watches_divided,         ///< there is a watch for each selector or namespace, as permitted
    list_complete,           ///< the first list of a watch
    list_suspicious,         ///< a list lacks so many objects that a second one has to confirm it
    server_starting,         ///< the server fills its caches; the watch waits for it
    api_version_changed,     ///< the server has the API in another version only
    version_regressed,       ///< the server's resource version went back
    encoding_refused,        ///< the server sends another encoding than requested
    parameter_refused,       ///< the server refuses an optional parameter
    object_skipped,          ///< an object cannot be read
    targets_limited,         ///< an object has too many targets; it has none
    endpoints_truncated,     ///< an Endpoints object lacks addresses
    credentials_failed,      ///< credentials cannot be renewed; the previous ones stay in use
    credentials_recovered,   ///< the same credentials can be renewed again
    kubeconfig_changed,      ///< a kubeconfig was read again, with another content
    kubeconfig_failed,       ///< a kubeconfig cannot be read; its previous content stays in use
    kubeconfig_recovered,    ///< the same kubeconfig can be read again
    tls_files_failed,        ///< certificates or keys cannot be read; the previous ones stay in use
    tls_files_recovered,     ///< the same files can be read again
    tls_files_doubtful,      ///< certificates are in use that other clients would refuse
    resource_search_failed,  ///< the search for a resource among the APIs of the server
    snapshot_ignored,        ///< a snapshot cannot be used
    snapshot_not_written,    ///< a snapshot cannot be written
    fleet_view_held,         ///< the view of a fleet stays in spite of an observation
    fleet_file_ignored,      ///< the file of a view cannot be used
    fleet_file_not_written,  ///< the file of a view cannot be written
    monitor_refused,         ///< a monitor object has a mistake
};

/// A log line in its parts, for structured logs. The views are valid until the call returns.
struct LogRecord {
    /// The severity, compared with Logger::level.
    LogLevel level = LogLevel::warning;
    LogEvent event = LogEvent::watch_failed;  ///< what the line reports
    std::string_view text{};                  ///< the line; without secrets
    std::optional<Kind> kind{};               ///< kind of the objects concerned
    std::string_view ns{};  ///< of the watch or the object; empty: all namespaces, or none
    error_code error{};     ///< the error, if any
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
    void log(LogLevel l, LogEvent event, std::string_view text) const {
        log(LogRecord{l, event, text});
    }
    /// The same with the other parts of the line, for `write_record`.
    void log(const LogRecord& record) const;
};

/// "warning" and so on.
K8S_SD_EXPORT std::string_view to_string(LogLevel) noexcept;
/// "watch_failed" and so on.
K8S_SD_EXPORT std::string_view to_string(LogEvent) noexcept;

}  // namespace k8s_sd::inline v0
