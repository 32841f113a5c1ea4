#include "k8s_sd/generic.hpp"
#include "k8s_sd/watcher.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Lines = std::vector<std::string>;

const ResourceName pods{.kind = "Pod", .version = "v1", .plural = "pods", .namespaced = true};

struct AnyResource : Simulation {
    WatcherConfig config(const ResourceName& resource, Fields fields = Fields::all()) {
        WatcherConfig config;
        config.api_server.url = server.url();
        config.resource = resource;
        config.fields = std::move(fields);
        return config;
    }
    std::size_t requests_to(std::string_view path) {
        std::size_t count = 0;
        for (const sim::RequestRecord& record : server.requests()) {
            if (record.request.path == path) ++count;
        }
        return count;
    }
};

/// "full +shop/a {…}", "shop/a {…} -> {…}", "-shop/a": what a watcher says, with the contents.
struct GenericWatcher {
    GenericWatcher(AnyResource& any, const WatcherConfig& config)
        : watcher(any.context.get_executor(), config,
                  [this](const ObjectDiff<Generic>& diff) { tell(diff); }) {
        watcher.async_run([](error_code) {});
    }
    static std::string name(const Generic& object) {
        return std::string(object.metadata.namespace_) + "/" + std::string(object.metadata.name);
    }
    static std::string text(const Generic& object) { return serialize(object.content); }
    void tell(const ObjectDiff<Generic>& diff) {
        std::string line = diff.full ? "full" : "";
        const auto add = [&](const std::string& words) {
            line += (line.empty() ? "" : " ") + words;
        };
        for (const auto& object : diff.added) add("+" + name(*object) + " " + text(*object));
        for (const auto& [before, after] : diff.changed)
            add(name(*after) + " " + text(*before) + " -> " + text(*after));
        for (const auto& object : diff.removed) add("-" + name(*object));
        told.push_back(line);
        if (!diff.added.empty()) last = diff.added.back();
    }
    Lines take() { return std::exchange(told, {}); }

    Watcher<Generic> watcher;
    Lines told;
    std::shared_ptr<const Generic> last;
};

}  // namespace

TEST_CASE("Watcher<Generic>: the whole object is there, and its metadata as those of others") {
    AnyResource any;
    any.server.apply(pod({.name = "a", .labels = {{"app", "web"}}}));
    GenericWatcher watcher(any, any.config(pods));
    any.settle();
    REQUIRE(watcher.last);
    const Generic& a = *watcher.last;
    CHECK(a.metadata.name == "a");
    CHECK(a.metadata.labels.find("app") == "web");
    CHECK(a.content.at("kind") == "Pod");
    CHECK(a.content.at("spec").at("nodeName") == "n1");
    CHECK_FALSE(a.content.contains("metadata"));
    CHECK(any.server.requests().size() == 1);
}

TEST_CASE("Watcher<Generic>: chosen paths are kept, and what else changes is no change") {
    AnyResource any;
    any.server.apply(pod({.name = "a"}));
    GenericWatcher watcher(any, any.config(pods, {"spec.nodeName"}));
    any.settle();
    CHECK(watcher.take() == Lines{R"(full +default/a {"spec":{"nodeName":"n1"}})"});
    any.server.apply(pod({.name = "a", .labels = {{"new", "label"}}}));
    any.settle();
    CHECK(watcher.take() == Lines{});
    any.server.apply(pod({.name = "a", .node = "n2"}));
    any.settle();
    CHECK(watcher.take() ==
          Lines{R"(default/a {"spec":{"nodeName":"n1"}} -> {"spec":{"nodeName":"n2"}})"});
    any.server.remove("pods", "default", "a");
    any.settle();
    CHECK(watcher.take() == Lines{"-default/a"});
}

TEST_CASE("Watcher<Generic>: of metadata alone the server sends nothing else") {
    AnyResource any;
    any.server.apply(pod({.name = "a", .labels = {{"app", "web"}}}));
    GenericWatcher watcher(any, any.config(pods, {"metadata"}));
    any.settle();
    CHECK(watcher.take() == Lines{"full +default/a {}"});
    CHECK(watcher.last->metadata.labels.find("app") == "web");
    for (const sim::RequestRecord& record : any.server.requests())
        CHECK_THAT(std::string(record.request.header("accept").value_or("")),
                   ContainsSubstring("as=PartialObjectMetadata"));
    any.server.apply(pod({.name = "a", .node = "n2", .labels = {{"app", "web"}}}));
    any.settle();
    CHECK(watcher.take() == Lines{});
}

TEST_CASE("Watcher<Generic>: watchers of a resource share its watch, each with its own fields") {
    AnyResource any;
    any.server.apply(pod({.name = "a"}));
    GenericWatcher node(any, any.config(pods, {"spec.nodeName"}));
    GenericWatcher labels(any, any.config(pods, {"metadata.labels"}));
    any.settle();
    CHECK(any.server.requests().size() == 1);
    node.take();
    labels.take();
    any.server.apply(pod({.name = "a", .node = "n2"}));
    any.settle();
    CHECK(node.take().size() == 1);
    CHECK(labels.take().empty());
    any.server.apply(pod({.name = "a", .node = "n2", .labels = {{"new", "label"}}}));
    any.settle();
    CHECK(node.take().empty());
    CHECK(labels.take().size() == 1);
}

TEST_CASE("Watcher<Generic>: selectors select") {
    AnyResource any;
    any.server.apply(pod({.name = "a", .labels = {{"app", "web"}}}));
    any.server.apply(pod({.name = "b", .labels = {{"app", "db"}}}));
    WatcherConfig web = any.config(pods, {"metadata.name"});
    web.label_selector = "app=web";
    WatcherConfig named = any.config(pods, {"metadata.name"});
    named.field_selector = "metadata.name=b";
    GenericWatcher a(any, web);
    GenericWatcher b(any, named);
    any.settle();
    CHECK(a.take() == Lines{"full +default/a {}"});
    CHECK(b.take() == Lines{"full +default/b {}"});
}

TEST_CASE("Watcher<Generic>: what cannot be a resource is refused with words") {
    AnyResource any;
    const auto refusal = [&](const WatcherConfig& config) -> std::string {
        try {
            const Watcher<Generic> watcher(any.context.get_executor(), config, [](const auto&) {});
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(refusal(any.config({})), ContainsSubstring("needs a group and a kind"));
    CHECK_THAT(refusal(any.config({.group = "a/b", .kind = "W"})),
               ContainsSubstring("WatcherConfig::resource.group"));
    CHECK_THAT(refusal(any.config({.kind = "W", .version = "v1/.."})),
               ContainsSubstring("resource.version"));
    CHECK_THAT(refusal(any.config({.kind = "W", .plural = "W w"})),
               ContainsSubstring("resource.plural"));
    CHECK_THAT(refusal(any.config(pods, Fields())), ContainsSubstring("none is kept"));
    WatcherConfig typed = any.config(pods);
    CHECK_THROWS_AS(
        Watcher<api::Pod>(any.context.get_executor(), typed, [](const ObjectDiff<api::Pod>&) {}),
        ConfigError);
}

TEST_CASE("Watcher<Generic>: what it needs is the permission for its resource") {
    WatcherConfig config;
    config.api_server.url = "http://127.0.0.1:1";
    config.resource = {.group = "example.com", .kind = "Widget", .plural = "widgets"};
    config.namespaces = {"shop"};
    const std::vector<AccessRule> rules = required_access(config);
    REQUIRE(rules.size() == 1);
    CHECK(to_string(rules.front()) == "widgets (API group example.com) in the namespace shop");
    config.resource.plural.clear();
    CHECK_THROWS_AS(required_access(config), ConfigError);
}
