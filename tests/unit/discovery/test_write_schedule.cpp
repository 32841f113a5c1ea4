#include "k8s_sd/detail/discovery/snapshots/snapshot_report.hpp"
#include "k8s_sd/detail/discovery/snapshots/warm_targets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

namespace {

std::string words_of(const SnapshotReport& report) {
    DiscovererStatus status;
    report.add_status(status);
    return (status.unconfirmed ? "unconfirmed: " : "") + status.snapshot;
}

}  // namespace

TEST_CASE("WriteSchedule: changes wait for the interval, an unchanged state for its age") {
    WriteSchedule schedule(10s, 400s, 1);
    const auto rewrite = schedule.next_pause();
    REQUIRE(rewrite);
    CHECK(*rewrite >= 100s);
    CHECK(*rewrite <= 150s);
    schedule.on_change();
    const auto write = schedule.next_pause();  // a change shortens the pause
    REQUIRE(write);
    CHECK(*write >= 10s);
    CHECK(*write <= 15s);
    CHECK_FALSE(schedule.next_pause());
}

TEST_CASE("WriteSchedule: a change during a write is written next, and so is a failed one") {
    WriteSchedule schedule(10s, 400s, 1);
    schedule.on_change();
    REQUIRE(schedule.next_pause());
    schedule.on_due();
    schedule.begin_write();
    CHECK_FALSE(schedule.has_changes());
    CHECK_FALSE(schedule.next_pause());
    schedule.on_change();
    schedule.end_write(true);
    CHECK(schedule.has_changes());
    CHECK_FALSE(schedule.writing());
    schedule.begin_write();
    schedule.end_write(false);
    CHECK(schedule.has_changes());
    schedule.begin_write();
    schedule.end_write(true);
    CHECK_FALSE(schedule.has_changes());
}

TEST_CASE("SnapshotReport: a failed write is in the status until a write succeeds") {
    const auto metrics = std::make_shared<Metrics>();
    int lines = 0;
    const Logger logger{.write = [&](LogLevel, std::string_view) { ++lines; }};
    SnapshotReport report(metrics, logger, "the snapshot");
    report.on_written("disk full");
    report.on_written("disk full");
    CHECK(lines == 1);
    CHECK(words_of(report) == "the snapshot is not written: disk full");
    CHECK(metrics->snapshot_failures == 2);
    report.on_written("");
    CHECK(words_of(report).empty());
    CHECK(metrics->snapshots_written == 1);
}

TEST_CASE("SnapshotReport: targets are unconfirmed until the server has responded") {
    const auto metrics = std::make_shared<Metrics>();
    SnapshotReport report(metrics, Logger(), "the snapshot");
    report.on_missing();
    CHECK(words_of(report) == "the snapshot does not exist yet");
    report.on_delivered(7s);
    CHECK(words_of(report) == "unconfirmed: the targets are from a snapshot, 7 s old");
    CHECK(metrics->snapshots_loaded == 1);
    report.on_live();
    CHECK(words_of(report).empty());
}

}  // namespace k8s_sd::detail
