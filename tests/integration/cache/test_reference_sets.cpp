#include "integration/cache/object_cache_fixture.hpp"
#include "k8s_sd/cache/reference_sets.hpp"

namespace reference_sets_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Referring : CachedCluster {
    Referring() : sets(*cache) {
        for (const auto& name : numbered("s", 6)) put(name, name);
        take_requests();
    }
    void set(const std::string& key, const std::set<std::string>& names) {
        std::set<ObjectName> objects;
        for (const std::string& name : names) objects.insert({"shop", name});
        sets.set(key, objects);
        settle();
    }
    /// "s0:1 s1:2": the referenced objects and their reference counts.
    std::string referred() const {
        std::string text;
        for (const CachedObjectStatus& object : cache->status().objects) {
            text +=
                (text.empty() ? "" : " ") + object.name + ":" + std::to_string(object.references);
        }
        return text;
    }

    ReferenceSets sets;
};

}  // namespace

TEST_CASE("ReferenceSets: a key refers to its objects, each once") {
    Referring r;
    r.set("pod-1", {"s0", "s1"});
    r.set("pod-2", {"s1", "s2"});
    CHECK(r.referred() == "s0:1 s1:2 s2:1");
    CHECK(r.read("s1") == "token=s1");
    CHECK(r.sets.size() == 2);
    CHECK(r.sets.objects_of("pod-1") == std::set<ObjectName>{{"shop", "s0"}, {"shop", "s1"}});
    CHECK(r.sets.objects_of("pod-3").empty());
}

TEST_CASE("ReferenceSets: a set that replaces another one touches the difference only") {
    Referring r;
    r.set("pod-1", {"s0", "s1"});
    CHECK(r.take_requests().size() == 4);
    r.set("pod-1", {"s0", "s1"});
    CHECK(r.referred() == "s0:1 s1:1");
    CHECK(r.take_requests().empty());
    r.set("pod-1", {"s1", "s2"});
    CHECK(r.referred() == "s1:1 s2:1");
    CHECK(r.take_requests().size() == 2);
    CHECK(r.read("s0") == "not referenced");
    r.set("pod-1", {});
    CHECK(r.referred().empty());
    CHECK(r.sets.size() == 1);
    CHECK(r.server.open_connections() == 0);
}

TEST_CASE("ReferenceSets: a key that is erased takes its references along, those of others stay") {
    Referring r;
    r.set("pod-1", {"s0", "s1"});
    r.set("pod-2", {"s1"});
    r.sets.erase("pod-1");
    r.sets.erase("pod-1");
    r.sets.erase("unknown");
    r.settle();
    CHECK(r.referred() == "s1:1");
    CHECK(r.sets.size() == 1);
}

TEST_CASE("ReferenceSets: an object that moves from key to key keeps its watch") {
    Referring r;
    r.set("old", {"s0"});
    r.take_requests();
    r.sets.erase("old");
    r.set("new", {"s0"});
    CHECK(r.referred() == "s0:1");
    CHECK(r.take_requests().empty());
}

TEST_CASE("ReferenceSets: a wrong name changes nothing") {
    Referring r;
    r.set("pod-1", {"s0", "s1"});
    CHECK_THROWS_AS(r.set("pod-1", {"a", "B", "s2"}), ConfigError);
    CHECK_THROWS_AS(r.set("pod-2", {"a", "B"}), ConfigError);
    r.settle();
    CHECK(r.referred() == "s0:1 s1:1");
    CHECK(r.sets.size() == 1);
    CHECK(r.read("s0") == "token=s0");
}

TEST_CASE("ReferenceSets: what the keys refer to at any moment is what is referred to") {
    Referring r;
    std::map<std::string, std::set<std::string>> model;
    unsigned state = 1;
    const auto below = [&](unsigned limit) {
        state = state * 1664525U + 1013904223U;
        return (state >> 16U) % limit;
    };
    for (int step = 0; step < 300; ++step) {
        const std::string key = "pod-" + std::to_string(below(4));
        if (below(4) == 0) {
            r.sets.erase(key);
            model.erase(key);
        } else {
            std::set<std::string> names;
            for (unsigned i = 0; i < 6; ++i) {
                if (below(2) == 0) names.insert("s" + std::to_string(i));
            }
            r.set(key, names);
            model[key] = names;
        }
        if (below(3) != 0) continue;
        r.settle();
        std::map<std::string, int> counts;
        for (const auto& [of, names] : model) {
            for (const auto& name : names) ++counts[name];
        }
        std::string expected;
        for (const auto& [name, count] : counts) {
            expected += (expected.empty() ? "" : " ") + name + ":" + std::to_string(count);
        }
        REQUIRE(r.referred() == expected);
        REQUIRE(r.server.open_watches() == counts.size());
    }
}

}  // namespace reference_sets_tests
