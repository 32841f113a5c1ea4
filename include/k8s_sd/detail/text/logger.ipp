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

}  // namespace k8s_sd::inline v0
