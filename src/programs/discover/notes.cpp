#include "notes.hpp"

#include "cli/terminal.hpp"
#include "cli/terminal_text.hpp"
#include "progress.hpp"

#include <unistd.h>
#include <iostream>

namespace discover {

void note(const Options& options, k8s_sd::LogLevel level, cli::Event event,
          const std::string& text) {
    if (options.log.format == cli::LogFormat::text) {
        if (cli::Terminal(STDERR_FILENO, options.colours).has_cursor()) std::cerr << clear_line;
        std::cerr << "discover: " << text << '\n';
    } else {
        cli::EventLog("discover", options.log).write(level, event, text);
    }
}

k8s_sd::Logger logger_of(const Options& options) {
    if (options.log.format != cli::LogFormat::text)
        return cli::EventLog("discover", options.log).logger();
    const cli::Terminal errors(STDERR_FILENO, options.colours);
    k8s_sd::Logger logger;
    logger.level = options.log.level;
    if (!errors.is_for_people()) return logger;
    logger.write = [errors](k8s_sd::LogLevel of, std::string_view text) {
        const std::string start = "k8s_sd: " + std::string(to_string(of)) + ": ";
        const auto tone = of <= k8s_sd::LogLevel::warning ? cli::Tone::warning : cli::Tone::faint;
        const auto line = cli::StyledLine().add(start, tone).add(cli::printable(text, 2000));
        if (errors.has_cursor()) std::cerr << clear_line;
        std::cerr << errors.whole(line) << std::endl;
    };
    return logger;
}

}  // namespace discover
