#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/logger.hpp"

#include <cstdio>
#include <string>

namespace k8s_sd::inline v0 {

namespace {

/// A single write, so that lines of several threads do not interleave. Control characters become
/// blanks, so that foreign text cannot start another line.
void write_to_standard_error(LogLevel level, std::string_view text) {
    std::string line = "k8s_sd: ";
    line.append(to_string(level)).append(": ");
    for (const char c : text) line += detail::is_control(c) ? ' ' : c;
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void Logger::log(const LogRecord& record) const {
    if (!enabled(record.level)) return;
    if (write) write(record.level, record.text);
    if (write_record) write_record(record);
    if (!write && !write_record) write_to_standard_error(record.level, record.text);
}

std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::off: return "off";
        case LogLevel::error: return "error";
        case LogLevel::warning: return "warning";
        case LogLevel::info: return "info";
        case LogLevel::debug: return "debug";
    }
    return "unknown";
}

std::string_view to_string(LogEvent event) noexcept {
    switch (event) {
        case LogEvent::watch_failed: return "watch_failed";
        case LogEvent::watch_recovered: return "watch_recovered";
        case LogEvent::watch_interrupted: return "watch_interrupted";
        case LogEvent::watch_refused: return "watch_refused";
        case LogEvent::watches_divided: return "watches_divided";
        case LogEvent::list_complete: return "list_complete";
        case LogEvent::list_suspicious: return "list_suspicious";
        case LogEvent::server_starting: return "server_starting";
        case LogEvent::api_version_changed: return "api_version_changed";
        case LogEvent::version_regressed: return "version_regressed";
        case LogEvent::encoding_refused: return "encoding_refused";
        case LogEvent::parameter_refused: return "parameter_refused";
        case LogEvent::object_skipped: return "object_skipped";
        case LogEvent::targets_limited: return "targets_limited";
        case LogEvent::endpoints_truncated: return "endpoints_truncated";
        case LogEvent::credentials_failed: return "credentials_failed";
        case LogEvent::credentials_recovered: return "credentials_recovered";
        case LogEvent::kubeconfig_changed: return "kubeconfig_changed";
        case LogEvent::kubeconfig_failed: return "kubeconfig_failed";
        case LogEvent::kubeconfig_recovered: return "kubeconfig_recovered";
        case LogEvent::tls_files_failed: return "tls_files_failed";
        case LogEvent::tls_files_recovered: return "tls_files_recovered";
        case LogEvent::tls_files_doubtful: return "tls_files_doubtful";
        case LogEvent::resource_search_failed: return "resource_search_failed";
        case LogEvent::snapshot_ignored: return "snapshot_ignored";
        case LogEvent::snapshot_not_written: return "snapshot_not_written";
        case LogEvent::fleet_view_held: return "fleet_view_held";
        case LogEvent::fleet_file_ignored: return "fleet_file_ignored";
        case LogEvent::fleet_file_not_written: return "fleet_file_not_written";
        case LogEvent::monitor_refused: return "monitor_refused";
    }
    return "unknown";
}

}  // namespace k8s_sd::inline v0
