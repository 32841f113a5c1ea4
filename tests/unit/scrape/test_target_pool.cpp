#include "k8s_sd/scrape/target_pool.hpp"
#include "support/config_fixtures.hpp"
#include "support/effort.hpp"
#include "support/groups.hpp"
#include "support/strict_scraper.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace target_pool_tests {

using namespace k8s_sd;
using k8s_sd::test::change;
using k8s_sd::test::config_error;
using k8s_sd::test::full_diff;
using k8s_sd::test::make_group;
using k8s_sd::test::rounds;
using Scraper = k8s_sd::test::StrictScraper;

namespace {

ScrapeConfig job(std::vector<RelabelRule> rules = {}) {
    ScrapeConfig config;
    config.job_name = "job";
    config.relabel_configs = std::move(rules);
    return config;
}

RelabelRule drop(std::string source, std::string regex) {
    RelabelRule rule;
    rule.action = RelabelAction::drop;
    rule.source_labels = {std::move(source)};
    rule.regex = std::move(regex);
    return rule;
}
RelabelRule constant(std::string label, std::string value) {
    RelabelRule rule;
    rule.target_label = std::move(label);
    rule.replacement = std::move(value);
    return rule;
}

LabelMap at(const std::string& address, LabelMap more = {}) {
    more.emplace("__address__", address);
    return more;
}

JobDiff job_diff(std::vector<ProviderDiff> providers, bool full = false) {
    JobDiff diff;
    diff.job = "job";
    diff.full = full;
    diff.providers = std::move(providers);
    return diff;
}

}  // namespace

TEST_CASE("TargetPool: a new state in parts leaves alone what stays") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a = make_group("a", {at("a:1")});
    const auto b = make_group("b", {at("b:1")});
    const auto c = make_group("c", {at("c:1")});
    pool.apply(full_diff({a, b}));
    CHECK(scraper.take() == "+a:1 +b:1");

    TargetGroupDiff part = full_diff({c});
    part.more = true;
    pool.apply(part);
    CHECK(scraper.take().empty());
    CHECK(pool.active_count() == 2);
    pool.apply(change({{b, nullptr, false}}));
    CHECK(scraper.take() == "-a:1 +c:1");
    CHECK(pool.active_count() == 2);
}

TEST_CASE("TargetPool: starts what comes, stops what goes, leaves alone what stays") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a = make_group("a", {at("a:1"), at("a:2")});
    const auto b = make_group("b", {at("b:1")});
    pool.apply(full_diff({a, b}));
    CHECK(scraper.take() == "+a:1 +a:2 +b:1");
    CHECK(pool.active_count() == 3);

    const auto a2 = make_group("a", {at("a:2"), at("a:3")});
    pool.apply(change({{a2, a, false}}, {b}));
    CHECK(scraper.take() == "-a:1 -b:1 +a:3");
    CHECK(pool.active_count() == 2);
    CHECK(pool.active().size() == 2);

    pool.apply(change({}, {a2}));
    CHECK(scraper.take() == "-a:2 -a:3");
    CHECK(pool.active_count() == 0);
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: a target with new meta labels only is kept, with the new ones") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto before = make_group("a", {at("a:1", {{"__meta_x", "1"}}), at("a:2")});
    const auto after = make_group("a", {at("a:1", {{"__meta_x", "2"}}), at("a:2")});
    pool.apply(full_diff({before}));
    scraper.take();
    pool.apply(change({{after, before, false}}));
    CHECK(scraper.take() == "=a:1");
    CHECK(scraper.discovered("a:1").at("__meta_x") == "2");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: what becomes of targets does not change when others of their group do") {
    Scraper scraper;
    TargetPool pool(job({drop("x", "drop")}), scraper);
    const LabelMap dropped = at("d:1", {{"x", "drop"}});
    const auto group = [&](const std::vector<LabelMap>& targets, const LabelMap& labels = {}) {
        return make_group("a", targets, labels);
    };
    const auto first = group({at("a:1"), dropped, at(""), at("b:1"), at("c:1", {{"y", "1"}})});
    pool.apply(full_diff({first}));
    CHECK(scraper.take() == "+a:1 +b:1 +c:1");
    const auto second = group({at("a:1"), dropped, at(""), at("b:2"), at("c:1", {{"y", "1"}})});
    pool.apply(change({{second, first, false}}));
    CHECK(scraper.take() == "-b:1 +b:2");
    CHECK(pool.dropped_count() == 1);
    CHECK(pool.failed().at(0).index == 2);
    CHECK(pool.failed_count() == 1);
    for (const ScrapeTargetPtr& target : pool.active()) {
        CHECK(target->labels().get("__address__") ==
              (*second)[target->index()].get("__address__").value());
        CHECK(target->url() == "http://" + std::string(target->get("__address__")) + "/metrics");
    }
    SECTION("they move in their group") {
        const auto third = group({dropped, at("a:1"), at("b:2")});
        pool.apply(change({{third, second, false}}));
        CHECK(scraper.take() == "-c:1");
        CHECK(pool.failed_count() == 0);
    }
    SECTION("they all get a label of the group") {
        const auto third = group({at("a:1"), dropped, at(""), at("b:2")}, {{"x", "drop"}});
        pool.apply(change({{third, second, false}}));
        CHECK(scraper.take() == "-a:1 -b:2 -c:1");
        CHECK(pool.dropped_count() == 4);
    }
    SECTION("all but one are dropped, and then another one") {
        const auto third = group({dropped, at("a:1"), dropped});
        pool.apply(change({{third, second, false}}));
        CHECK(scraper.take() == "-b:2 -c:1");
        const auto fourth = group({dropped, at("a:1"), at("d:2")});
        pool.apply(change({{fourth, third, false}}));
        CHECK(scraper.take() == "+d:2");
        CHECK(pool.dropped_count() == 1);
    }
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: labels of the group are discovered labels, too") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto before = make_group("a", {at("a:1")}, {{"__meta_x", "1"}});
    const auto after = make_group("a", {at("a:1")}, {{"__meta_x", "2"}});
    pool.apply(full_diff({before}));
    scraper.take();
    pool.apply(change({{after, before, false}}));
    CHECK(scraper.take() == "=a:1");
}

TEST_CASE("TargetPool: a changed label is another target") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto before = make_group("a", {at("a:1", {{"app", "x"}})});
    const auto after = make_group("a", {at("a:1", {{"app", "y"}})});
    pool.apply(full_diff({before}));
    scraper.take();
    pool.apply(change({{after, before, false}}));
    CHECK(scraper.take() == "-a:1 +a:1");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: equal targets of several groups are one, until the last one goes") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a = make_group("a", {at("127.0.0.1:9090", {{"__meta_x", "a"}})});
    const auto b = make_group("b", {at("127.0.0.1:9090", {{"__meta_x", "b"}})});
    pool.apply(full_diff({a, b}));
    CHECK(scraper.take() == "+127.0.0.1:9090");
    CHECK(pool.active_count() == 1);
    CHECK(pool.active().size() == 1);
    pool.apply(change({}, {a}));
    scraper.take();
    CHECK(pool.active_count() == 1);
    CHECK(scraper.discovered("127.0.0.1:9090").at("__meta_x") == "b");
    pool.apply(change({}, {b}));
    CHECK(scraper.take() == "-127.0.0.1:9090");
    CHECK(pool.active_count() == 0);
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: equal targets of one group are one") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto twice = make_group("a", {at("a:1"), at("a:1")});
    const auto once = make_group("a", {at("a:1")});
    pool.apply(full_diff({twice}));
    CHECK(scraper.take() == "+a:1");
    pool.apply(change({{once, twice, false}}));
    CHECK(scraper.take().empty());
    pool.apply(change({}, {once}));
    CHECK(scraper.take() == "-a:1");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: equal targets with different meta labels that go together stop once") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a =
        make_group("a", {at("a:1", {{"__meta_x", "1"}}), at("a:1", {{"__meta_x", "2"}})});
    const auto b = make_group("b", {at("a:1", {{"__meta_x", "3"}})});
    pool.apply(full_diff({a, b}));
    scraper.take();
    pool.apply(change({}, {a, b}));
    CHECK(scraper.take() == "-a:1");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: very many equal targets cost no more than different ones") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    // Quadratic work would take minutes.
    constexpr int count = rounds(100'000);
    std::vector<TargetGroupPtr> groups;
    for (int i = 0; i < count; ++i) {
        groups.push_back(
            make_group("p" + std::to_string(i), {at("a:1", {{"__meta_x", std::to_string(i)}})}));
    }
    pool.apply(full_diff(groups));
    CHECK(scraper.take() == "+a:1");
    pool.reload(job({constant("env", "prod")}));
    CHECK(scraper.take() == "-a:1 +a:1");
    pool.apply(change({}, {groups.begin() + 1, groups.end()}));
    CHECK(pool.active_count() == 1);
    CHECK(scraper.discovered("a:1").at("__meta_x") == "0");
    scraper.take();
    pool.apply(change({}, {groups.front()}));
    CHECK(scraper.count() == 0);
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: a target that moves from one object to another goes on") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto old_pod = make_group("old", {at("a:1", {{"__meta_pod", "old"}})});
    const auto new_pod = make_group("new", {at("a:1", {{"__meta_pod", "new"}})});
    pool.apply(full_diff({old_pod}));
    scraper.take();
    pool.apply(change({{new_pod, nullptr, false}}, {old_pod}));
    CHECK(scraper.take() == "=a:1");
    CHECK(scraper.discovered("a:1").at("__meta_pod") == "new");
}

TEST_CASE("TargetPool: labels that are hidden make targets differ") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    pool.apply(full_diff(
        {make_group("a", {at("a:1", {{"__tmp_x", "1"}}), at("a:1", {{"__tmp_x", "2"}})})}));
    CHECK(pool.active_count() == 2);
    CHECK(scraper.count() == 2);
}

TEST_CASE("TargetPool: dropped targets are counted, and some can be seen") {
    ScrapeConfig config = job({drop("app", "x")});
    config.keep_dropped_targets = 1;
    Scraper scraper;
    TargetPool pool(config, scraper);
    const auto group =
        make_group("a", {at("a:1", {{"app", "x"}}), at("a:2", {{"app", "x"}}), at("a:3")});
    for (int i = 0; i < 2; ++i) {
        pool.apply(full_diff({group}));
        CHECK(pool.dropped_count() == 2);
        REQUIRE(pool.dropped().size() == 1);
        CHECK(pool.dropped()[0].source == "pod/ns/a");
        CHECK(pool.dropped()[0].reason == DropReason::relabelling);
        CHECK(pool.dropped()[0].discovered_labels.at("app") == "x");
        CHECK(pool.dropped()[0].discovered_labels.at("job") == "job");
    }
    CHECK(scraper.take() == "+a:3");
    config.keep_dropped_targets = 0;
    pool.reload(config);
    CHECK(pool.dropped().size() == 2);
    pool.apply(change({}, {group}));
    CHECK(pool.dropped_count() == 0);
}

TEST_CASE("TargetPool: a target that fails does not hurt the others of its group") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto group = make_group("a", {at("a:1"), at("http://x"), at("a:3")});
    pool.apply(full_diff({group}));
    CHECK(scraper.take() == "+a:1 +a:3");
    CHECK(pool.failed_count() == 1);
    REQUIRE(pool.failed().size() == 1);
    CHECK(pool.failed()[0].source == "pod/ns/a");
    CHECK(pool.failed()[0].index == 1);
    CHECK(pool.failed()[0].message == "__address__ must be host:port, without scheme and path");
    pool.apply(change({}, {group}));
    CHECK(pool.failed_count() == 0);
}

TEST_CASE("TargetPool: the limit concerns different targets, and is lifted when the count fits") {
    ScrapeConfig config = job();
    config.target_limit = 2;
    Scraper scraper;
    TargetPool pool(config, scraper);
    const auto three = make_group("a", {at("a:1"), at("a:2"), at("a:3")});
    const auto two_and_one_again = make_group("a", {at("a:1"), at("a:2"), at("a:1")});
    pool.apply(full_diff({three}));
    // None is dropped, because the choice would be arbitrary.
    CHECK(scraper.count() == 3);
    CHECK(pool.limit_error() == "job job has 3 targets, more than its target_limit of 2");
    pool.apply(change({{two_and_one_again, three, false}}));
    CHECK_FALSE(pool.limit_error());
}

TEST_CASE("TargetPool: groups of the same source from two providers are two groups") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto here = make_group("a", {at("a:1")});
    const auto there = make_group("a", {at("b:1")});
    pool.apply(job_diff({{1, full_diff({here})}, {2, full_diff({there})}}, true));
    CHECK(scraper.take() == "+a:1 +b:1");
    pool.apply(job_diff({{1, change({}, {here})}}));
    CHECK(scraper.take() == "-a:1");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: a provider that takes the place of another hands over its targets") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a = make_group("a", {at("a:1")});
    const auto b = make_group("b", {at("b:1")});
    const auto same_a = make_group("a", {at("a:1")});
    pool.apply(job_diff({{1, full_diff({a, b})}}, true));
    scraper.take();
    pool.apply(job_diff({{2, full_diff({same_a})}, {1, change({}, {a, b})}}));
    CHECK(scraper.take() == "-b:1");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: a full diff of the job forgets all its providers") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    pool.apply(job_diff({{1, full_diff({make_group("a", {at("a:1")})})},
                         {2, full_diff({make_group("b", {at("b:1")})})}},
                        true));
    scraper.take();
    pool.apply(job_diff({{2, full_diff({make_group("b", {at("b:1"), at("b:2")})})}}, true));
    CHECK(scraper.take() == "-a:1 +b:2");
}

TEST_CASE("TargetPool: reload with other rules touches only what they change") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    pool.apply(full_diff({make_group("a", {at("a:1", {{"app", "x"}}), at("a:2")})}));
    scraper.take();

    pool.reload(job());
    CHECK(scraper.take().empty());
    pool.reload(job({drop("app", "x")}));
    CHECK(scraper.take() == "-a:1");
    CHECK(pool.dropped_count() == 1);
    pool.reload(job({drop("app", "nothing")}));
    CHECK(scraper.take() == "+a:1");
    CHECK(pool.dropped_count() == 0);
    pool.reload(job({constant("env", "prod")}));
    CHECK(scraper.take() == "-a:1 -a:2 +a:1 +a:2");
    CHECK(scraper.complaints == "");
}

TEST_CASE(
    "TargetPool: a reload to the other dialect makes other targets, as hidden labels differ") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    pool.apply(full_diff({make_group("a", {at("a:1"), at("b")})}));
    CHECK(scraper.take() == "+a:1 +b");
    ScrapeConfig config = job();
    config.dialect = LabelDialect::victoriametrics;
    pool.reload(config);
    CHECK(scraper.take() == "-a:1 -b +a:1 +b");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: a reload with an equal configuration keeps the former object only") {
    struct Owner {
        ScrapeConfig config;
    };
    const auto share = [](const std::shared_ptr<const Owner>& owner) {
        return std::shared_ptr<const ScrapeConfig>(owner, &owner->config);
    };
    Scraper scraper;
    const auto first = std::make_shared<const Owner>(Owner{job({drop("app", "x")})});
    const auto second = std::make_shared<const Owner>(Owner{job({drop("app", "x")})});
    const auto third = std::make_shared<const Owner>(Owner{job({drop("app", "y")})});
    TargetPool pool(share(first), scraper);
    pool.reload(share(second));
    CHECK(&pool.config() == &first->config);
    CHECK(second.use_count() == 1);
    pool.reload(share(third));
    CHECK_FALSE(config_error([&] { pool.reload(nullptr); }).empty());
    CHECK(&pool.config() == &third->config);
    CHECK(first.use_count() == 1);
}

TEST_CASE("TargetPool: a reload with other settings about histograms hands over new targets") {
    using Flag = bool ScrapeConfig::*;
    using Getter = bool (ScrapeTarget::*)() const noexcept;
    for (const auto& [flag, getter] : {
             std::pair<Flag, Getter>(&ScrapeConfig::convert_classic_histograms_to_nhcb,
                                     &ScrapeTarget::convert_classic_histograms_to_nhcb),
             std::pair<Flag, Getter>(&ScrapeConfig::always_scrape_classic_histograms,
                                     &ScrapeTarget::always_scrape_classic_histograms),
             std::pair<Flag, Getter>(&ScrapeConfig::scrape_native_histograms,
                                     &ScrapeTarget::scrape_native_histograms),
         }) {
        ScrapeConfig config = job();
        config.prometheus_version = PrometheusVersion::v3_5;  // without labels for them
        Scraper scraper;
        TargetPool pool(config, scraper);
        pool.apply(full_diff({make_group("a", {at("a:1")})}));
        scraper.take();
        const TargetId id = scraper.id("a:1");
        config.*flag = !(config.*flag);
        pool.reload(config);
        CHECK(scraper.take() == "=a:1");
        CHECK(scraper.id("a:1") == id);
        REQUIRE(scraper.target("a:1") != nullptr);
        CHECK(((*scraper.target("a:1")).*getter)() == config.*flag);
        CHECK(scraper.complaints == "");
    }
}

TEST_CASE("TargetPool: intervals that rules made are kept over a reload") {
    RelabelRule rule;
    rule.source_labels = {"__scrape_interval__"};
    rule.regex = "1m";
    rule.target_label = "__scrape_interval__";
    rule.replacement = "3s";
    ScrapeConfig config = job({rule});
    config.scrape_timeout = std::chrono::milliseconds(500);
    Scraper scraper;
    TargetPool pool(config, scraper);
    pool.apply(full_diff({make_group("a", {at("a:1")})}));
    config.keep_dropped_targets = 7;
    pool.reload(config);
    CHECK(scraper.take() == "+a:1");
    REQUIRE(pool.active().size() == 1);
    CHECK(pool.active()[0]->scrape_interval() == std::chrono::seconds(3));
}

TEST_CASE("TargetPool: a reload that cannot work changes nothing") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    pool.apply(full_diff({make_group("a", {at("a:1")})}));
    scraper.take();
    CHECK_FALSE(config_error([&] { pool.reload(job({drop("app", "(")})); }).empty());
    CHECK(pool.config() == job());
    CHECK(scraper.take().empty());
    CHECK(pool.active_count() == 1);
}

TEST_CASE("TargetPool: clear() stops everything, for example when a job has gone") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    pool.apply(full_diff({make_group("a", {at("a:1"), at("http://x")})}));
    scraper.take();
    pool.clear();
    CHECK(scraper.take() == "-a:1");
    CHECK(pool.failed_count() == 0);
}

TEST_CASE("TargetPool: a target keeps its number for as long as it stays the same") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a = make_group("a", {at("a:1", {{"__meta_x", "1"}}), at("a:2")});
    pool.apply(full_diff({a}));
    const TargetId first = scraper.id("a:1");
    const TargetId second = scraper.id("a:2");
    CHECK(first != second);

    // With other discovered labels, from another object, under other rules with the same result.
    const auto changed = make_group("a", {at("a:1", {{"__meta_x", "2"}}), at("a:2")});
    const auto moved = make_group("b", {at("a:1", {{"__meta_x", "3"}}), at("a:2")});
    scraper.take();
    pool.apply(change({{changed, a, false}}));
    CHECK(scraper.take() == "=a:1");
    pool.apply(change({{moved, nullptr, false}}, {changed}));
    CHECK(scraper.take() == "=a:1");
    pool.reload(job({drop("app", "nothing")}));
    CHECK(scraper.take().empty());
    CHECK(scraper.id("a:1") == first);
    CHECK(scraper.id("a:2") == second);

    pool.apply(change({}, {moved}));
    CHECK(scraper.take() == "-a:1 -a:2");
    pool.apply(change({{a, nullptr, false}}));
    CHECK(scraper.id("a:1") > second);
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: a diff that names a group twice has the last word") {
    Scraper scraper;
    TargetPool pool(job(), scraper);
    const auto a = make_group("a", {at("a:1")});
    const auto b = make_group("a", {at("b:1")});
    pool.apply(full_diff({a, b}));
    CHECK(scraper.take() == "+b:1");
    pool.apply(change({{a, b, false}, {b, a, false}, {a, b, false}}));
    CHECK(scraper.take() == "-b:1 +a:1");
    pool.apply(change({{b, a, false}}, {b, a}));
    CHECK(scraper.take() == "-a:1");
    CHECK(pool.active_count() == 0);
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: other parameters of the job that only the URL shows make another target") {
    ScrapeConfig config = job();
    config.params = {{"m", {"a"}}};
    Scraper scraper;
    TargetPool pool(config, scraper);
    pool.apply(full_diff({make_group("a", {at("a:1")})}));
    scraper.take();
    config.params = {{"m", {"a", "b"}}};
    pool.reload(config);
    CHECK(scraper.take() == "-a:1 +a:1");
    CHECK(pool.active()[0]->url() == "http://a:1/metrics?m=a&m=b");
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: the handler learns of another configuration that no target shows") {
    ScrapeConfig config = job();
    Scraper scraper;
    TargetPool pool(config, scraper);
    pool.apply(full_diff({make_group("a", {at("a:1")})}));
    scraper.take();
    pool.reload(config);
    CHECK(scraper.reconfigured == 0);
    config.metric_relabel_configs = {drop("le", "0.1")};
    pool.reload(config);
    CHECK(scraper.take().empty());
    CHECK(scraper.reconfigured == 1);
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: the handler learns when the limit is exceeded, and when no longer") {
    ScrapeConfig config = job();
    config.target_limit = 1;
    Scraper scraper;
    TargetPool pool(config, scraper);
    const auto two = make_group("a", {at("a:1"), at("a:2")});
    pool.apply(full_diff({two}));
    CHECK(scraper.is_over_limit);
    scraper.take();
    pool.apply(change({{make_group("b", {at("b:1")}), nullptr, false}}));
    CHECK(scraper.is_over_limit);
    scraper.take();
    config.target_limit = 5;
    pool.reload(config);
    CHECK_FALSE(scraper.is_over_limit);
    scraper.take();
    config.target_limit = 2;
    pool.reload(config);
    CHECK(scraper.is_over_limit);
    scraper.take();
    pool.apply(change({}, {two}));
    CHECK_FALSE(scraper.is_over_limit);
    scraper.take();
    CHECK(scraper.complaints == "");
}

TEST_CASE("TargetPool: groups of a superseded provider keep their rules until it goes") {
    Scraper scraper;
    TargetPool pool(job({drop("app", "x")}), scraper);
    const auto x = make_group("x", {at("x:1", {{"app", "x"}})});
    const auto y = make_group("y", {at("y:1", {{"app", "y"}})});
    pool.apply(job_diff({{1, full_diff({x, y})}}, true));
    CHECK(scraper.take() == "+y:1");

    // The rules for provider 2, which is not listed yet, would keep x and drop y.
    const ScrapeConfig next = job({drop("app", "y")});
    const std::vector<ProviderId> present{2};
    pool.reload(next, {}, present);
    CHECK(scraper.take().empty());
    CHECK(pool.config() == next);
    CHECK(pool.dropped_count() == 1);

    SECTION("also groups of it that come meanwhile, and when it has none for a while") {
        pool.apply(job_diff({{1, change({}, {x, y})}}));
        CHECK(scraper.take() == "-y:1");
        const auto z = make_group("z", {at("z:1", {{"app", "y"}}), at("z:2", {{"app", "x"}})});
        pool.apply(job_diff({{1, change({{z, nullptr, false}})}}));
        CHECK(scraper.take() == "+z:1");
    }
    SECTION("until the new one takes its place") {
        ProviderDiff last{1, change({}, {x, y}), true};
        const auto w = make_group("w", {at("w:1", {{"app", "x"}}), at("w:2", {{"app", "y"}})});
        pool.apply(job_diff({{2, full_diff({w})}, last}));
        CHECK(scraper.take() == "-y:1 +w:1");
    }
    SECTION("or until the configuration returns to it, with the newest rules") {
        const std::vector<ProviderId> returned{1};
        pool.reload(next, {}, returned);
        CHECK(scraper.take() == "-y:1 +x:1");
    }
    SECTION("or until all are to have the same") {
        pool.reload(next);
        CHECK(scraper.take() == "-y:1 +x:1");
    }
    CHECK(scraper.complaints == "");
}

}  // namespace target_pool_tests
