#include "k8s_sd/detail/fleet/kept_view.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

TEST_CASE("ViewFileReport: a problem of writing hides the age of the view until a write succeeds") {
    const auto metrics = std::make_shared<Metrics>();
    std::string log;
    const Logger logger{.write = [&](LogLevel, std::string_view text) { log += text; }};
    ViewFileReport report(metrics, logger, "the file");
    report.on_known(5s);
    CHECK(report.words() == "the view is from before the restart, 5 s old");
    report.on_written("disk full");
    CHECK(report.words() == "the file is not written: disk full");
    CHECK(log == report.words());
    report.on_written("");
    CHECK(report.words() == "the view is from before the restart, 5 s old");
    report.on_seen();
    CHECK(report.words().empty());
    CHECK(metrics->snapshot_failures == 1);
    CHECK(metrics->snapshots_written == 1);
}

TEST_CASE("ViewFileReport: an ignored file that is no longer wanted is counted and logged only") {
    const auto metrics = std::make_shared<Metrics>();
    std::string log;
    const Logger logger{.write = [&](LogLevel, std::string_view text) { log += text; }};
    ViewFileReport report(metrics, logger, "the file");
    report.on_ignored("it is damaged", false);
    CHECK(report.words().empty());
    CHECK(log == "the file is ignored: it is damaged");
    report.on_ignored("it is damaged", true);
    CHECK(report.words() == "the file is ignored: it is damaged");
    CHECK(metrics->snapshots_ignored == 2);
}

}  // namespace k8s_sd::detail
