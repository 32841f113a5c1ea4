#include "cli/event_log.hpp"

#include "cli/json_text.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/kind.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

namespace support {

namespace {

/// In RFC 3339 format, in UTC, with milliseconds.
std::string now_in_words() {
    using std::chrono::milliseconds;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto since = std::chrono::duration_cast<milliseconds>(now).count();
    const auto seconds = static_cast<std::time_t>(since / 1000);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    char fraction[8];
    std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(since % 1000));
    return std::string(text, size) + fraction;
}

std::string text_lines(std::string_view time, const EventLine& event) {
    std::string begin(time);
    begin.append(time.empty() ? "" : " ").append(event.program).append(": ");
    std::string lines;
    for (std::string_view rest = event.text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        lines += begin + printable(line, std::string::npos) + "\n";
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return lines;
}

/// Readers of logfmt split at blanks, "=" and quotes.
std::string logfmt_value(std::string_view value) {
    const auto is_plain = [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '='; };
    const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), is_plain) &&
                       value.find('\\') == std::string_view::npos;
    return plain ? std::string(value) : json_string(value);
}

std::vector<LogField> all_fields(std::string_view time, const EventLine& event) {
    std::vector<LogField> fields;
    if (!time.empty()) fields.emplace_back("time", time);
    fields.emplace_back("level", to_string(event.level));
    fields.emplace_back("program", event.program);
    fields.emplace_back("msg", event.text.substr(0, event.text.find_last_not_of('\n') + 1));
    fields.emplace_back("event", event.event);
    fields.insert(fields.end(), event.fields.begin(), event.fields.end());
    return fields;
}

std::string json_line(const std::vector<LogField>& fields) {
    std::string line;
    for (const LogField& field : fields) {
        line += line.empty() ? '{' : ',';
        line += json_string(field.key) + ':';
        line += field.is_number ? field.value : json_string(field.value);
    }
    return line + "}\n";
}

std::string logfmt_line(const std::vector<LogField>& fields) {
    std::string line;
    for (const LogField& field : fields) {
        if (!line.empty()) line += ' ';
        line.append(field.key).append("=").append(logfmt_value(field.value));
    }
    return line + "\n";
}

}  // namespace

const Choices<LogFormat>& log_format_choices() {
    static const Choices<LogFormat> choices{
        {"text", LogFormat::text}, {"json", LogFormat::json}, {"logfmt", LogFormat::logfmt}};
    return choices;
}

const Choices<k8s_sd::LogLevel>& log_level_choices() {
    static const auto choices = [] {
        using enum k8s_sd::LogLevel;
        Choices<k8s_sd::LogLevel> levels;
        for (const auto level : {off, error, warning, info, debug}) {
            levels.emplace_back(to_string(level), level);
        }
        return levels;
    }();
    return choices;
}

std::vector<Option> log_options(LogOptions& o) {
    return {{"--log-format", "FORMAT",
             "of lines on standard error: " + either(names_of(log_format_choices()), "text") +
                 "; json and logfmt have one line for an event, with stable keys",
             choice(o.format, log_format_choices())},
            {"--log-level", "LEVEL",
             "of the library's lines, off: no lines at all: " +
                 either(names_of(log_level_choices()), to_string(o.level)),
             choice(o.level, log_level_choices())},
            {"--no-log-times", "",
             "leave out the times of lines on standard error, if the log collector adds its own",
             [&o](const std::string&) { o.times = false; }}};
}

std::string log_lines(LogFormat format, std::string_view time, const EventLine& event) {
    switch (format) {
        case LogFormat::text: return text_lines(time, event);
        case LogFormat::json: return json_line(all_fields(time, event));
        case LogFormat::logfmt: return logfmt_line(all_fields(time, event));
    }
    return {};
}

std::string_view to_string(Event event) noexcept {
    switch (event) {
        case Event::config_applied: return "config_applied";
        case Event::config_refused: return "config_refused";
        case Event::config_note: return "config_note";
        case Event::jobs_left_out: return "jobs_left_out";
        case Event::job_problem: return "job_problem";
        case Event::job_complete: return "job_complete";
        case Event::job_without_clusters: return "job_without_clusters";
        case Event::targets_failed: return "targets_failed";
        case Event::targets_unassigned: return "targets_unassigned";
        case Event::clusters_changed: return "clusters_changed";
        case Event::cluster_unusable: return "cluster_unusable";
        case Event::context_note: return "context_note";
        case Event::certificate: return "certificate";
        case Event::connections_limited: return "connections_limited";
        case Event::file_problem: return "file_problem";
        case Event::list_doubtful: return "list_doubtful";
        case Event::recording: return "recording";
        case Event::replay: return "replay";
        case Event::simulation: return "simulation";
        case Event::listening: return "listening";
        case Event::fleet: return "fleet";
        case Event::snapshot: return "snapshot";
        case Event::watch_status: return "watch_status";
        case Event::not_synced: return "not_synced";
        case Event::failed: return "failed";
        case Event::end: return "end";
    }
    return {};
}

void EventLog::write(k8s_sd::LogLevel level, Event event, std::string_view text,
                     std::vector<LogField> fields) const {
    write(EventLine{level, program_, to_string(event), text, std::move(fields)});
}

std::function<void(const std::string& text)> EventLog::writer(k8s_sd::LogLevel level,
                                                              Event event) const {
    return [log = *this, level, event](const std::string& text) { log.write(level, event, text); };
}

void EventLog::write(const EventLine& event) const {
    if (options_.level == k8s_sd::LogLevel::off) return;
    const std::string lines =
        log_lines(options_.format, options_.times ? now_in_words() : std::string(), event);
    // A single write keeps lines of several threads apart.
    std::fwrite(lines.data(), 1, lines.size(), stderr);
}

k8s_sd::Logger EventLog::logger() const {
    k8s_sd::Logger logger;
    logger.level = options_.level;
    logger.write_record = [log = *this](const k8s_sd::LogRecord& record) {
        if (log.options_.format == LogFormat::text) {
            // The library's own form, with the time.
            const std::string text = std::string(to_string(record.level)) + ": " +
                                     printable(record.text, std::string::npos);
            return log.write({record.level, "k8s_sd", to_string(record.event), text, {}});
        }
        std::vector<LogField> fields;
        if (record.kind) fields.emplace_back("resource", to_string(*record.kind));
        if (!record.ns.empty()) fields.emplace_back("namespace", record.ns);
        if (record.error) fields.emplace_back("error", record.error.message());
        log.write(
            {record.level, log.program_, to_string(record.event), record.text, std::move(fields)});
    };
    return logger;
}

std::function<bool(const std::string& text)> error_writer(std::string_view program,
                                                          const LogOptions& options) {
    return [program = std::string(program), &options](const std::string& text) {
        if (options.format == LogFormat::text) return false;
        EventLog(program, options).write(k8s_sd::LogLevel::error, Event::failed, text);
        return true;
    };
}

}  // namespace support
