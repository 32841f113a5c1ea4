#include "k8s_sd/objects/target_store.hpp"
#include "k8s_sd/target_group.hpp"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using namespace k8s_sd;

namespace {

TargetGroupPtr group_of(const std::string& source, const std::vector<std::string>& addresses) {
    std::vector<LabelMap> targets;
    for (const std::string& address : addresses) targets.push_back({{"__address__", address}});
    return TargetGroupMaker().make(source, {}, targets);
}

}  // namespace

TEST_CASE("TargetStore: it has the targets that a discoverer delivered") {
    TargetStore store;
    const auto callback = store.callback();
    CHECK_FALSE(store.synced());
    const auto web = group_of("pod/shop/web", {"10.0.0.1:80", "10.0.0.1:81"});
    const auto db = group_of("pod/shop/db", {"10.0.0.2:80"});
    callback({.full = true, .updated = {{web, nullptr}, {db, nullptr}}, .removed = {}});
    CHECK(store.synced());
    CHECK(store.size() == 2);
    CHECK(store.find("pod/shop/web") == web);

    const auto moved = group_of("pod/shop/web", {"10.0.0.3:80"});
    callback({.full = false, .updated = {{moved, web}}, .removed = {db}});
    CHECK(store.size() == 1);
    CHECK(store.find("pod/shop/web") == moved);
    CHECK(store.find("pod/shop/db") == nullptr);
    CHECK(store.generation() == 2);

    callback({.full = true, .updated = {{db, nullptr}}, .removed = {}});
    CHECK(store.find("pod/shop/web") == nullptr);
    CHECK(store.find("pod/shop/db") == db);
}

TEST_CASE("TargetStore: a diff that cannot be applied is applied with the next one") {
    TargetStore store;
    const auto callback = store.callback();
    bool fails = false;
    const auto by_source = store.index([&](const TargetGroup& group) {
        if (fails && group.source() == "pod/shop/new") throw std::runtime_error("index");
        return group.source();
    });
    const auto web = group_of("pod/shop/web", {"10.0.0.1:80"});
    const auto db = group_of("pod/shop/db", {"10.0.0.2:80"});
    const auto made = group_of("pod/shop/new", {"10.0.0.3:80"});
    const auto moved = group_of("pod/shop/web", {"10.0.0.4:80"});
    callback({.full = true, .updated = {{web, nullptr}, {db, nullptr}}, .removed = {}});
    fails = true;
    CHECK_THROWS(callback({.updated = {{moved, web}, {made, nullptr}}, .removed = {db}}));
    CHECK(store.find("pod/shop/web") == web);
    CHECK(store.find("pod/shop/db") == db);
    SECTION("also one that cannot be applied either") {
        CHECK_THROWS(callback({.updated = {{db, nullptr}}, .removed = {}}));
        fails = false;
        callback({.updated = {{web, moved}}, .removed = {}});
        CHECK(store.find("pod/shop/web") == web);
        CHECK(store.find("pod/shop/db") == db);
        CHECK(store.find("pod/shop/new") == made);
    }
    SECTION("which may remove what is in it") {
        fails = false;
        callback({.updated = {}, .removed = {made}});
        CHECK(store.find("pod/shop/web") == moved);
        CHECK(store.size() == 1);
    }
    SECTION("unless that is a complete state") {
        callback({.full = true, .updated = {{db, nullptr}}, .removed = {}});
        CHECK(store.find("pod/shop/db") == db);
        CHECK(store.size() == 1);
    }
}

TEST_CASE("TargetStore: readers see a diff in parts with its last part") {
    TargetStore store;
    const auto callback = store.callback();
    const auto web = group_of("pod/shop/web", {"10.0.0.1:80"});
    const auto db = group_of("pod/shop/db", {"10.0.0.2:80"});
    callback({.full = true, .updated = {{web, nullptr}}, .removed = {}, .more = true});
    CHECK_FALSE(store.synced());
    CHECK(store.size() == 0);
    callback({.updated = {{db, nullptr}}, .removed = {}});
    CHECK(store.synced());
    CHECK(store.size() == 2);

    callback({.updated = {}, .removed = {web}, .more = true});
    CHECK(store.find("pod/shop/web") == web);
    callback({.updated = {}, .removed = {db}});
    CHECK(store.size() == 0);
    CHECK(store.generation() == 2);
}

TEST_CASE("TargetStore: each part may come by another callback, and a new state drops old parts") {
    TargetStore store;
    const auto web = group_of("pod/shop/web", {"10.0.0.1:80"});
    const auto db = group_of("pod/shop/db", {"10.0.0.2:80"});
    store.callback()({.full = true, .updated = {{web, nullptr}}, .removed = {}, .more = true});
    store.callback()({.updated = {{db, nullptr}}, .removed = {}});
    CHECK(store.size() == 2);

    store.callback()({.updated = {}, .removed = {web, db}, .more = true});
    store.callback()({.full = true, .updated = {{db, nullptr}}, .removed = {}, .more = true});
    CHECK(store.size() == 2);
    store.callback()({.updated = {}, .removed = {}});
    CHECK(store.size() == 1);
    CHECK(store.find("pod/shop/db") == db);
}

TEST_CASE("TargetStore: groups are found by labels of their targets") {
    TargetStore store;
    const auto by_address = store.index([](const TargetGroup& group, IndexKeys& keys) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            keys.add(group[i].get("__address__").value_or(""));
        }
    });
    const auto callback = store.callback();
    const auto web = group_of("pod/shop/web", {"10.0.0.1:80", "10.0.0.1:81"});
    callback({.full = true, .updated = {{web, nullptr}}, .removed = {}});
    CHECK(by_address.find("10.0.0.1:81") == web);
    callback({.full = false, .updated = {}, .removed = {web}});
    CHECK(by_address.find("10.0.0.1:81") == nullptr);
}
