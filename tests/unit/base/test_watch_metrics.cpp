#include "k8s_sd/metrics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

/// "name{kind/ns label=value} value"
Lines lines(const std::vector<WatchStatus>& watches, TimePoint now) {
    Lines result;
    visit_watch_metrics(watches, now,
                        [&](const MetricDescription& metric, const WatchStatus& watch,
                            std::string_view label, std::string_view label_value, double value) {
                            std::string line = std::string(metric.name) + "{" +
                                               std::string(to_string(watch.kind)) + "/" + watch.ns;
                            if (!label.empty())
                                line += " " + std::string(label) + "=" + std::string(label_value);
                            result.push_back(line + "} " + std::to_string(value).substr(0, 4));
                        });
    return result;
}

bool has(const Lines& all, const std::string& line) {
    return std::find(all.begin(), all.end(), line) != all.end();
}

TEST_CASE("visit_watch_metrics: a watch that has not begun has no ages") {
    const Lines all = lines({WatchStatus{}}, TimePoint(1h));
    CHECK(has(all, "k8s_sd_watch_synced{pods/} 0.00"));
    CHECK(has(all, "k8s_sd_watch_pause_seconds{pods/} 0.00"));
    CHECK(std::none_of(all.begin(), all.end(), [](const std::string& line) {
        return line.find("_age_") != std::string::npos || line.find("_duration_") != line.npos;
    }));
}

TEST_CASE("visit_watch_metrics: ages, failures, lists by reason, and what is waited for") {
    WatchStatus watch;
    watch.kind = Kind::node;
    watch.synced = true;
    watch.failures = 3;
    watch.last_byte = TimePoint(59min);
    watch.last_event = TimePoint(59min + 30s);
    watch.last_bookmark = TimePoint(59min + 55s);
    watch.last_list = TimePoint(50min);
    watch.list_duration = 1500ms;
    watch.pause = 12s;
    watch.waiting = Waiting::backoff;
    watch.waiting_since = TimePoint(59min + 58s);
    watch.lists[static_cast<std::size_t>(ListReason::first)] = 1;
    watch.lists[static_cast<std::size_t>(ListReason::expired)] = 2;
    const Lines all = lines({watch}, TimePoint(1h));
    for (const char* line :
         {"k8s_sd_watch_synced{nodes/} 1.00", "k8s_sd_watch_failures{nodes/} 3.00",
          "k8s_sd_watch_last_byte_age_seconds{nodes/} 60.0",
          "k8s_sd_watch_last_event_age_seconds{nodes/} 30.0",
          "k8s_sd_watch_last_bookmark_age_seconds{nodes/} 5.00",
          "k8s_sd_watch_last_list_age_seconds{nodes/} 600.",
          "k8s_sd_watch_list_duration_seconds{nodes/} 1.50",
          "k8s_sd_watch_pause_seconds{nodes/} 12.0",
          "k8s_sd_watch_lists_total{nodes/ reason=first} 1.00",
          "k8s_sd_watch_lists_total{nodes/ reason=expired} 2.00",
          "k8s_sd_watch_waiting_seconds{nodes/ for=backoff} 2.00"}) {
        CAPTURE(line);
        CHECK(has(all, line));
    }
}

TEST_CASE("visit_watch_metrics: the values of a metric come after one another") {
    std::vector<WatchStatus> watches(2);
    watches[1].ns = "other";
    for (WatchStatus& watch : watches) watch.lists.fill(1);
    std::set<std::string> seen;
    std::string last;
    for (const std::string& line : lines(watches, TimePoint(1h))) {
        const std::string name = line.substr(0, line.find('{'));
        if (name != last) CHECK(seen.insert(name).second);
        last = name;
    }
}

TEST_CASE("ListReason, Waiting: each has a name of its own") {
    std::set<std::string_view> reasons, waits;
    for (std::size_t i = 0; i < list_reason_count; ++i)
        reasons.insert(to_string(static_cast<ListReason>(i)));
    for (std::size_t i = 0; i < waiting_count; ++i)
        waits.insert(to_string(static_cast<Waiting>(i)));
    CHECK(reasons.size() == list_reason_count);
    CHECK(waits.size() == waiting_count);
    CHECK(to_string(ListReason::suspicious) == "suspicious");
    CHECK(to_string(Waiting::poll) == "poll");
}

}  // namespace
}  // namespace k8s_sd
