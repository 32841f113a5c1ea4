#include "k8s_sd/detail/scrape/target_counts.hpp"
#include "k8s_sd/detail/scrape/target_news.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::detail {
namespace {

std::shared_ptr<TargetBuilder> news_builder() {
    ScrapeConfig config;
    config.job_name = "job";
    return std::make_shared<TargetBuilder>(config);
}

/// Records its calls.
struct NewsHandler final : TargetHandler {
    void stop(TargetId id, const ScrapeTargetPtr&, StopReason) noexcept override {
        calls += "stop " + std::to_string(id) + "; ";
        if (on_stop) on_stop();
    }
    void keep(TargetId id, const ScrapeTargetPtr&) noexcept override {
        calls += "keep " + std::to_string(id) + "; ";
    }
    void start(TargetId id, const ScrapeTargetPtr&) noexcept override {
        calls += "start " + std::to_string(id) + "; ";
    }
    void over_limit(bool over) noexcept override { calls += over ? "over; " : "under; "; }

    std::string calls;
    std::function<void()> on_stop;
};

struct News {
    NewsHandler handler;
    TargetNews news{handler};
    std::shared_ptr<TargetBuilder> builder = news_builder();

    void add(TargetId stop, TargetId start, bool over_limit = false) {
        std::list<TargetNews::Change> change(1);
        change.front().before = change.front().now = builder;
        change.front().steps.stop.push_back({{stop, nullptr}, StopReason::gone});
        change.front().steps.start.push_back({start, nullptr});
        change.front().over_limit = over_limit;
        news.add(change);
    }
};

}  // namespace

TEST_CASE("TargetNews: a change by the handler is notified after the current one") {
    News test;
    test.handler.on_stop = [&] {
        test.handler.on_stop = nullptr;
        test.add(3, 4);
        test.news.deliver();
    };
    test.add(1, 2);
    test.news.deliver();
    CHECK(test.handler.calls == "stop 1; start 2; stop 3; start 4; ");
}

TEST_CASE("TargetNews: a handler that ends the news hears nothing more") {
    News test;
    test.handler.on_stop = [&] { test.news.end(); };
    test.add(1, 2, true);
    test.add(3, 4);
    test.news.deliver();
    CHECK(test.handler.calls == "stop 1; ");
}

TEST_CASE("TargetNews: the limit is notified when it is exceeded and when it is met again") {
    News test;
    test.add(1, 2, true);
    test.add(3, 4, true);
    test.add(5, 6, false);
    test.news.deliver();
    CHECK(test.handler.calls == "stop 1; start 2; over; stop 3; start 4; stop 5; start 6; under; ");
}

TEST_CASE("TargetCounts: the outcomes of a group are added and subtracted") {
    const TargetGroupPtr group = test::make_group("a", {{{"__address__", ""}}});
    const auto builder = news_builder();
    const BuiltGroup built(*builder, group, FleetShare(), nullptr, nullptr);
    TargetCounts counts;
    counts.add(built);
    CHECK(counts.dropped() + counts.failed() + built.targets().size() == 1);
    counts.subtract(built);
    CHECK(counts.dropped() + counts.failed() == 0);
}

TEST_CASE("TargetCounts: gains are counted in the pool and in its metrics") {
    const auto metrics = std::make_shared<Metrics>();
    TargetCounts counts;
    counts.on_gained(2);
    counts.set_metrics(metrics);
    counts.on_gained(3);
    counts.on_handed(1);
    CHECK(counts.share().gained == 5);
    CHECK(counts.share().handed == 1);
    CHECK(metrics->fleet_targets_gained == 3);
    CHECK(metrics->fleet_targets_handed == 1);
}

}  // namespace k8s_sd::detail
