#include "k8s_sd/access.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
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

/// "full +shop/a {…}", "shop/a {…} -> {…}", "-shop/a": the notifications of a watcher, with the
/// contents.
struct GenericWatcher {
    GenericWatcher(AnyResource& any, const WatcherConfig& config)
        : watcher(any.context.get_executor(), config,
                  [this](const ObjectDiff<Generic>& diff) { receive(diff); }) {
        watcher.async_run([](error_code) {});
    }
    static std::string name(const Generic& object) {
        return std::string(object.metadata.namespace_) + "/" + std::string(object.metadata.name);
    }
    static std::string text(const Generic& object) { return serialize(object.content); }
    void receive(const ObjectDiff<Generic>& diff) {
        Lines words;
        for (const auto& object : diff.added)
            words.push_back("+" + name(*object) + " " + text(*object));
        for (const auto& [before, after] : diff.changed)
            words.push_back(name(*after) + " " + text(*before) + " -> " + text(*after));
        for (const auto& object : diff.removed) words.push_back("-" + name(*object));
        std::sort(words.begin(), words.end());
        std::string line = diff.full ? "full" : "";
        for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
        received.push_back(line);
        if (!diff.added.empty()) last = diff.added.back();
    }
    Lines take() { return std::exchange(received, {}); }

    Watcher<Generic> watcher;
    Lines received;
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

TEST_CASE("Watcher<Generic>: kind and version are there when the server lists, too") {
    AnyResource any;
    any.server.apply(pod({.name = "a"}));
    WatcherConfig config = any.config(pods, {"kind", "apiVersion"});
    config.watch.watch_list = false;
    config.watch.protobuf = false;
    GenericWatcher watcher(any, config);
    any.settle();
    REQUIRE(watcher.last);
    CHECK(watcher.last->content == boost::json::object{{"kind", "Pod"}, {"apiVersion", "v1"}});
    watcher.take();
    any.server.apply(pod({.name = "a", .node = "n2"}));
    any.settle();
    CHECK(watcher.take() == Lines{});
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
    CHECK_THAT(refusal(any.config(pods, {"metadata.label"})),
               ContainsSubstring("\"metadata.label\" is no field that is read of any resource") &&
                   ContainsSubstring("metadata.labels"));
    CHECK(refusal(any.config(pods, {"metadata.generation", "spec.anything"})).empty());
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

namespace {

const ResourceName widgets{.group = "example.com", .kind = "Widget"};

boost::json::object widget(const std::string& name, int size, std::string ns = "shop") {
    boost::json::object object{{"apiVersion", "example.com/v1"},
                               {"kind", "Widget"},
                               {"metadata", boost::json::object{{"name", name}}},
                               {"spec", boost::json::object{{"size", size}}}};
    if (!ns.empty()) object["metadata"].as_object()["namespace"] = std::move(ns);
    return object;
}

}  // namespace

TEST_CASE("Watcher<Generic>: a custom resource is found by its group and kind") {
    AnyResource any;
    any.server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    any.server.apply(widget("a", 1));
    GenericWatcher watcher(any, any.config(widgets, {"spec.size"}));
    any.settle();
    CHECK(watcher.take() == Lines{R"(full +shop/a {"spec":{"size":1}})"});
    any.server.apply(widget("a", 2));
    any.settle();
    CHECK(watcher.take() == Lines{R"(shop/a {"spec":{"size":1}} -> {"spec":{"size":2}})"});
    CHECK(any.requests_to("/apis/example.com") == 1);
    CHECK(any.requests_to("/apis/example.com/v1") == 1);
    CHECK(any.requests_to("/apis/example.com/v1/widgets") == 1);
    const DiscovererStatus status = watcher.watcher.status();
    CHECK(status.synced);
    REQUIRE(status.watches.size() == 1);
    CHECK(to_string(status.watches.front().kind) == "widgets.example.com");
}

TEST_CASE("Watcher<Generic>: what the library knows no fields of in the groups of Kubernetes") {
    AnyResource any;
    any.server.apply(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"shop"},)"
        R"("spec":{"replicas":3}})");
    GenericWatcher watcher(any,
                           any.config({.group = "apps", .kind = "Deployment"}, {"spec.replicas"}));
    GenericWatcher nodes(any, any.config({.kind = "Node"}, {"kind"}));
    any.settle();
    CHECK(watcher.take() == Lines{R"(full +shop/d {"spec":{"replicas":3}})"});
    CHECK(nodes.take() == Lines{"full"});
    CHECK(any.requests_to("/api/v1") == 1);
    CHECK(any.requests_to("/api/v1/nodes") == 1);
}

TEST_CASE("Watcher<Generic>: of several versions it takes the preferred one that has the kind") {
    AnyResource any;
    any.server.add_resource({.group = "example.com",
                             .kind = "Gadget",
                             .plural = "gadgets",
                             .versions = {"v1"},
                             .namespaced = false});
    any.server.add_resource({.group = "example.com",
                             .kind = "Widget",
                             .plural = "widgets",
                             .versions = {"v1beta1", "v1beta2"}});
    any.server.apply(widget("a", 1));
    GenericWatcher preferred(any, any.config(widgets, {"apiVersion"}));
    ResourceName named = widgets;
    named.version = "v1beta2";
    GenericWatcher other(any, any.config(named, {"apiVersion"}));
    any.settle();
    CHECK(preferred.take() == Lines{R"(full +shop/a {"apiVersion":"example.com/v1beta1"})"});
    CHECK(other.take() == Lines{R"(full +shop/a {"apiVersion":"example.com/v1beta2"})"});
    GenericWatcher gadgets(any, any.config({.group = "example.com", .kind = "Gadget"}));
    any.settle();
    CHECK(gadgets.take() == Lines{"full"});
    CHECK(any.requests_to("/apis/example.com/v1/gadgets") == 1);
}

TEST_CASE("Watcher<Generic>: a resource that comes later is found within a minute") {
    AnyResource any;
    GenericWatcher watcher(any, any.config(widgets));
    any.advance(30min);
    CHECK(watcher.take().empty());
    const DiscovererStatus status = watcher.watcher.status();
    CHECK_FALSE(status.synced);
    CHECK(status.error == errc::not_found);
    CHECK_THAT(status.message, ContainsSubstring("no \"Widget\"") &&
                                   ContainsSubstring("is its CustomResourceDefinition there"));
    // At most two requests a minute once the failure lasts.
    CHECK(any.server.requests().size() < 75);
    any.server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    any.server.apply(widget("a", 1));
    any.advance(1min);
    CHECK(watcher.take().size() == 1);
    CHECK(watcher.watcher.status().synced);
    CHECK_FALSE(watcher.watcher.status().error);
}

TEST_CASE("Watcher<Generic>: refused discovery says what to grant, and goes on") {
    AnyResource any;
    any.server.fail_next(sim::Response::failure(403, "Forbidden", "no"), 1, "/apis");
    std::vector<std::string> said;
    Watcher<Generic> watcher(any.context.get_executor(),
                             any.config({.group = "apps", .kind = "Deployment"}),
                             [](const ObjectDiff<Generic>&) {});
    watcher.set_status_callback([&](const DiscovererStatus& status) {
        said.push_back(status.error ? status.message : "well");
    });
    watcher.async_run([](error_code) {});
    any.settle();
    REQUIRE(said.size() == 1);
    CHECK_THAT(said.front(), ContainsSubstring("HTTP 403") &&
                                 ContainsSubstring("grant the ClusterRole system:discovery"));
    any.advance(5s);
    CHECK(said.back() == "well");
    CHECK(watcher.status().synced);
}

TEST_CASE("Watcher<Generic>: cancelled or destroyed while it asks, it is silent") {
    AnyResource any;
    {
        GenericWatcher watcher(any, any.config(widgets));
        any.advance(5s);
    }
    const std::size_t asked = any.server.requests().size();
    GenericWatcher cancelled(any, any.config(widgets));
    cancelled.watcher.cancel();
    any.advance(5min);
    CHECK(any.server.requests().size() == asked);
    CHECK(cancelled.received.empty());
}

TEST_CASE("Watcher<Generic>: metadata of custom resources alone") {
    AnyResource any;
    any.server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    any.server.apply(widget("a", 1));
    GenericWatcher watcher(any, any.config(widgets, {"metadata"}));
    any.settle();
    CHECK(watcher.take() == Lines{"full +shop/a {}"});
    any.server.apply(widget("a", 2));
    any.server.apply(widget("b", 2));
    any.settle();
    CHECK(watcher.take() == Lines{"+shop/b {}"});
}

TEST_CASE("Watcher<Generic>: unreadable objects are skipped and reported") {
    AnyResource any;
    any.server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    any.server.apply(widget("a", 1));
    GenericWatcher watcher(any, any.config(widgets));
    any.settle();
    watcher.take();
    any.server.send_to_watches(
        "widgets",
        R"({"type":"ADDED","object":{"apiVersion":"example.com/v1","kind":"Widget",)"
        R"("metadata":{"name":5,"namespace":"shop","resourceVersion":"900"}}})"
        "\n"
        R"({"type":"ADDED","object":{"apiVersion":"example.com/v1","kind":"Widget",)"
        R"("metadata":{"name":"b","namespace":"shop","resourceVersion":"901"}}})"
        "\n",
        sim::ApiServer::After::go_on);
    any.settle();
    const Lines received = watcher.take();
    REQUIRE(received.size() == 1);
    CHECK_THAT(received.front(), ContainsSubstring("+shop/b"));
    CHECK(
        any.metrics->of(other_kind({"Widget", "example.com", "v1", "widgets", true})).bad_objects ==
        1);
}

TEST_CASE("Watcher<Generic>: when the version that it watches goes away, it goes to another one") {
    AnyResource any;
    any.server.add_resource(
        {.group = "example.com", .kind = "Widget", .plural = "widgets", .versions = {"v1beta1"}});
    any.server.apply(widget("a", 1));
    any.server.apply(widget("b", 1));
    GenericWatcher watcher(any, any.config(widgets, {"spec.size"}));
    any.settle();
    CHECK(watcher.take() ==
          Lines{R"(full +shop/a {"spec":{"size":1}} +shop/b {"spec":{"size":1}})"});
    any.server.set_served("widgets", {"v1"});
    any.server.remove("widgets", "shop", "a");
    any.server.apply(widget("b", 2));
    any.server.apply(widget("c", 1));
    any.advance(3min);
    CHECK_FALSE(watcher.watcher.status().error);
    REQUIRE(watcher.received.size() == 1);
    for (const char* part :
         {"+shop/c", R"(shop/b {"spec":{"size":1}} -> {"spec":{"size":2}})", "-shop/a"})
        CHECK_THAT(watcher.received.front(), ContainsSubstring(part));
    watcher.take();
    any.server.apply(widget("c", 3));
    any.settle();
    CHECK(watcher.take().size() == 1);
    CHECK(any.requests_to("/apis/example.com/v1/widgets") > 0);
}

TEST_CASE("Watcher<Generic>: a deleted resource removes nothing, and is reported") {
    AnyResource any;
    any.server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    any.server.apply(widget("a", 1));
    GenericWatcher watcher(any, any.config(widgets, {"spec.size"}));
    any.settle();
    watcher.take();
    any.server.remove_resource("widgets");
    any.advance(10min);
    CHECK(watcher.take().empty());
    CHECK(watcher.watcher.status().error == errc::not_found);
    const std::size_t before = any.server.requests().size();
    any.advance(10min);
    CHECK(any.server.requests().size() - before < 80);
    any.server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    any.server.apply(widget("b", 1));
    any.advance(1min + 10s);  // the longest pause of a search; the watch itself pauses longer
    std::string received;
    for (const std::string& line : watcher.take()) received += line;
    CHECK_THAT(received, ContainsSubstring("+shop/b") && ContainsSubstring("-shop/a"));
    CHECK_FALSE(watcher.watcher.status().error);
}

namespace {

sim::Response document(std::string body, unsigned status = 200) {
    sim::Response response;
    response.status = status;
    response.body = std::move(body);
    response.content_type = "application/json";
    return response;
}

constexpr int max_asked = 600;

/// A server whose discovery documents name a different resource each time, and that serves none of
/// them.
struct FickleServer : Simulation {
    explicit FickleServer(std::size_t names) {
        server.set_intercept(
            [this, names](const sim::Request& request) -> std::optional<sim::Response> {
                if (++requests > max_asked) return document("{}", 503);  // lets the test end
                if (request.path == "/apis/example.com") {
                    return document(R"({"kind":"APIGroup","versions":[{"version":"v1"}]})");
                }
                if (request.path == "/apis/example.com/v1") {
                    return document(
                        R"({"kind":"APIResourceList","resources":[{"kind":"Widget","name":"w)" +
                        std::to_string(asked++ % names) +
                        R"(","namespaced":true,"verbs":["list","watch"]}]})");
                }
                return std::nullopt;
            });
        config.api_server.url = server.url();
        config.resource = {.group = "example.com", .kind = "Widget"};
    }
    WatcherConfig config;
    int requests = 0;
    std::size_t asked = 0;
};

}  // namespace

TEST_CASE(
    "Watcher<Generic>: a server that names a resource differently each time is asked gently") {
    for (const std::size_t names : {std::size_t{1}, std::size_t{2}, std::size_t{1'000'000}}) {
        CAPTURE(names);
        FickleServer fickle(names);
        Watcher<Generic> watcher(fickle.context.get_executor(), fickle.config,
                                 [](const ObjectDiff<Generic>&) {});
        watcher.async_run([](error_code) {});
        fickle.settle();
        UNSCOPED_INFO("at once: " << fickle.requests);
        CHECK(fickle.requests < 20);
        fickle.requests = 0;
        fickle.advance(10min);
        fickle.requests = 0;
        fickle.advance(10min);
        UNSCOPED_INFO("in ten minutes, later: " << fickle.requests);
        CHECK(fickle.requests < 200);
    }
}
