#include "table/change_history.hpp"
#include "table/change_recorder.hpp"
#include "table_job.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <variant>
#include <vector>

using k8s_sd_program::ChangeHistory;
using k8s_sd_program::ChangeRecorder;
using k8s_sd_program::TargetChange;

namespace {

constexpr auto any_number = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> numbers_of(const std::vector<k8s_sd_program::TargetChangePtr>& changes) {
    std::vector<std::uint64_t> numbers;
    for (const auto& change : changes) numbers.push_back(change->seq);
    return numbers;
}

const auto unknown = [](const k8s_sd::ScrapeTarget&) { return std::string("why"); };

k8s_sd::ScrapeTargetPtr target_at(TableJob& job, const std::string& source,
                                  k8s_sd::LabelMap labels) {
    return std::get<k8s_sd::ScrapeTargetPtr>(
        job.builder.build(job.group(source, {std::move(labels)}), 0));
}

}  // namespace

TEST_CASE("ChangeHistory: pages go from the newest to the oldest, by job or of all") {
    ChangeHistory history;
    for (int i = 0; i < 5; ++i) {
        history.add("a", {TargetChange{}});
        history.add("b", {TargetChange{}});
    }
    auto page = history.page("a", any_number, 3);
    CHECK(numbers_of(page.changes) == std::vector<std::uint64_t>{9, 7, 5});
    CHECK(page.next == 5U);
    page = history.page("a", *page.next, 3);
    CHECK(numbers_of(page.changes) == std::vector<std::uint64_t>{3, 1});
    CHECK_FALSE(page.next);
    CHECK(history.page("", any_number, 100).changes.size() == 10);
    CHECK(history.page("x", any_number, 100).changes.empty());
    history.forget("a");
    CHECK(history.page("a", any_number, 100).changes.empty());
}

TEST_CASE("ChangeHistory: a follower gets what is behind its number, and no more than is known") {
    ChangeHistory history;
    for (int i = 0; i < 20'000; ++i) history.add("a", {TargetChange{}});
    CHECK(history.newest() == 20'000);
    CHECK(numbers_of(history.since(19'998, 10)) == std::vector<std::uint64_t>{19'999, 20'000});
    CHECK(history.since(20'000, 10).empty());
    CHECK(history.since(0, 2).front()->seq == 20'001 - ChangeHistory::of_all);
    CHECK(history.page("a", any_number, 100'000).changes.size() == ChangeHistory::of_a_job);
    CHECK(history.page("a", any_number, 1).lost == 20'000 - ChangeHistory::of_a_job);
}

TEST_CASE("ChangeHistory: its numbers distinguish processes, and are in order as texts") {
    const ChangeHistory history;
    const auto id = k8s_sd_program::read_change_id(history.id_of(42));
    REQUIRE(id);
    CHECK(id->epoch == history.epoch());
    CHECK(id->seq == 42);
    CHECK(history.epoch().size() == 9);
    CHECK(history.epoch() > "0m0000000");  // of 2025
    for (const std::string bad : {"", "5", "-5", "000000000-", "000000000-x", "00000000-5",
                                  "00000000A-5", "000000000-5 ", "000000000--5"}) {
        CHECK_FALSE(k8s_sd_program::read_change_id(bad));
    }
}

TEST_CASE("ChangeRecorder: what stops and starts at one place has changed") {
    ChangeHistory history;
    TableJob job({TableJob::copy("__meta_v", "v")});
    ChangeRecorder recorder("web", &history);
    recorder.stopped(target_at(job, "pod/a", {{"__address__", "a:1"}, {"__meta_v", "1"}}));
    recorder.stopped(target_at(job, "pod/gone", {{"__address__", "g:1"}}));
    recorder.started(target_at(job, "pod/a", {{"__address__", "a:1"}, {"__meta_v", "2"}}));
    recorder.started(target_at(job, "pod/new", {{"__address__", "n:1"}}));
    recorder.finish(false, unknown);
    const auto changes = history.since(0, 10);
    REQUIRE(changes.size() == 3);
    CHECK(changes[0]->kind == "changed");
    CHECK(changes[0]->what == "v: 1 -> 2");
    CHECK(changes[0]->object == "pod/a");
    CHECK(changes[1]->kind == "added");
    CHECK(changes[1]->what == "http://n:1/metrics");
    CHECK(changes[2]->kind == "removed");
    CHECK(changes[2]->address == "g:1");
    CHECK(changes[2]->reason == "why");
    CHECK(changes[1]->reason.empty());
    CHECK(changes[2]->id.size() == 16);
    recorder.finish(false, unknown);
    CHECK(history.newest() == 3);
}

TEST_CASE("ChangeRecorder: a first list, and many changes at a time, are one entry") {
    ChangeHistory history;
    TableJob job;
    ChangeRecorder recorder("web", &history);
    recorder.started(target_at(job, "pod/a", {{"__address__", "a:1"}}));
    recorder.finish(true, unknown);
    for (int i = 0; i < 5000; ++i) {
        recorder.started(target_at(job, "s", {{"__address__", "x" + std::to_string(i)}}));
    }
    recorder.finish(false, unknown);
    const auto changes = history.since(0, 10);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0]->what == "1 target of a first list");
    CHECK(changes[1]->what == "5000 targets have come or changed, 0 have gone or changed");
}

TEST_CASE("ChangeRecorder: long values are cut, and so is a long list of labels") {
    ChangeHistory history;
    TableJob job;
    ChangeRecorder recorder("web", &history);
    k8s_sd::LabelMap labels{{"__address__", "a:1"}};
    recorder.stopped(target_at(job, "s", labels));
    for (int i = 0; i < 100; ++i) labels["l" + std::to_string(i)] = std::string(100'000, 'x');
    recorder.started(target_at(job, "s", labels));
    recorder.finish(false, unknown);
    const std::string what = history.since(0, 1).front()->what;
    CHECK(what.size() < 1000);
    CHECK(what.ends_with("and 95 more"));
}
