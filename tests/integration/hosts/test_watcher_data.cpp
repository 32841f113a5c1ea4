// Watchers of Secrets and ConfigMaps.

#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/data_objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// A watcher, with all its notifications.
template <class T>
struct DataWatcher {
    DataWatcher(Simulation& sim, WatcherConfig config = {}, bool protobuf = true)
        : watcher(sim.context.get_executor(), with_server(sim, std::move(config), protobuf),
                  [this](const ObjectDiff<T>& diff) {
                      for (const auto& object : diff.added) added.push_back(object);
                      for (const auto& change : diff.changed) changed.push_back(change);
                  }) {
        watcher.async_run([](error_code) {});
        sim.settle();
    }
    static WatcherConfig with_server(Simulation& sim, WatcherConfig config, bool protobuf) {
        config.api_server.url = sim.server.url();
        config.watch.protobuf = protobuf;
        return config;
    }

    std::vector<std::shared_ptr<const T>> added;
    std::vector<ChangedObject<T>> changed;
    Watcher<T> watcher;
};

boost::json::object secret_with_annotation(const std::string& text) {
    boost::json::object object = secret("db", {{"password", "hunter2"}});
    object["metadata"].as_object()["annotations"] = {{"last-applied-configuration", text}};
    return object;
}

boost::json::object labelled(boost::json::object object, std::string_view app) {
    object["metadata"].as_object()["labels"] = {{"app", app}};
    return object;
}

}  // namespace

TEST_CASE("Watcher: a Secret has its bytes, and a change of them is delivered") {
    for (const bool protobuf : {false, true}) {
        CAPTURE(protobuf);
        Simulation sim;
        const std::string bytes("\x00\xFF\x01", 3);
        sim.server.apply(immutable(secret("db", {{"password", "hunter2"}, {"key", bytes}})));
        DataWatcher<api::Secret> secrets(sim, {}, protobuf);
        REQUIRE(secrets.added.size() == 1);
        const api::Secret& db = *secrets.added[0];
        CHECK(db.metadata.name == "db");
        CHECK(db.type == "Opaque");
        CHECK(db.immutable);
        CHECK(db.data.size() == 2);
        CHECK(db.data.find("password") == "hunter2");
        CHECK(db.data.find("key") == bytes);
        sim.server.apply(secret("db", {{"password", "hunter3"}}));
        sim.settle();
        REQUIRE(secrets.changed.size() == 1);
        CHECK(secrets.changed[0].before->data.find("password") == "hunter2");
        CHECK(secrets.changed[0].after->data.find("password") == "hunter3");
    }
}

TEST_CASE("Watcher: a ConfigMap has its texts and its bytes, each in their map") {
    for (const bool protobuf : {false, true}) {
        CAPTURE(protobuf);
        Simulation sim;
        boost::json::object object = config_map("settings", {{"level", "debug"}});
        object["binaryData"] = {{"logo", "AP8B"}};
        object["metadata"].as_object()["annotations"] = {{"owner", "team"}};
        sim.server.apply(object);
        DataWatcher<api::ConfigMap> maps(sim, {}, protobuf);
        REQUIRE(maps.added.size() == 1);
        const api::ConfigMap& settings = *maps.added[0];
        CHECK(settings.data == api::StringMap{{"level", "debug"}});
        CHECK(settings.binary_data.find("logo") == std::string_view("\x00\xFF\x01", 3));
        CHECK(settings.metadata.annotations.find("owner") == "team");
        CHECK_FALSE(settings.immutable);
    }
}

TEST_CASE("Watcher: annotations of a Secret are kept only for watchers that name them") {
    Simulation sim;
    sim.server.apply(secret_with_annotation("hunter2"));
    DataWatcher<api::Secret> by_default(sim);
    REQUIRE(by_default.added.size() == 1);
    CHECK(by_default.added[0]->metadata.annotations.empty());
    CHECK(by_default.added[0]->data.find("password") == "hunter2");
    WatcherConfig config;
    config.fields = {"metadata", "data"};
    DataWatcher<api::Secret> with_them(sim, config);
    REQUIRE(with_them.added.size() == 1);
    CHECK(with_them.added[0]->metadata.annotations.find("last-applied-configuration") == "hunter2");
    sim.server.apply(secret_with_annotation("hunter3"));
    sim.settle();
    CHECK(by_default.changed.empty());
    CHECK(with_them.changed.size() == 1);
}

TEST_CASE("Watcher: the server does not send data of Secrets that no watcher keeps") {
    for (const bool protobuf : {false, true}) {
        CAPTURE(protobuf);
        Simulation sim;
        sim.server.apply(labelled(secret("db", {{"password", "hunter2"}}), "web"));
        WatcherConfig config;
        config.fields = {"metadata.labels"};
        DataWatcher<api::Secret> secrets(sim, config, protobuf);
        REQUIRE(secrets.added.size() == 1);
        CHECK(secrets.added[0]->metadata.labels.find("app") == "web");
        CHECK(secrets.added[0]->data.empty());
        CHECK(secrets.added[0]->type.empty());
        for (const sim::RequestRecord& record : sim.server.requests()) {
            CAPTURE(record.request.target);
            const std::string accept(record.request.header("Accept").value_or(""));
            CHECK(accept.find("as=PartialObjectMetadata") != std::string::npos);
        }
    }
}

TEST_CASE("Watcher: selectors use labels that no watcher keeps") {
    Simulation sim;
    for (const std::string app : {"web", "db"}) {
        sim.server.apply(labelled(secret(app, {{"k", "v"}}), app));
        sim.server.apply(labelled(sim::replica_set("shop", app), app));
    }
    WatcherConfig of_web;
    of_web.label_selector = "app=web";
    of_web.fields = {"metadata.finalizers"};
    WatcherConfig of_db = of_web;
    of_db.label_selector = "app=db";
    DataWatcher<api::Secret> web(sim, of_web), db(sim, of_db);
    REQUIRE(web.added.size() == 1);
    REQUIRE(db.added.size() == 1);
    CHECK(web.added[0]->metadata.name == "web");
    CHECK(web.added[0]->metadata.labels.empty());
    CHECK(db.added[0]->metadata.name == "db");
    DataWatcher<api::ReplicaSet> web_sets(sim, of_web), db_sets(sim, of_db);
    CHECK(web_sets.added.size() == 1);
    CHECK(db_sets.added.size() == 1);
}

TEST_CASE("Watcher: a store of ConfigMaps is read by name, beside an ObjectCache") {
    Simulation sim;
    sim.server.apply(config_map("settings", {{"level", "debug"}}));
    Store<api::ConfigMap> store;
    WatcherConfig config;
    config.api_server.url = sim.server.url();
    Watcher<api::ConfigMap> watcher(sim.context.get_executor(), config, store);
    watcher.async_run([](error_code) {});
    ObjectCacheConfig cached;
    cached.api_server.url = sim.server.url();
    cached.kind = Kind::configmap;
    ObjectCache cache(sim.context.get_executor(), cached);
    ObjectPtr of_cache;
    const auto reference = cache.add_reference("shop", "settings");
    cache.async_get(reference, [&](error_code, const ObjectPtr& object) { of_cache = object; });
    sim.settle();
    REQUIRE(store.find("shop", "settings"));
    CHECK(store.find("shop", "settings")->data.find("level") == "debug");
    REQUIRE(as_data_object(of_cache));
    CHECK(as_data_object(of_cache)->get("level") == "debug");
}
