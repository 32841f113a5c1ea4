#include "event_log.hpp"

#include "cli/terminal_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace k8s_sd_program {

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

}  // namespace

void EventLog::operator()(const std::string& text) const {
    const std::string begin = (times_ ? now_in_words() + " " : std::string()) + program_ + ": ";
    std::string lines;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        lines += begin + support::printable(line, std::string::npos) + "\n";
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    // A single write keeps lines of several threads apart.
    std::fwrite(lines.data(), 1, lines.size(), stderr);
}

}  // namespace k8s_sd_program
