#include "integration/cache/object_cache_fixture.hpp"
#include "k8s_sd/cache/reference_sets.hpp"

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Owned : CachedCluster {
    Owned() : owners(*cache) {
        for (const auto& name : numbered("s", 6)) put(name, name);
        take_requests();
    }
    void own(const std::string& owner, const std::set<std::string>& names) {
        std::set<ObjectName> objects;
        for (const std::string& name : names) objects.insert({"shop", name});
        owners.register_owner(owner, objects);
        settle();
    }
    /// "s0:1 s1:2": what is referred to, and how often.
    std::string referred() const {
        std::string text;
        for (const CachedObjectStatus& object : cache->status().objects) {
            text +=
                (text.empty() ? "" : " ") + object.name + ":" + std::to_string(object.references);
        }
        return text;
    }

    ReferenceSets owners;
};

}  // namespace

TEST_CASE("ReferenceSets: an owner refers to its objects, each once") {
    Owned o;
    o.own("pod-1", {"s0", "s1"});
    o.own("pod-2", {"s1", "s2"});
    CHECK(o.referred() == "s0:1 s1:2 s2:1");
    CHECK(o.read("s1") == "token=s1");
    CHECK(o.owners.size() == 2);
    CHECK(o.owners.objects_of("pod-1") == std::set<ObjectName>{{"shop", "s0"}, {"shop", "s1"}});
    CHECK(o.owners.objects_of("pod-3").empty());
}

TEST_CASE("ReferenceSets: registering again touches the difference only") {
    Owned o;
    o.own("pod-1", {"s0", "s1"});
    CHECK(o.take_requests().size() == 4);
    o.own("pod-1", {"s0", "s1"});
    CHECK(o.referred() == "s0:1 s1:1");
    CHECK(o.take_requests().empty());
    o.own("pod-1", {"s1", "s2"});
    CHECK(o.referred() == "s1:1 s2:1");
    CHECK(o.take_requests().size() == 2);
    CHECK(o.read("s0") == "not referenced");
    o.own("pod-1", {});
    CHECK(o.referred().empty());
    CHECK(o.owners.size() == 1);
    CHECK(o.server.open_connections() == 0);
}

TEST_CASE("ReferenceSets: an owner that goes takes its references along, those of others stay") {
    Owned o;
    o.own("pod-1", {"s0", "s1"});
    o.own("pod-2", {"s1"});
    o.owners.unregister_owner("pod-1");
    o.owners.unregister_owner("pod-1");
    o.owners.unregister_owner("nobody");
    o.settle();
    CHECK(o.referred() == "s1:1");
    CHECK(o.owners.size() == 1);
}

TEST_CASE("ReferenceSets: an object that moves from owner to owner keeps its watch") {
    Owned o;
    o.own("old", {"s0"});
    o.take_requests();
    o.owners.unregister_owner("old");
    o.own("new", {"s0"});
    CHECK(o.referred() == "s0:1");
    CHECK(o.take_requests().empty());
}

TEST_CASE("ReferenceSets: a wrong name changes nothing") {
    Owned o;
    o.own("pod-1", {"s0", "s1"});
    CHECK_THROWS_AS(o.own("pod-1", {"a", "B", "s2"}), ConfigError);
    CHECK_THROWS_AS(o.own("pod-2", {"a", "B"}), ConfigError);
    o.settle();
    CHECK(o.referred() == "s0:1 s1:1");
    CHECK(o.owners.size() == 1);
    CHECK(o.read("s0") == "token=s0");
}

TEST_CASE("ReferenceSets: what the owners refer to at any moment is what is referred to") {
    Owned o;
    std::map<std::string, std::set<std::string>> model;
    unsigned state = 1;
    const auto below = [&](unsigned limit) {
        state = state * 1664525U + 1013904223U;
        return (state >> 16U) % limit;
    };
    for (int step = 0; step < 300; ++step) {
        const std::string owner = "pod-" + std::to_string(below(4));
        if (below(4) == 0) {
            o.owners.unregister_owner(owner);
            model.erase(owner);
        } else {
            std::set<std::string> names;
            for (unsigned i = 0; i < 6; ++i) {
                if (below(2) == 0) names.insert("s" + std::to_string(i));
            }
            o.own(owner, names);
            model[owner] = names;
        }
        if (below(3) != 0) continue;
        o.settle();
        std::map<std::string, int> counts;
        for (const auto& [of, names] : model) {
            for (const auto& name : names) ++counts[name];
        }
        std::string expected;
        for (const auto& [name, count] : counts) {
            expected += (expected.empty() ? "" : " ") + name + ":" + std::to_string(count);
        }
        REQUIRE(o.referred() == expected);
        REQUIRE(o.server.open_watches() == counts.size());
    }
}
