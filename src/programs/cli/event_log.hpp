#pragma once

#include "cli/command_line.hpp"
#include "cli/option_values.hpp"
#include "k8s_sd/logger.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The form of log lines. Only `text` splits an event with several lines.
enum class LogFormat : std::uint8_t { text, json, logfmt };

/// "text", "json", "logfmt".
const Choices<LogFormat>& log_format_choices();
/// "off", "error", "warning", "info", "debug".
const Choices<k8s_sd::LogLevel>& log_level_choices();

/// The form and the amount of log lines.
struct LogOptions {
    LogFormat format = LogFormat::text;
    bool times = true;
    /// Of the library's lines; the program's own are written at every level but off.
    k8s_sd::LogLevel level = k8s_sd::LogLevel::warning;
};

/// The options --log-format, --log-level and --no-log-times.
std::vector<Option> log_options(LogOptions&);

/// A part of an event with a stable name. Texts omit it in the form `text`.
struct LogField {
    LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
    LogField(std::string_view name, std::size_t count)
        : key(name), value(std::to_string(count)), is_number(true) {}

    std::string_view key;
    std::string value;
    bool is_number = false;
};

/// An event of a program.
struct LogEvent {
    k8s_sd::LogLevel level = k8s_sd::LogLevel::info;
    std::string_view program{};
    std::string_view text{};
    std::vector<LogField> fields{};
};

/// The line of an event, with its end; several in the form `text` if the event has several.
/// \param time  in RFC 3339 format; empty: none
std::string log_lines(LogFormat, std::string_view time, const LogEvent&);

/// Events on standard error. Any thread; all copies share the output.
class EventLog {
 public:
    /// \param program  the key `program`, or the prefix of each line
    EventLog(std::string_view program, const LogOptions& options)
        : program_(program), options_(options) {}

    /// The same log; events without a level have this one.
    EventLog at(k8s_sd::LogLevel) const;
    void operator()(const std::string& text) const { write(level_, text); }
    void write(k8s_sd::LogLevel, std::string_view text, std::vector<LogField> fields = {}) const;
    /// Writes the library's lines, with the keys `resource`, `namespace` and `error`.
    k8s_sd::Logger logger() const;

 private:
    void write(const LogEvent&) const;

    std::string program_;
    LogOptions options_;
    k8s_sd::LogLevel level_ = k8s_sd::LogLevel::info;
};

}  // namespace cli
