#include "notes.hpp"

#include <iostream>

namespace discover {

void note(const Options& options, k8s_sd::LogLevel level, cli::Event event,
          const std::string& text) {
    if (options.log.format == cli::LogFormat::text) {
        std::cerr << "discover: " << text << '\n';
    } else {
        cli::EventLog("discover", options.log).write(level, event, text);
    }
}

k8s_sd::Logger logger_of(const Options& options) {
    if (options.log.format != cli::LogFormat::text)
        return cli::EventLog("discover", options.log).logger();
    k8s_sd::Logger logger;
    logger.level = options.log.level;
    return logger;
}

}  // namespace discover
