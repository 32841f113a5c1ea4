#pragma once

#include "cli/command_line.hpp"
#include "cli/option_values.hpp"
#include "k8s_sd/logger.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// What an event of a program reports: stable names, listed in docs/guide/logs.md.
enum class Event : std::uint8_t {
    config_applied,        ///< a configuration is in use
    config_refused,        ///< a changed configuration has a mistake; the previous one stays in use
    config_note,           ///< a part of the configuration has no effect here
    jobs_left_out,         ///< jobs of the configuration that cannot be used
    job_problem,           ///< a job, or a part of it, does not work as configured
    job_complete,          ///< the first complete list of a job
    job_without_clusters,  ///< a list lacks some clusters
    targets_failed,        ///< targets that cannot be scraped
    targets_unassigned,    ///< targets without a collector
    clusters_changed,      ///< the clusters of ClusterProfiles
    cluster_unusable,      ///< a ClusterProfile without usable access
    context_note,          ///< a context that is left out, or has the same server as another one
    certificate,           ///< a certificate or a token file: renewed, invalid, or near its end
    connections_limited,   ///< fewer connections than configured, for lack of files
    file_problem,          ///< a file of a list cannot be written, or is unchanged after an error
    list_doubtful,         ///< a list is read from a server with a doubtful certificate
    recording,             ///< a recording ends, or goes on in another file
    replay,                ///< a replay differs from the recorded run
    simulation,            ///< the simulated cluster, and its changes
    listening,             ///< the address of the server
    fleet,                 ///< the view of a fleet, and the share of this member
    snapshot,              ///< targets of a snapshot, or their confirmation
    watch_status,          ///< the state of a watch, as --status-interval wants
    not_synced,            ///< --once without a complete list in time
    failed,                ///< the program ends with this error
    end,                   ///< the program ends, by a signal
};

/// "config_applied" and so on.
std::string_view to_string(Event) noexcept;

/// A part of an event with a stable name. Texts omit it in the form `text`.
struct LogField {
    LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
    LogField(std::string_view name, std::size_t count)
        : key(name), value(std::to_string(count)), is_number(true) {}

    std::string_view key;
    std::string value;
    bool is_number = false;
};

/// An event of a program, or of the library.
struct EventLine {
    k8s_sd::LogLevel level = k8s_sd::LogLevel::info;
    std::string_view program{};
    std::string_view event{};
    std::string_view text{};
    std::vector<LogField> fields{};
};

/// The line of an event, with its end; several in the form `text` if the event has several.
/// \param time  in RFC 3339 format; empty: none
std::string log_lines(LogFormat, std::string_view time, const EventLine&);

/// Events on standard error. Any thread; all copies share the output.
class EventLog {
 public:
    /// \param program  the key `program`, or the prefix of each line
    EventLog(std::string_view program, const LogOptions& options)
        : program_(program), options_(options) {}

    void write(k8s_sd::LogLevel, Event, std::string_view text,
               std::vector<LogField> fields = {}) const;
    /// Writes texts as events of this kind.
    std::function<void(const std::string& text)> writer(k8s_sd::LogLevel, Event) const;
    /// Writes the library's lines, with the keys `resource`, `namespace` and `error`.
    k8s_sd::Logger logger() const;

 private:
    void write(const EventLine&) const;

    std::string program_;
    LogOptions options_;
};

/// CommandLine::print_error for a program with these options: errors have the form of events.
/// \param options  outlives the result
std::function<bool(const std::string& text)> error_writer(std::string_view program,
                                                          const LogOptions& options);

}  // namespace cli
