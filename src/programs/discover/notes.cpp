#include "notes.hpp"

#include "cli/terminal.hpp"
#include "cli/terminal_text.hpp"
#include "progress.hpp"
#include "time_of_day.hpp"

#include <unistd.h>
#include <cstdio>
#include <string_view>

namespace discover {

namespace {

/// Writes a line in place of one of progress. A single write keeps lines of several threads apart.
void write_line(const cli::Terminal& errors, const cli::StyledLine& line) {
    const std::string text =
        (errors.has_cursor() ? std::string(clear_line) : "") + errors.whole(line) + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void note(const Options& options, k8s_sd::LogLevel level, cli::Event event,
          const std::string& text) {
    if (options.log.format != cli::LogFormat::text)
        return cli::EventLog("discover", options.log).write(level, event, text);
    write_line(cli::Terminal(STDERR_FILENO, options.colours),
               cli::StyledLine().add(log_time(options) + "discover: " + text));
}

void comment(const Options& options, const std::string& text) {
    write_line(cli::Terminal(STDERR_FILENO, options.colours),
               cli::StyledLine().add(log_time(options) + "# " + cli::printable(text, 2000)));
}

k8s_sd::Logger logger_of(const Options& options) {
    if (options.log.format != cli::LogFormat::text)
        return cli::EventLog("discover", options.log).logger();
    const cli::Terminal errors(STDERR_FILENO, options.colours);
    const std::size_t max_bytes = errors.is_for_people() ? 2000 : std::string::npos;
    k8s_sd::Logger logger;
    logger.level = options.log.level;
    logger.write = [options, errors, max_bytes](k8s_sd::LogLevel of, std::string_view text) {
        const std::string start = "k8s_sd: " + std::string(to_string(of)) + ": ";
        const auto tone = of <= k8s_sd::LogLevel::warning ? cli::Tone::warning : cli::Tone::faint;
        write_line(errors, cli::StyledLine()
                               .add(log_time(options), cli::Tone::faint)
                               .add(start, tone)
                               .add(cli::printable(text, max_bytes)));
    };
    return logger;
}

}  // namespace discover
