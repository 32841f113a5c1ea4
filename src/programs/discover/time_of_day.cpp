#include "time_of_day.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace discover {

std::string time_of_day(const Options& options) {
    using std::chrono::milliseconds;
    const auto now = options.replay_clock ? options.replay_clock->now().time_since_epoch()
                                          : std::chrono::system_clock::now().time_since_epoch();
    const auto count = std::chrono::duration_cast<milliseconds>(now).count();
    const auto seconds = static_cast<std::time_t>(count / 1000);
    std::tm parts{};
    options.replay_clock ? ::gmtime_r(&seconds, &parts) : ::localtime_r(&seconds, &parts);
    char text[32];
    const std::size_t end = std::strftime(text, sizeof(text), "%H:%M:%S", &parts);
    std::snprintf(text + end, sizeof(text) - end, ".%03d", static_cast<int>(count % 1000));
    return text;
}

std::string log_time(const Options& options) {
    return options.log.times ? time_of_day(options) + "  " : "";
}

}  // namespace discover
