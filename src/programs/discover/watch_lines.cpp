#include "watch_lines.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace discover {

namespace {

using k8s_sd::Duration;
using k8s_sd::TimePoint;

std::string seconds(Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) +
           " s";
}

void append_age(std::string& line, std::string_view what, const std::optional<TimePoint>& at,
                TimePoint now) {
    if (at) (((line += ", last ") += what) += " ") += seconds(now - *at) + " ago";
}

/// "1 first, 2 expired"
std::string lists(const k8s_sd::WatchStatus& watch) {
    std::string text;
    for (std::size_t i = 0; i < k8s_sd::list_reason_count; ++i) {
        if (watch.lists[i] == 0) continue;
        if (!text.empty()) text += ", ";
        text += std::to_string(watch.lists[i]) + " ";
        text += to_string(static_cast<k8s_sd::ListReason>(i));
    }
    return text;
}

}  // namespace

std::string watch_line(const k8s_sd::WatchStatus& watch, TimePoint now) {
    std::string line = watch.cluster.empty() ? "" : watch.cluster + ": ";
    line += to_string(watch.kind);
    if (!watch.ns.empty()) line += " in namespace " + watch.ns;
    (line += ": waits for ") += to_string(watch.waiting);
    line += " for " + seconds(now - watch.waiting_since);
    if (watch.pause) line += " of " + seconds(*watch.pause);
    line += "; " + std::to_string(watch.objects) + " objects";
    if (watch.http_version == 2) line += " by HTTP/2";
    append_age(line, "byte", watch.last_byte, now);
    append_age(line, "event", watch.last_event, now);
    append_age(line, "bookmark", watch.last_bookmark, now);
    append_age(line, "list", watch.last_list, now);
    if (const std::string text = lists(watch); !text.empty()) line += "; lists: " + text;
    if (watch.error) {
        line += "; " + std::to_string(watch.failures) + " failures in a row: " + watch.message;
    }
    return line;
}

}  // namespace discover
