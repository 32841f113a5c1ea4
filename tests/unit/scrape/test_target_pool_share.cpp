#include "k8s_sd/scrape/target_pool.hpp"
#include "support/groups.hpp"
#include "support/strict_scraper.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd {
namespace {

using namespace std::chrono_literals;
using test::change;
using test::full_diff;
using test::make_group;

ScrapeConfig shared_job(std::chrono::milliseconds interval = 10s) {
    ScrapeConfig config;
    config.job_name = "job";
    config.scrape_interval = interval;
    config.scrape_timeout = 1s;
    return config;
}

FleetViewPtr view_of(std::vector<std::string> members) {
    return std::make_shared<const FleetView>(std::move(members));
}

/// One of the members "a", "b", …: its pool and its running targets.
struct Member {
    explicit Member(std::string n, const ScrapeConfig& config = shared_job())
        : name(std::move(n)), pool(config, scraper) {
        share(nullptr);
    }
    void share(const FleetViewPtr& view, unsigned replicas = 1) {
        pool.share(FleetShare(view, name, replicas), now);
    }
    void pass(Duration time) {
        now += time;
        pool.finish_handovers(now);
    }
    /// The next calls belong to another change.
    void end_change() { scraper.forget_calls(); }

    std::string name;
    TimePoint now{1h};
    test::StrictScraper scraper;
    TargetPool pool;
};

/// The owner among members of the pod with this address.
std::string owner_of(const FleetViewPtr& view, const std::string& address) {
    return std::string(view->owners(share_key("job", "http://" + address + "/metrics")).front());
}

/// An address whose owner changes from `before` to `after` between these views.
std::string moving_address(const FleetViewPtr& from, const FleetViewPtr& to,
                           const std::string& before, const std::string& after) {
    for (int i = 1;; ++i) {
        const std::string address = "10.0.0." + std::to_string(i) + ":80";
        if (owner_of(from, address) == before && owner_of(to, address) == after) return address;
    }
}

TargetGroupPtr pod_at(const std::string& address, LabelMap more = {}) {
    more.emplace("__address__", address);
    return make_group("pod/" + address, {more});
}

const FleetViewPtr one = view_of({"a"});
const FleetViewPtr two = view_of({"a", "b"});

TEST_CASE("TargetPool: who does not know the members owns nothing") {
    Member a("a");
    a.pool.apply(full_diff({pod_at("1:1"), pod_at("2:2")}));
    CHECK(a.scraper.take() == "");
    CHECK(a.pool.share_counts().others == 2);
    CHECK(a.pool.dropped_count() == 2);
    CHECK(a.pool.dropped().front().reason == DropReason::sharding);
    a.share(one);
    CHECK(a.scraper.take() == "+1:1 +2:2");
    CHECK(a.pool.share_counts().gained == 2);
    CHECK(a.pool.dropped_count() == 0);
}

TEST_CASE("TargetPool: the new owner begins at once, the one before goes on until it surely has") {
    const std::string address = moving_address(one, two, "a", "b");
    Member a("a");
    Member b("b");
    a.share(one);
    b.share(one);
    for (Member* member : {&a, &b}) member->pool.apply(full_diff({pod_at(address)}));
    CHECK(a.scraper.take() == "+" + address);
    a.share(two);
    b.share(two);
    CHECK(b.scraper.take() == "+" + address);
    CHECK(a.scraper.take() == "");
    CHECK(a.pool.share_counts().moving == 1);
    CHECK(a.pool.next_handover() == a.now + 30s);
    a.pass(29999ms);
    CHECK(a.scraper.take() == "");
    a.pass(1ms);
    CHECK(a.scraper.take() == ">" + address);
    CHECK_FALSE(a.pool.next_handover());
    CHECK(a.pool.share_counts().moving == 0);
    CHECK(a.pool.share_counts().handed == 1);
    CHECK(a.pool.share_counts().others == 1);
    CHECK(a.pool.active_count() == 0);
    CHECK(a.scraper.complaints == "");
}

TEST_CASE("TargetPool: a hand-over lasts twice the interval of the target") {
    const std::string address = moving_address(one, two, "a", "b");
    Member a("a", shared_job(60s));
    a.share(one);
    a.pool.apply(full_diff({pod_at(address)}));
    a.share(two);
    CHECK(a.pool.next_handover() == a.now + 120s);
}

TEST_CASE("TargetPool: a target that comes back while it is handed over just goes on") {
    const std::string address = moving_address(one, two, "a", "b");
    Member a("a");
    a.share(one);
    a.pool.apply(full_diff({pod_at(address)}));
    a.scraper.take();
    a.share(two);
    a.pass(20s);
    a.share(one);
    CHECK_FALSE(a.pool.next_handover());
    a.pass(1h);
    CHECK(a.scraper.take() == "");
    CHECK(a.pool.active_count() == 1);
    // The full time starts again.
    a.share(two);
    CHECK(a.pool.next_handover() == a.now + 30s);
}

TEST_CASE("TargetPool: a second change of the view does not prolong a hand-over") {
    const FleetViewPtr three = view_of({"a", "b", "c"});
    const std::string address = moving_address(one, two, "a", "b");
    Member a("a");
    a.share(one);
    a.pool.apply(full_diff({pod_at(address)}));
    a.share(two);
    const auto end = a.pool.next_handover();
    a.pass(10s);
    a.share(three);
    CHECK(a.pool.next_handover() == end);
}

TEST_CASE("TargetPool: a target that goes, or changes, while it is handed over stops as moved") {
    const std::string address = moving_address(one, two, "a", "b");
    Member a("a");
    a.share(one);
    const auto pod = pod_at(address);
    a.pool.apply(full_diff({pod}));
    a.share(two);
    a.scraper.take();
    SECTION("it goes") { a.pool.apply(change({}, {pod})); }
    SECTION("it changes") {
        a.pool.apply(change({{pod_at(address, {{"x", "1"}}), pod, false}}));
        CHECK(a.pool.share_counts().others == 1);
    }
    SECTION("the configuration changes it") {
        a.pool.reload(shared_job(20s));
        CHECK(a.pool.share_counts().others == 1);
    }
    SECTION("all of them are forgotten") { a.pool.clear(); }
    CHECK(a.scraper.take() == ">" + address);
    CHECK_FALSE(a.pool.next_handover());
    CHECK(a.pool.share_counts().moving == 0);
}

TEST_CASE("TargetPool: a hand-over goes on while the target stays the same") {
    const std::string address = moving_address(one, two, "a", "b");
    const auto group = [&](const std::string& x, const std::string& other) {
        return make_group("g",
                          {{{"__address__", other}}, {{"__address__", address}, {"__meta_x", x}}});
    };
    const auto before = group("1", "o:1");
    Member a("a");
    a.share(one);
    a.pool.apply(full_diff({before}));
    a.share(two);
    a.scraper.take();
    const auto end = a.pool.next_handover();
    std::string calls;
    SECTION("another target of its group changes") {
        a.pool.apply(change({{group("1", "o:2"), before, false}}));
    }
    SECTION("its meta labels change") {
        a.pool.apply(change({{group("2", "o:1"), before, false}}));
        calls = "=" + address;
    }
    SECTION("its place changes") {
        a.pool.apply(change({{make_group("g", {{{"__address__", address}}}), before, false}}));
        calls = "=" + address;
    }
    SECTION("everything is delivered again") { a.pool.apply(full_diff({before})); }
    SECTION("the configuration changes what it does not see") {
        ScrapeConfig config = shared_job();
        config.keep_dropped_targets = 7;
        a.pool.reload(config);
    }
    const std::string received = a.scraper.take();
    CHECK(received.find("+" + address) == std::string::npos);
    CHECK(received.find(">" + address) == std::string::npos);
    CHECK((calls.empty() || received.find(calls) != std::string::npos));
    CHECK(a.pool.next_handover() == end);
    a.pass(30s);
    CHECK(a.scraper.take().find(">" + address) != std::string::npos);
}

TEST_CASE("TargetPool: a target that new labels of the shard give to this member stays") {
    const std::string address = moving_address(one, two, "a", "b");
    std::string pod;
    for (int i = 0; pod.empty(); ++i) {
        const std::string name = "p" + std::to_string(i);
        const std::string_view parts[] = {"job", "pod", name};
        if (two->owners(share_key(parts)).front() == "a") pod = name;
    }
    Member a("a");
    a.share(one);
    a.pool.apply(full_diff({pod_at(address, {{"pod", pod}})}));
    a.share(two);
    CHECK(a.pool.share_counts().moving == 1);
    a.pool.reload(shared_job(), Sharding({.shard_by_labels = {"pod"}}));
    CHECK(a.pool.share_counts().moving == 0);
    a.pass(1h);
    CHECK(a.pool.active_count() == 1);
}

/// Only counts.
struct CountingHandler final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason reason) noexcept override {
        ++(reason == StopReason::moved ? moved : gone);
    }
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
    void start(TargetId, const ScrapeTargetPtr&) noexcept override { ++started; }
    std::size_t started = 0, moved = 0, gone = 0;
};

/// A group from a file. Work for each pair of targets would take minutes.
TEST_CASE("TargetPool: a group of 100 000 targets is handed over, and changes meanwhile") {
#if defined(K8S_SD_ADDRESS_SANITIZER)
    constexpr std::size_t count = 10'000;  // takes several times as long there
#else
    constexpr std::size_t count = 100'000;
#endif
    std::vector<LabelMap> targets;
    for (std::size_t i = 0; i < count; ++i) {
        targets.push_back({{"__address__", "h:" + std::to_string(i)}});
    }
    const auto before = make_group("file", targets);
    std::reverse(targets.begin(), targets.end());
    const auto after = make_group("file", targets);

    TimePoint now{1h};
    CountingHandler handler;
    TargetPool pool(shared_job(), handler);
    pool.share(FleetShare(one, "a"), now);
    pool.apply(full_diff({before}));
    CHECK(handler.started == count);
    // Half of them move, and ten seconds later the rest.
    pool.share(FleetShare(two, "a"), now);
    const std::size_t first = pool.share_counts().moving;
    CHECK(first > count / 3);
    CHECK(first < count * 2 / 3);
    now += 10s;
    pool.share(FleetShare(view_of({"b"}), "a"), now);
    CHECK(pool.share_counts().moving == count);

    pool.apply(change({{after, before, false}}));
    CHECK(pool.share_counts().moving == count);
    CHECK(handler.moved == 0);
    now += 20s;
    pool.finish_handovers(now);
    CHECK(handler.moved == first);
    CHECK(pool.share_counts().moving == count - first);
    now += 10s;
    pool.finish_handovers(now);
    CHECK(handler.moved == count);
    CHECK(handler.gone == 0);
    CHECK(handler.started == count);
    CHECK(pool.active_count() == 0);
    CHECK(pool.share_counts().others == count);
}

TEST_CASE("TargetPool: pools count together what they share") {
    const auto metrics = std::make_shared<Metrics>();
    const std::string address = moving_address(one, two, "a", "b");
    {
        Member a("a");
        Member b("a");
        for (Member* member : {&a, &b}) {
            member->pool.set_metrics(metrics);
            member->pool.apply(full_diff({pod_at(address), pod_at("x:1")}));
        }
        CHECK(metrics->fleet_foreign_targets == 4);
        a.share(one);
        b.share(one);
        CHECK(metrics->fleet_foreign_targets == 0);
        CHECK(metrics->fleet_targets_gained == 4);
        a.share(view_of({"b"}));
        b.share(view_of({"b"}));
        CHECK(metrics->fleet_targets_moving == 4);
        a.pass(1min);
        CHECK(metrics->fleet_targets_moving == 2);
        CHECK(metrics->fleet_targets_handed == 2);
        CHECK(metrics->fleet_foreign_targets == 2);
    }
    CHECK(metrics->fleet_targets_moving == 0);
    CHECK(metrics->fleet_foreign_targets == 0);
}

TEST_CASE("TargetPool: with replicas a target has as many owners") {
    const FleetViewPtr three = view_of({"a", "b", "c"});
    std::size_t running = 0;
    for (const char* name : {"a", "b", "c"}) {
        Member member(name);
        member.share(three, 2);
        member.pool.apply(full_diff({pod_at("1:1"), pod_at("2:2"), pod_at("3:3")}));
        running += member.scraper.count();
    }
    CHECK(running == 6);
}

TEST_CASE("TargetPool: targets that are the same have the same owner, wherever they come from") {
    const std::string address = moving_address(one, two, "a", "b");
    Member a("a");
    Member b("b");
    const auto groups = {make_group("x", {{{"__address__", address}, {"__meta_x", "1"}}}),
                         make_group("y", {{{"__address__", address}, {"__meta_x", "2"}}})};
    for (Member* member : {&a, &b}) {
        member->share(two);
        member->pool.apply(full_diff(groups));
    }
    CHECK(a.scraper.count() == 0);
    CHECK(b.scraper.count() == 1);
    b.end_change();
    b.share(one);
    b.pass(30s);
    CHECK(b.scraper.count() == 0);
    CHECK(b.scraper.complaints == "");
}

TEST_CASE("TargetPool: labels that name the shard decide instead of the URL") {
    const Sharding by_pod({.shard_by_labels = {"pod"}});
    for (const char* name : {"a", "b"}) {
        test::StrictScraper scraper;
        TargetPool pool(shared_job(), scraper, by_pod);
        pool.share(FleetShare(two, name), TimePoint(1h));
        std::vector<TargetGroupPtr> groups;
        for (int i = 0; i < 20; ++i) {
            groups.push_back(pod_at("h:" + std::to_string(i), {{"pod", "p"}, {"port", "x"}}));
        }
        pool.apply(full_diff(groups));
        CHECK((scraper.count() == 0 || scraper.count() == 20));
    }
}

/// A key that b takes over from a.
std::uint64_t moving_key() {
    for (std::uint64_t key = 1;; ++key) {
        if (two->owns("b", key)) return key;
    }
}

JobDiff provider_diff(ProviderId provider, TargetGroupDiff groups, bool last = false) {
    JobDiff diff{.job = "job"};
    diff.providers.push_back({provider, std::move(groups), last});
    return diff;
}

TEST_CASE("TargetPool: where members divide what they discover, the key of the group decides") {
    const auto keyed = [](const std::string& address, std::uint64_t key) {
        return make_group("pod/" + address, {{{"__address__", address}}}, {}, key);
    };
    Member b("b");
    b.share(two);
    std::vector<TargetGroupPtr> groups;
    for (int i = 0; i < 20; ++i) groups.push_back(keyed("h:" + std::to_string(i), moving_key()));
    b.pool.apply(full_diff(groups));
    CHECK(b.scraper.count() == 20);
    b.end_change();
    b.share(one);
    CHECK(b.pool.share_counts().moving == 20);
    b.pass(30s);
    CHECK(b.scraper.count() == 0);
    CHECK(b.pool.share_counts().others == 20);
    TargetBuilder builder(shared_job());
    CHECK(builder.explain(*groups.front(), 0, FleetShare(two, "a")).steps.back() ==
          "dropped: of 2 members it belongs to b, this is a");
}

TEST_CASE("TargetPool: a target that moves goes on when another configuration brings it") {
    const auto group = make_group("pod/h:1", {{{"__address__", "h:1"}}}, {}, moving_key());
    Member a("a");
    a.share(one);
    a.pool.apply(provider_diff(1, full_diff({group})));
    CHECK(a.scraper.take() == "+h:1");
    a.share(two);
    // A wider share replaces the first one, in one diff.
    JobDiff replaced = provider_diff(2, full_diff({group}));
    replaced.providers.push_back(provider_diff(1, change({}, {group}), true).providers.front());
    a.pool.apply(replaced);
    CHECK(a.scraper.take() == "");
    CHECK(a.pool.share_counts().moving == 1);
    a.pass(30s);
    CHECK(a.scraper.take() == ">h:1");
    CHECK(a.scraper.complaints == "");
}

TEST_CASE("TargetPool: a snapshot does not make unconfirmed what another provider has") {
    test::StrictScraper scraper;
    TargetPool pool(shared_job(), scraper);
    TargetGroupDiff snapshot = full_diff({pod_at("1:1"), pod_at("2:2")});
    snapshot.unconfirmed = true;
    pool.apply(provider_diff(1, full_diff({pod_at("1:1"), pod_at("3:3")})));
    pool.apply(provider_diff(2, snapshot));
    // The same object in another cluster is another target.
    TargetGroupDiff elsewhere = full_diff({make_group("pod/3:3", {{{"__address__", "4:4"}}}, {})});
    elsewhere.unconfirmed = true;
    pool.apply(provider_diff(3, elsewhere));
    std::map<std::string, bool> unconfirmed;
    for (const ScrapeTargetPtr& target : pool.active()) {
        unconfirmed[std::string(target->get("__address__"))] = pool.unconfirmed(*target);
    }
    CHECK(unconfirmed == std::map<std::string, bool>{
                             {"1:1", false}, {"2:2", true}, {"3:3", false}, {"4:4", true}});
}

TEST_CASE("TargetPool: a target that others own is explained") {
    TargetBuilder builder(shared_job());
    const LabelMap target{{"__address__", "h:1"}};
    const std::string owner = owner_of(two, "h:1");
    const auto mine = builder.explain(target, FleetShare(two, owner));
    CHECK(mine.steps.at(1) == "kept: of 2 members it belongs to " + owner + ", this is " + owner);
    CHECK(mine.url == "http://h:1/metrics");
    const auto others = builder.explain(target, FleetShare(two, "c"));
    CHECK(others.steps.back() == "dropped: of 2 members it belongs to " + owner + ", this is c");
    CHECK(others.url.empty());
    CHECK(builder.explain(target, FleetShare(nullptr, "c")).steps.back() ==
          "dropped: the members of the fleet are not known yet");
}

/// Pools of a fleet whose members see views, targets and time in any order.
class RandomFleet {
 public:
    explicit RandomFleet(std::uint32_t seed) : random_(seed) {
        for (const char* name : {"a", "b", "c", "d", "e"}) members_.emplace_back(name);
        change_view();
        for (Member& member : members_) member.share(view_, replicas_);
    }

    void step() {
        switch (pick(6)) {
            case 0: return change_view();
            case 1: return change_targets();
            case 2: return pass(std::chrono::seconds(pick(40)));
            case 3: return reload();
            default: return learn(member(pick(5)));
        }
    }
    /// All members receive the current state.
    void settle() {
        for (Member& member : members_) learn(member);
        check_no_gap();
        pass(1h);
    }
    void check() {
        std::map<std::string, std::set<std::string>> owners;
        for (Member& member : members_) {
            CHECK(member.scraper.complaints == "");
            for (const std::string& address : member.scraper.addresses()) {
                owners[address].insert(member.name);
            }
            CHECK(member.pool.share_counts().moving == 0);
        }
        for (const std::string& address : addresses_) {
            std::set<std::string> expected;
            const auto key = share_key("job", "http://" + address + "/metrics");
            for (const auto owner : view_->owners(key, replicas_)) expected.emplace(owner);
            CHECK(owners[address] == expected);
        }
        CHECK(owners.size() == addresses_.size());
    }

 private:
    std::uint32_t pick(std::uint32_t end) {
        return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random_);
    }
    Member& member(std::uint32_t number) { return *std::next(members_.begin(), number); }

    void change_view() {
        std::vector<std::string> names;
        for (const Member& member : members_) {
            if (names.empty() || pick(2) == 0) names.push_back(member.name);
        }
        view_ = view_of(names);
    }
    void change_targets() {
        const std::string address = "h:" + std::to_string(pick(30));
        if (addresses_.erase(address) == 0) addresses_.insert(address);
    }
    void pass(Duration time) {
        for (Member& member : members_) {
            member.pass(time);
            member.end_change();
        }
    }
    void reload() {
        for (Member& member : members_) {
            member.pool.reload(shared_job());
            member.end_change();
        }
    }
    void learn(Member& member) {
        member.share(view_, replicas_);
        member.end_change();
        std::vector<TargetGroupPtr> groups;
        for (const std::string& address : addresses_) groups.push_back(pod_at(address));
        std::vector<TargetGroupPtr> gone;
        for (const std::string& address : known_[member.name]) {
            if (!addresses_.contains(address)) gone.push_back(pod_at(address));
        }
        known_[member.name] = addresses_;
        TargetGroupDiff diff;
        diff.full = pick(2) == 0;
        for (const auto& group : groups) diff.updated.push_back({group, nullptr, false});
        diff.removed = std::move(gone);
        member.pool.apply(diff);
        member.end_change();
    }
    void check_no_gap() {
        std::set<std::string> running;
        for (Member& member : members_) running.merge(member.scraper.addresses());
        for (const std::string& address : addresses_) CHECK(running.contains(address));
    }

    std::mt19937 random_;
    std::list<Member> members_;
    FleetViewPtr view_;
    unsigned replicas_ = 1 + pick(2);
    std::set<std::string> addresses_;
    std::map<std::string, std::set<std::string>> known_;
};

TEST_CASE("TargetPool: members that know the same end with each target at its owners, and nowhere "
          "else") {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        INFO("seed " << seed);
        RandomFleet fleet(seed);
        for (int round = 0; round < 5; ++round) {
            for (int i = 0; i < 20; ++i) fleet.step();
            fleet.settle();
            fleet.check();
        }
    }
}

}  // namespace
}  // namespace k8s_sd
