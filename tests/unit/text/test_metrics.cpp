#include "k8s_sd/metrics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd {
namespace {

TEST_CASE("Metrics: Prometheus' text format describes each metric once and leaves out idle kinds") {
    Metrics metrics;
    metrics.of(Kind::pod).lists = 2;
    metrics.of(Kind::secret).watchers = 1;
    metrics.jobs = 3;
    const std::string text = to_prometheus_text(metrics);
    CHECK(text.starts_with("# HELP k8s_sd_lists_total Complete lists.\n"
                           "# TYPE k8s_sd_lists_total counter\n"
                           "k8s_sd_lists_total{resource=\"pods\"} 2\n"
                           "k8s_sd_lists_total{resource=\"secrets\"} 0\n"
                           "# HELP k8s_sd_relists_total "));
    CHECK(text.find("# HELP k8s_sd_jobs Jobs of DiscoveryManagers.\n"
                    "# TYPE k8s_sd_jobs gauge\n"
                    "k8s_sd_jobs 3\n") != std::string::npos);
    CHECK(text.find("resource=\"nodes\"") == std::string::npos);
}

TEST_CASE("Metrics: labels of the host are in all series, whatever is in their values") {
    Metrics metrics;
    metrics.of(Kind::pod).lists = 2;
    const std::string text = to_prometheus_text(metrics, {{"cluster", "a\"b\\c\nd"}, {"zone", ""}});
    const std::string labels = R"({cluster="a\"b\\c\nd",zone="")";
    CHECK(text.find("k8s_sd_lists_total" + labels + ",resource=\"pods\"} 2\n") !=
          std::string::npos);
    CHECK(text.find("\nk8s_sd_jobs" + labels + "} 0\n") != std::string::npos);
}

TEST_CASE("Metrics: of watches that are shared, a series is written once") {
    WatchStatus pods;
    pods.kind = Kind::pod;
    pods.ns = "shop";
    pods.last_byte = TimePoint(std::chrono::seconds(10));
    pods.lists[0] = 1;
    const std::string text =
        to_prometheus_text({pods, pods}, TimePoint(std::chrono::milliseconds(12'500)));
    const std::string series = "k8s_sd_watch_last_byte_age_seconds{resource=\"pods\",namespace="
                               "\"shop\"} 2.5\n";
    const std::size_t first = text.find(series);
    REQUIRE(first != std::string::npos);
    CHECK(text.find(series, first + 1) == std::string::npos);
    CHECK(text.find("k8s_sd_watch_lists_total{resource=\"pods\",namespace=\"shop\",reason=\"first"
                    "\"} 1\n") != std::string::npos);
    CHECK(text.ends_with('\n'));
}

TEST_CASE("Metrics: a label of a series replaces one of the host") {
    WatchStatus pods;
    pods.kind = Kind::pod;
    pods.lists[0] = 1;
    pods.server = "https://b";
    const auto text_of = [&] {
        return to_prometheus_text({pods}, TimePoint(),
                                  {{"cluster", "host"}, {"resource", "x"}, {"zone", "z"}});
    };
    const std::string rest =
        "zone=\"z\",server=\"https://b\",resource=\"pods\",namespace=\"\",reason=\"first\"} 1\n";
    CHECK(text_of().find("k8s_sd_watch_lists_total{cluster=\"host\"," + rest) != std::string::npos);
    pods.cluster = "blue";
    CHECK(text_of().find("k8s_sd_watch_lists_total{zone=\"z\",cluster=\"blue\"," +
                         rest.substr(rest.find(',') + 1)) != std::string::npos);
    CHECK(text_of().find("host") == std::string::npos);
}

TEST_CASE("Metrics: the histogram's buckets are cumulative, in seconds, with sum and count") {
    using namespace std::chrono_literals;
    Metrics metrics;
    for (const Duration latency :
         {Duration(0ns), Duration(1ms), Duration(1ms + 1ns), Duration(60s), Duration(61s)})
        metrics.delivery_latency.observe(latency);
    const std::string text = to_prometheus_text(metrics, {{"cluster", "blue"}});
    const std::size_t at = text.find("# HELP k8s_sd_delivery_latency_seconds ");
    REQUIRE(at != std::string::npos);
    std::string lines = text.substr(at);
    lines.erase(0, lines.find('\n') + 1);
    std::string expected = "# TYPE k8s_sd_delivery_latency_seconds histogram\n";
    const auto bucket = [&](const std::string& le, int count) {
        expected += "k8s_sd_delivery_latency_seconds_bucket{cluster=\"blue\",le=\"" + le + "\"} " +
                    std::to_string(count) + "\n";
    };
    bucket("0.001", 2);
    for (const char* le : {"0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1",
                           "2.5", "5", "10", "30"})
        bucket(le, 3);
    bucket("60", 4);
    bucket("+Inf", 5);
    expected += "k8s_sd_delivery_latency_seconds_sum{cluster=\"blue\"} 121.002000001\n"
                "k8s_sd_delivery_latency_seconds_count{cluster=\"blue\"} 5\n";
    CHECK(lines == expected);
}

TEST_CASE("Metrics: values are in base units, and whole ones are written without an exponent") {
    Metrics metrics;
    metrics.of(Kind::pod).list_milliseconds = 1250;
    metrics.of(Kind::pod).bytes_received = 3'000'000'000;
    metrics.fleet_epoch = (std::int64_t{1} << 48) - 1;
    const std::string text = to_prometheus_text(metrics);
    for (const char* line : {"k8s_sd_list_seconds_total{resource=\"pods\"} 1.25\n",
                             "k8s_sd_received_bytes_total{resource=\"pods\"} 3000000000\n",
                             "k8s_sd_fleet_epoch 281474976710655\n"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

TEST_CASE("Metrics: names are unique, end in _total for counters, and have a line of help") {
    std::set<std::string_view> names;
    const auto check = [&](const MetricDescription& metric) {
        CAPTURE(metric.name);
        CHECK(names.insert(metric.name).second);
        CHECK(metric.name.starts_with("k8s_sd_"));
        CHECK(metric.name.ends_with("_total") == (metric.type == MetricType::counter));
        CHECK(metric.help.ends_with('.'));
        CHECK(metric.help.find('\n') == std::string_view::npos);
        for (const char* unit : {"milliseconds", "microseconds", "nanoseconds", "minutes", "hours",
                                 "kilobytes", "megabytes", "percent"}) {
            CHECK(metric.name.find(unit) == std::string_view::npos);
        }
    };
    for (const auto& metric : kind_metrics) check(metric.description);
    for (const auto& metric : context_metrics) check(metric.description);
    check(delivery_latency_metric);
}

TEST_CASE("Metrics: visit() brings every value of every kind, then those of the context") {
    Metrics metrics;
    metrics.of(Kind::configmap).synced_watchers = -1;
    metrics.cache_rewatches = 7;
    metrics.of(Kind::pod).list_milliseconds = 1250;
    std::map<std::pair<std::string, std::string>, double> values;
    std::vector<std::string> resources;
    metrics.visit([&](std::string_view name, std::string_view resource, double value) {
        CHECK(values.emplace(std::pair(name, resource), value).second);
        if (resources.empty() || resources.back() != resource) resources.emplace_back(resource);
    });
    CHECK(values.size() == std::size(kind_metrics) * (kind_count + 1) + std::size(context_metrics));
    CHECK(values.at({"k8s_sd_synced_watchers", "configmaps"}) == -1);
    CHECK(values.at({"k8s_sd_synced_watchers", "secrets"}) == 0);
    CHECK(values.at({"k8s_sd_cache_rewatches_total", ""}) == 7);
    CHECK(values.at({"k8s_sd_list_seconds_total", "pods"}) == 1.25);
    REQUIRE(resources.size() == kind_count + 2);
    CHECK(resources.front() == "nodes");
    CHECK(resources.back().empty());
}

}  // namespace
}  // namespace k8s_sd
