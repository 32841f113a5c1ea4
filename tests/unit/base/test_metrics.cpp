#include "k8s_sd/metrics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd {
namespace {

/// Prometheus' text format.
std::string exposition(const Metrics& metrics) {
    std::string text;
    std::string_view last;
    metrics.visit_described(
        [&](const MetricDescription& metric, std::string_view resource, std::int64_t value) {
            const std::string name(metric.name);
            if (std::exchange(last, metric.name) != metric.name) {
                text += "# HELP " + name + ' ' + std::string(metric.help) + "\n# TYPE " + name +
                        ' ' + std::string(to_string(metric.type)) + '\n';
            }
            text += name;
            if (!resource.empty()) text += "{resource=\"" + std::string(resource) + "\"}";
            text += ' ' + std::to_string(value) + '\n';
        });
    return text;
}

TEST_CASE("Metrics: Prometheus' text format describes each metric once and leaves out idle kinds") {
    Metrics metrics;
    metrics.of(Kind::pod).lists = 2;
    metrics.of(Kind::secret).watchers = 1;
    metrics.jobs = 3;
    const std::string text = exposition(metrics);
    CHECK(text.starts_with("# HELP k8s_sd_lists_total Complete lists that were read.\n"
                           "# TYPE k8s_sd_lists_total counter\n"
                           "k8s_sd_lists_total{resource=\"pods\"} 2\n"
                           "k8s_sd_lists_total{resource=\"secrets\"} 0\n"
                           "# HELP k8s_sd_relists_total "));
    CHECK(text.find("# HELP k8s_sd_jobs Jobs of DiscoveryManagers.\n"
                    "# TYPE k8s_sd_jobs gauge\n"
                    "k8s_sd_jobs 3\n") != std::string::npos);
    CHECK(text.find("resource=\"nodes\"") == std::string::npos);
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
    };
    for (const auto& metric : kind_metrics) check(metric.description);
    for (const auto& metric : context_metrics) check(metric.description);
}

TEST_CASE("Metrics: visit() brings every value of every kind, then those of the context") {
    Metrics metrics;
    metrics.of(Kind::configmap).synced_watchers = -1;
    metrics.cache_revivals = 7;
    std::map<std::pair<std::string, std::string>, std::int64_t> values;
    std::vector<std::string> resources;
    metrics.visit([&](std::string_view name, std::string_view resource, std::int64_t value) {
        CHECK(values.emplace(std::pair(name, resource), value).second);
        if (resources.empty() || resources.back() != resource) resources.emplace_back(resource);
    });
    CHECK(values.size() == std::size(kind_metrics) * kind_count + std::size(context_metrics));
    CHECK(values.at({"k8s_sd_synced_watchers", "configmaps"}) == -1);
    CHECK(values.at({"k8s_sd_synced_watchers", "secrets"}) == 0);
    CHECK(values.at({"k8s_sd_cache_revivals_total", ""}) == 7);
    REQUIRE(resources.size() == kind_count + 1);
    CHECK(resources.front() == "nodes");
    CHECK(resources.back().empty());
}

}  // namespace
}  // namespace k8s_sd
