#include "k8s_sd/scrape/target_pool.hpp"
#include "support/config_fixtures.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using k8s_sd::test::change;
using k8s_sd::test::config_error;
using k8s_sd::test::full_diff;
using k8s_sd::test::make_group;

namespace {

/// A scraper that is strict about what it is told.
class Scraper final : public TargetHandler {
 public:
    void stop(const ScrapeTargetPtr& target) override {
        note("-", *target, 0);
        if (running_.erase(key(*target)) == 0) complaints += "stopped what did not run; ";
    }
    void keep(const ScrapeTargetPtr& target) override {
        note("=", *target, 1);
        const auto it = running_.find(key(*target));
        if (it == running_.end()) {
            complaints += "kept what did not run; ";
        } else {
            it->second = target;
        }
    }
    void start(const ScrapeTargetPtr& target) override {
        note("+", *target, 2);
        if (!running_.emplace(key(*target), target).second) complaints += "started twice; ";
    }

    /// Calls since the last time: "-address" stop, "=address" keep, "+address" start, sorted within
    /// each kind.
    std::string take() {
        std::string text;
        for (const std::string& call : calls_) text += (text.empty() ? "" : " ") + call;
        calls_.clear();
        phase_ = 0;
        return text;
    }
    void forget_phase() { phase_ = 0; }
    std::set<std::string> addresses() const {
        std::set<std::string> result;
        for (const auto& [labels, target] : running_) {
            result.emplace(target->get("__address__"));
        }
        return result;
    }
    LabelMap discovered(std::string_view address) const {
        for (const auto& [labels, target] : running_) {
            if (target->get("__address__") == address) return target->discovered_labels();
        }
        return {};
    }
    std::size_t count() const { return running_.size(); }

    std::string complaints;

 private:
    static LabelMap key(const ScrapeTarget& target) {
        LabelMap map;
        for (const auto& [name, value] : target.labels()) map.emplace(name, value);
        return map;
    }
    void note(const char* sign, const ScrapeTarget& target, int phase) {
        if (phase < phase_) complaints += "wrong order; ";
        phase_ = phase;
        const std::string call = sign + std::string(target.get("__address__"));
        const auto first = std::find_if(calls_.begin(), calls_.end(), [&](const std::string& c) {
            return c.front() == call.front() && c > call;
        });
        calls_.insert(first, call);
    }

    std::map<LabelMap, ScrapeTargetPtr> running_;
    std::vector<std::string> calls_;
    int phase_ = 0;
};

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
    constexpr int count = 100'000;
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
    // None is left out: which one would it be?
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

TEST_CASE("TargetPool: after any changes it has what a new pool would have") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
        Scraper scraper;
        ScrapeConfig config = job({drop("app", "x")});
        TargetPool pool(config, scraper);
        std::map<std::pair<ProviderId, std::string>, TargetGroupPtr> groups;
        const auto random_group = [&](const std::string& name) {
            std::vector<LabelMap> targets(1 + pick(3));
            for (LabelMap& target : targets) {
                target =
                    at(pick(9) == 0 ? "x/y" : "h:" + std::to_string(pick(6)),
                       {{"app", pick(3) == 0 ? "x" : "y"}, {"__meta_x", std::to_string(pick(3))}});
            }
            return make_group(name, targets);
        };
        for (int step = 0; step < 60; ++step) {
            std::map<ProviderId, TargetGroupDiff> parts;
            for (unsigned i = pick(4) + 1; i > 0; --i) {
                const ProviderId provider = 1 + pick(2);
                const std::string name(1, static_cast<char>('a' + pick(5)));
                const std::string source = "pod/ns/" + name;
                auto& part = parts[provider];
                const auto in_diff = [&](const auto& change) {
                    return change.group->source() == source;
                };
                if (std::any_of(part.updated.begin(), part.updated.end(), in_diff)) continue;
                const auto removed = [&](const auto& group) { return group->source() == source; };
                if (std::any_of(part.removed.begin(), part.removed.end(), removed)) continue;
                TargetGroupPtr& known = groups[{provider, name}];
                if (known && pick(3) == 0) {
                    part.removed.push_back(std::exchange(known, nullptr));
                } else {
                    const auto next = random_group(name);
                    part.updated.push_back({next, std::exchange(known, next), false});
                }
            }
            std::vector<ProviderDiff> providers;
            for (auto& [id, part] : parts) providers.push_back({id, part});
            pool.apply(job_diff(std::move(providers)));
            scraper.forget_phase();
            if (pick(10) == 0) {
                config.relabel_configs = {drop("app", pick(2) == 0 ? "x" : "y")};
                pool.reload(config);
                scraper.forget_phase();
            }
        }
        Scraper fresh_scraper;
        TargetPool fresh(config, fresh_scraper);
        std::map<ProviderId, std::vector<TargetGroupPtr>> state;
        for (const auto& [key, group] : groups) {
            if (group) state[key.first].push_back(group);
        }
        std::vector<ProviderDiff> all;
        for (const auto& [id, list] : state) all.push_back({id, full_diff(list)});
        fresh.apply(job_diff(all, true));
        INFO("seed " << seed);
        CHECK(scraper.complaints == "");
        CHECK(scraper.addresses() == fresh_scraper.addresses());
        CHECK(scraper.count() == fresh_scraper.count());
        CHECK(pool.active_count() == fresh.active_count());
        CHECK(pool.active().size() == fresh.active_count());
        CHECK(pool.dropped_count() == fresh.dropped_count());
        CHECK(pool.failed_count() == fresh.failed_count());
    }
}
