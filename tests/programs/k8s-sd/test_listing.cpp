#include "k8s_sd/fleet/fleet_view.hpp"
#include "lists/listing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

using Catch::Matchers::Message;
using k8s_sd_program::LimitReached;
using k8s_sd_program::ListedTarget;
using k8s_sd_program::Listing;
using k8s_sd_program::ListLimits;
using k8s_sd_program::ListMetrics;
using k8s_sd_program::ListSelection;

namespace {

constexpr std::chrono::steady_clock::time_point start{};

ListedTarget target(const std::string& address, const std::string& labels = "{}",
                    const std::string& node = "") {
    const std::string quoted = '"' + address + '"';
    return {labels + quoted, labels.size(), k8s_sd::share_key("job", address), node};
}

ListSelection shard(unsigned number, unsigned of) { return {{of, 1, false}, number, ""}; }

class List {
 public:
    explicit List(ListLimits limits = {}) : listing_(limits, metrics) {}
    Listing* operator->() { return &listing_; }
    std::string text(const ListSelection& selection = {}) { return *body(selection)->bytes(); }
    k8s_sd_program::ListBodyPtr body(const ListSelection& selection = {},
                                     std::chrono::steady_clock::time_point now = start) {
        return listing_.body(selection, now);
    }
    void put(const std::string& key, std::vector<ListedTarget> targets) {
        listing_.replace(key, std::move(targets));
    }

    ListMetrics metrics;

 private:
    Listing listing_;
};

}  // namespace

TEST_CASE("Listing: without targets it is the empty list") {
    List list;
    CHECK(list.text() == "[]\n");
    list.put("a", {});
    CHECK(list.text() == "[]\n");
}

TEST_CASE("Listing: targets with equal labels are one group, a group is a line") {
    List list;
    list.put("b", {target("10.0.0.2:80", R"({"a":"1"})"), target("10.0.0.3:80", R"({"a":"2"})")});
    list.put("a", {target("10.0.0.1:80", R"({"a":"1"})")});
    CHECK(list.text() == "[\n"
                         R"({"targets":["10.0.0.1:80","10.0.0.2:80"],"labels":{"a":"1"}},)"
                         "\n"
                         R"({"targets":["10.0.0.3:80"],"labels":{"a":"2"}})"
                         "\n]\n");
}

TEST_CASE("Listing: a division that would take too long is refused, with the possible shards") {
    List list({.division_cost = 1'000});
    std::vector<ListedTarget> targets;
    for (int i = 0; i < 100; ++i) targets.push_back(target("10.0.0.1:" + std::to_string(i)));
    list.put("a", targets);
    CHECK(list.text(shard(0, 10)) != "[]\n");
    CHECK_THROWS_MATCHES(list.text(shard(0, 11)), LimitReached,
                         Message("the list has too many targets for 11 shards; at most 10 are "
                                 "possible"));
    CHECK_THROWS_AS(list->count(shard(0, 11), start), LimitReached);
    CHECK_FALSE(list.text().empty());
    // A division in use stays.
    targets.push_back(target("10.0.0.2:1"));
    list.put("a", targets);
    CHECK(list.text(shard(0, 10)) != "[]\n");
    // A target of every shard is stored once for each.
    ListedTarget everywhere = target("10.0.0.3:1");
    everywhere.share_key.reset();
    List few({.division_cost = 1'000});
    few.put("a", {everywhere});
    CHECK(few.text(shard(0, 15)) != "[]\n");
    CHECK_THROWS_AS(few.text(shard(0, 16)), LimitReached);
    // Targets with a node are in no shard.
    few.put("a", {everywhere});
    std::vector<ListedTarget> on_nodes;
    for (int i = 0; i < 1'000; ++i)
        on_nodes.push_back(target("10.0.1.1:" + std::to_string(i), "{}", "n"));
    few.put("b", on_nodes);
    CHECK(few.text({{15, 1, true}, 0, "n"}).size() > 1'000);
    CHECK_THROWS_AS(few.text({{15, 2, false}, 0, ""}), LimitReached);
}

TEST_CASE("Listing: equal targets of several keys are listed once") {
    List list;
    list.put("a", {target("x"), target("x")});
    list.put("b", {target("x")});
    CHECK(list.text() == "[\n{\"targets\":[\"x\"],\"labels\":{}}\n]\n");
    list.put("a", {});
    CHECK(list.text() == "[\n{\"targets\":[\"x\"],\"labels\":{}}\n]\n");
}

TEST_CASE("Listing: the body is the same object until something changes, and the same after it has "
          "changed back") {
    List list;
    list.put("a", {target("x")});
    const auto body = list.body();
    CHECK(list.body() == body);
    list.put("a", {target("x")});
    CHECK(list.body() == body);
    CHECK(list.metrics.bodies == 1);
    list.put("a", {target("y")});
    list.put("a", {target("x")});
    CHECK(list.body() == body);
    list.put("a", {target("y")});
    CHECK(list.body() != body);
    CHECK(list.body()->tag() != body->tag());
}

TEST_CASE("Listing: a change is joined when somebody asks, and once for all") {
    List list;
    for (int i = 0; i < 100; ++i) list.put("a", {target(std::to_string(i))});
    CHECK(list.metrics.bodies == 0);
    list.body();
    list.body();
    CHECK(list.metrics.bodies == 1);
}

TEST_CASE("Listing: the tag of a body is known without making one, until its targets change") {
    List list;
    CHECK_FALSE(list->known_tag({}));
    list.put("a", {target("a")});
    const auto body = list.body();
    CHECK(list->known_tag({}) == body->tag());
    CHECK_FALSE(list->known_tag(shard(0, 2)));
    list.put("b", {target("b")});
    CHECK(list->known_tag({}) == "");
    CHECK(list.metrics.bodies == 1);
    const auto next = list.body();
    CHECK(list->known_tag({}) == next->tag());
}

TEST_CASE("Listing: a change concerns the shards only that have the target") {
    List list;
    for (int i = 0; i < 40; ++i) list.put(std::to_string(i), {target(std::to_string(i))});
    std::vector<k8s_sd_program::ListBodyPtr> before;
    for (unsigned i = 0; i < 8; ++i) before.push_back(list.body(shard(i, 8)));
    list.put("new", {target("new")});
    int changed = 0;
    for (unsigned i = 0; i < 8; ++i) changed += list.body(shard(i, 8)) == before[i] ? 0 : 1;
    CHECK(changed == 1);
    CHECK(list.metrics.bodies == 9);
}

TEST_CASE("Listing: shards together are the whole, nodes together with the rest, too") {
    List list;
    for (int i = 0; i < 60; ++i) {
        const std::string node = i % 3 == 0 ? "" : "n" + std::to_string(i % 3);
        list.put(std::to_string(i), {target("t" + std::to_string(i) + "-", "{}", node)});
    }
    for (int i = 0; i < 60; ++i) {
        const std::string name = "\"t" + std::to_string(i) + "-\"";
        int shards = 0;
        for (unsigned s = 0; s < 4; ++s)
            shards += list.text(shard(s, 4)).find(name) != std::string::npos ? 1 : 0;
        CHECK(shards == 1);
        int nodes = 0;
        for (unsigned s = 0; s < 2; ++s) {
            const ListSelection own{{2, 1, true}, s, "n" + std::to_string(s + 1)};
            nodes += list.text(own).find(name) != std::string::npos ? 1 : 0;
        }
        CHECK(nodes == 1);
    }
}

TEST_CASE("Listing: a part that vanishes and comes back is noticed") {
    List list;
    const ListSelection node{{0, 1, true}, 0, "n"};
    CHECK(list.text(node) == "[]\n");
    list.put("a", {target("x", "{}", "n")});
    CHECK(list.text(node).find("\"x\"") != std::string::npos);
    list.put("a", {});
    CHECK(list.text(node) == "[]\n");
    list.put("a", {target("y", "{}", "n")});
    CHECK(list.text(node).find("\"y\"") != std::string::npos);
}

TEST_CASE("Listing: beyond a limit a new selection is refused, and those in use go on") {
    List list({.divisions = 2, .views = 3, .forget_after = std::chrono::minutes(10)});
    const auto later = start + std::chrono::minutes(9);
    list.body(shard(0, 2), later);
    list.body(shard(1, 2), later);
    list.body({}, start);
    CHECK_THROWS_AS(list.body(shard(0, 3), later), LimitReached);
    CHECK_THROWS_AS(list.body({{0, 1, true}, 0, "n"}, later), LimitReached);
    CHECK_NOTHROW(list.body(shard(0, 2), later));
    CHECK_NOTHROW(list.body({}, later));

    List views({.divisions = 9, .views = 2, .forget_after = std::chrono::minutes(10)});
    for (int i = 0; i < 40; ++i) views.put(std::to_string(i), {target(std::to_string(i))});
    views.body(shard(0, 4), start);
    views.body(shard(1, 4), later);
    CHECK_THROWS_AS(views.body(shard(2, 4), later), LimitReached);
    CHECK_NOTHROW(views.body(shard(2, 4), start + std::chrono::minutes(10)));
    CHECK_THROWS_AS(views.body(shard(0, 4), start + std::chrono::minutes(10)), LimitReached);
}

TEST_CASE("Listing: selections without a target, which anybody can think up, take no room") {
    List list({.divisions = 3, .views = 1});
    list.put("a", {target("x", "{}", "n")});
    const auto node = [](const std::string& name) { return ListSelection{{0, 1, true}, 0, name}; };
    const auto none = list.body(node("none"));
    CHECK(*none->bytes() == "[]\n");
    for (int i = 0; i < 100; ++i) CHECK(list.body(node(std::to_string(i))) == none);
    CHECK_NOTHROW(list.body(node("n")));
    CHECK_THROWS_AS(list.body({}), LimitReached);
    // A division of the list costs as much as the list, even if none of its parts has a target.
    const auto rest = [](unsigned of) { return ListSelection{{of, 1, true}, 0, "none"}; };
    CHECK(list.body(rest(2)) == none);
    CHECK_THROWS_AS(list.body(rest(3)), LimitReached);
    CHECK(list->forget_unused(start + std::chrono::minutes(9)));
}

TEST_CASE("Listing: what readers are still being sent counts, and goes with them") {
    List list({.held_bytes = 1500});
    list.put("a", {target(std::string(400, 'a'))});
    auto slow = list.body()->bytes();
    list.put("a", {target(std::string(400, 'b'))});
    auto slower = list.body()->gzip();
    CHECK(*list.metrics.held == slow->size() * 2 + slower->size());
    list.put("a", {target(std::string(1100, 'c'))});
    CHECK_THROWS_AS(list.body(), LimitReached);
    slow.reset();
    CHECK_NOTHROW(list.body());
    CHECK(*list.metrics.held == list.text().size() + slower->size());
}

TEST_CASE("Listing: its selections are not larger than the limit, whatever is asked for") {
    List list({.body_bytes = 1000});
    list.put("a", {target(std::string(400, 'a'), "{}", "n")});
    CHECK_NOTHROW(list.body(shard(0, 1), start));
    CHECK_NOTHROW(list.body({}, start + std::chrono::minutes(5)));
    const ListSelection node{{1, 1, true}, 0, "n"};
    CHECK_THROWS_AS(list.body(node, start + std::chrono::minutes(9)), LimitReached);
    // Lists in use continue, also when they change.
    list.put("a", {target(std::string(400, 'b'), "{}", "n")});
    CHECK_NOTHROW(list.body({}, start + std::chrono::minutes(9)));
    // The first one is no longer in use.
    CHECK_NOTHROW(list.body(node, start + std::chrono::minutes(10)));
    CHECK_THROWS_AS(list.body(shard(0, 1), start + std::chrono::minutes(10)), LimitReached);
    list.put("a", {target("a", "{}", "n")});
    CHECK_NOTHROW(list.body({}, start + std::chrono::minutes(10)));
    CHECK_NOTHROW(list.body(node, start + std::chrono::minutes(10)));
    CHECK_NOTHROW(list.body(shard(0, 1), start + std::chrono::minutes(10)));
}

TEST_CASE("Listing: a division that only unused selections have makes room for another one") {
    List list({.divisions = 1, .views = 3, .forget_after = std::chrono::minutes(10)});
    list.body(shard(0, 2), start);
    CHECK_THROWS_AS(list.body(shard(0, 3), start + std::chrono::minutes(9)), LimitReached);
    CHECK_NOTHROW(list.body(shard(0, 3), start + std::chrono::minutes(10)));
}

TEST_CASE("Listing: lists without requests are dropped") {
    List list;
    CHECK_FALSE(list->forget_unused(start));
    list.body({}, start);
    CHECK(list->forget_unused(start + std::chrono::minutes(9)));
    CHECK_FALSE(list->forget_unused(start + std::chrono::minutes(10)));
}

TEST_CASE("Listing: whatever happened, its bytes are those of a new one with the same targets") {
    std::mt19937 random(7);
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    for (int history = 0; history < 40; ++history) {
        List list;
        std::map<std::string, std::vector<ListedTarget>> model;
        const auto selection = [&] {
            switch (below(4)) {
                case 0: return ListSelection{};
                case 1: return shard(below(3), 3);
                case 2: return ListSelection{{0, 1, true}, 0, "n" + std::to_string(below(2))};
                default: return ListSelection{{2, 2, true}, below(2), "n0"};
            }
        };
        for (int step = 0; step < 60; ++step) {
            const std::string key = std::to_string(below(8));
            std::vector<ListedTarget> targets;
            for (unsigned i = below(4); i > 0; --i) {
                targets.push_back(target(std::to_string(below(6)),
                                         R"({"l":")" + std::to_string(below(2)) + "\"}",
                                         below(2) ? "n" + std::to_string(below(2)) : ""));
            }
            model[key] = targets;
            list.put(key, targets);
            if (below(3) == 0) list.body(selection());
        }
        for (int i = 0; i < 6; ++i) {
            List fresh;
            for (const auto& [key, targets] : model) fresh.put(key, targets);
            const ListSelection wanted = selection();
            CHECK(list.text(wanted) == fresh.text(wanted));
            CHECK(list.body(wanted)->tag() == fresh.body(wanted)->tag());
        }
    }
}
