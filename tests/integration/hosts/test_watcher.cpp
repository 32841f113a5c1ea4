#include "k8s_sd/access.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Watched : Simulation {
    WatcherConfig config() {
        WatcherConfig config;
        config.api_server.url = server.url();
        return config;
    }
    DiscoveryConfig discovery() {
        DiscoveryConfig config;
        config.api_server.url = server.url();
        return config;
    }
    std::size_t watches_of(std::string_view plural) {
        std::size_t watches = 0;
        for (const sim::RequestRecord& record : server.requests()) {
            const bool here = record.request.path.ends_with("/" + std::string(plural));
            if (here && record.request.is_watch()) ++watches;
        }
        return watches;
    }
};

/// "full +a +b", "-a +c", "a: n1 -> n2": the notifications of a pod watcher.
struct PodWatcher {
    PodWatcher(Watched& w, const WatcherConfig& config, Watcher<api::Pod>::Predicate counts = {})
        : watcher(
              w.context.get_executor(), config,
              [this](const ObjectDiff<api::Pod>& diff) { receive(diff); }, std::move(counts)) {
        watcher.async_run([this](error_code ec) { ended = ec; });
    }
    void receive(const ObjectDiff<api::Pod>& diff) {
        std::vector<std::string> words;
        for (const auto& pod : diff.added) words.push_back("+" + std::string(pod->metadata.name));
        for (const auto& [before, after] : diff.changed) {
            words.push_back(std::string(after->metadata.name) + ": " +
                            std::string(before->spec.node_name) + " -> " +
                            std::string(after->spec.node_name));
        }
        for (const auto& pod : diff.removed) words.push_back("-" + std::string(pod->metadata.name));
        std::sort(words.begin(), words.end());
        std::string line = diff.full ? "full" : "";
        for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
        received.push_back(line);
        if (!diff.added.empty()) last = diff.added.back();
    }
    std::vector<std::string> take() { return std::exchange(received, {}); }

    Watcher<api::Pod> watcher;
    std::vector<std::string> received;
    std::shared_ptr<const api::Pod> last;
    std::optional<error_code> ended;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("Watcher: the complete state comes first, then what was added, changed and removed") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    w.server.apply(pod({.name = "b"}));
    PodWatcher pods(w, w.config());
    CHECK(pods.received.empty());
    w.settle();
    CHECK(pods.take() == Lines{"full +a +b"});
    CHECK(pods.watcher.status().synced);
    w.server.apply(pod({.name = "c"}));
    w.settle();
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    w.server.remove("pods", "default", "b");
    w.settle();
    CHECK(pods.take() == Lines{"+c", "a: n1 -> n2", "-b"});
    CHECK(w.watches_of("pods") == 1);
}

TEST_CASE("Watcher: an empty cluster is a complete state") {
    Watched w;
    PodWatcher pods(w, w.config());
    w.settle();
    CHECK(pods.take() == Lines{"full"});
}

TEST_CASE("Watcher: an object that was created anew under its name is removed and added") {
    Watched w;
    w.server.apply(pod({.name = "a", .uid = "u1"}));
    PodWatcher pods(w, w.config());
    w.settle();
    pods.take();
    w.server.remove("pods", "default", "a");
    w.server.apply(pod({.name = "a", .uid = "u2"}));
    w.settle();
    CHECK(pods.take() == Lines{"+a -a"});
    CHECK(pods.last->metadata.uid == "u2");
}

TEST_CASE("Watcher: changes of unselected fields are not delivered") {
    Watched w;
    w.server.apply(pod({.name = "a", .probe_time = "2026-01-01T00:00:00Z"}));
    WatcherConfig config = w.config();
    config.fields = {"spec.nodeName"};
    PodWatcher pods(w, config);
    w.settle();
    pods.take();
    w.server.apply(pod({.name = "a", .phase = "Failed", .probe_time = "2026-01-01T00:00:10Z"}));
    w.settle();
    CHECK(pods.take() == Lines());
    CHECK(pods.last->status.phase.empty());
}

TEST_CASE("Watcher: a predicate decides what counts as a change") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    PodWatcher pods(w, w.config(), [](const api::Pod& before, const api::Pod& after) {
        return before.status.pod_ip != after.status.pod_ip;
    });
    w.settle();
    pods.take();
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    CHECK(pods.take() == Lines());
    w.server.apply(pod({.name = "a", .ip = "10.0.0.9", .node = "n2"}));
    w.settle();
    CHECK(pods.take() == Lines{"a: n2 -> n2"});
}

TEST_CASE("Watcher: undelivered changes are coalesced into one for each object") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    w.server.apply(pod({.name = "b"}));
    WatcherConfig config = w.config();
    config.min_update_interval = 10s;
    PodWatcher pods(w, config);
    w.settle();
    pods.take();
    for (int i = 0; i < 20; ++i) {
        w.server.apply(pod({.name = "a", .node = "m" + std::to_string(i)}));
        w.server.apply(pod({.name = "b", .node = i % 2 == 0 ? "elsewhere" : "n1"}));
        w.server.apply(pod({.name = "c" + std::to_string(i)}));
        w.settle();
        w.server.remove("pods", "default", "c" + std::to_string(i));
        w.settle();
    }
    CHECK(pods.take() == Lines());
    w.advance(10s);
    CHECK(pods.take() == Lines{"a: n1 -> m19"});
}

TEST_CASE("Watcher: the latency of a diff is the time since the first change in it came") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    WatcherConfig config = w.config();
    config.min_update_interval = 10s;
    PodWatcher pods(w, config);
    w.settle();
    CHECK(w.metrics->delivery_latency.sum() == 0s);
    w.advance(8s);
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    w.advance(1s);
    w.server.apply(pod({.name = "b"}));
    w.settle();
    w.advance(1s);
    CHECK(pods.take() == Lines{"full +a", "+b a: n1 -> n2"});
    CHECK(w.metrics->delivery_latency.sum() == 2s);
    LatencyHistogram::Counts expected{};
    expected[0] = 1;
    expected[10] = 1;  // at most 2.5 s
    CHECK(w.metrics->delivery_latency.counts() == expected);
}

TEST_CASE("Watcher: it shares the watch of a discoverer, which receives nothing more for it") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    Host host(w.context.get_executor(), w.discovery());
    host.run();
    PodWatcher pods(w, w.config());
    w.settle();
    CHECK(pods.take() == Lines{"full +a"});
    CHECK(w.watches_of("pods") == 1);
    CHECK(host.diffs == 1);
    boost::json::object changed = pod({.name = "a"});
    changed["spec"].as_object()["serviceAccountName"] = "robot";
    w.server.apply(changed);
    w.settle();
    CHECK(pods.take() == Lines{"a: n1 -> n1"});
    CHECK(host.diffs == 1);
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    CHECK(pods.take() == Lines{"a: n1 -> n2"});
    CHECK(host.diffs == 2);
    CHECK(host.complaints.empty());
}

TEST_CASE("Watcher: one that comes later takes a discoverer along to a new watch, unnoticed") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    w.server.apply(pod({.name = "b"}));
    Host host(w.context.get_executor(), w.discovery());
    host.run();
    w.settle();
    REQUIRE(host.diffs == 1);
    PodWatcher pods(w, w.config());
    w.settle();
    CHECK(pods.take() == Lines{"full +a +b"});
    CHECK(w.server.open_watches() == 1);
    CHECK(host.diffs == 1);
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    CHECK(host.diffs == 2);
    CHECK(pods.take() == Lines{"a: n1 -> n2"});
    pods.watcher.cancel();
    w.settle();
    w.server.apply(pod({.name = "b", .node = "n3"}));
    w.settle();
    CHECK(host.diffs == 3);
    CHECK(host.complaints.empty());
}

TEST_CASE("Watcher: a discoverer that comes later gets its labels of the same watch") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    PodWatcher pods(w, w.config());
    w.settle();
    Host host(w.context.get_executor(), w.discovery());
    host.run();
    w.settle();
    CHECK(host.diffs == 1);
    CHECK(w.server.open_watches() == 1);
    CHECK(pods.take() == Lines{"full +a"});
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    CHECK(host.diffs == 2);
    CHECK(pods.take() == Lines{"a: n1 -> n2"});
}

TEST_CASE("Watcher: watchers of different fields share a watch and receive their own changes") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    WatcherConfig nodes = w.config();
    nodes.fields = {"spec.nodeName"};
    WatcherConfig phases = w.config();
    phases.fields = {"status.phase"};
    PodWatcher of_nodes(w, nodes);
    PodWatcher of_phases(w, phases);
    w.settle();
    CHECK(w.watches_of("pods") == 1);
    of_nodes.take();
    of_phases.take();
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.settle();
    CHECK(of_nodes.take() == Lines{"a: n1 -> n2"});
    CHECK(of_phases.take() == Lines());
    w.server.apply(pod({.name = "a", .node = "n2", .phase = "Failed"}));
    w.settle();
    CHECK(of_nodes.take() == Lines());
    CHECK(of_phases.take().size() == 1);
}

TEST_CASE("Watcher: it needs the permission for its kind, and no other") {
    Watched w;
    for (const char* plural : {"pods", "services", "nodes", "namespaces", "endpoints"})
        w.server.deny(plural);
    w.server.apply(service("web"));
    w.server.apply(slice("web-x", "web", {{"10.0.0.1", "p1"}}));
    std::vector<std::string> addresses;
    Watcher<api::EndpointSlice> slices(
        w.context.get_executor(), w.config(), [&](const ObjectDiff<api::EndpointSlice>& diff) {
            for (const auto& slice : diff.added)
                for (const api::Endpoint& endpoint : slice->endpoints)
                    addresses.emplace_back(endpoint.addresses.at(0));
        });
    slices.async_run([](error_code) {});
    w.settle();
    CHECK(addresses == std::vector<std::string>{"10.0.0.1"});
    const auto rules = required_access(Kind::endpointslice, w.config());
    REQUIRE(rules.size() == 1);
    CHECK(rules[0].resource == "endpointslices");
    CHECK(rules[0].api_group == "discovery.k8s.io");
}

TEST_CASE("Watcher: namespaces and selectors choose objects as those of a discoverer do") {
    Watched w;
    w.server.apply(pod({.name = "a", .ns = "shop", .labels = {{"app", "web"}}}));
    w.server.apply(pod({.name = "b", .ns = "shop"}));
    w.server.apply(pod({.name = "c", .ns = "bank", .labels = {{"app", "web"}}}));
    WatcherConfig config = w.config();
    config.namespaces = {"shop"};
    config.label_selector = "app=web";
    PodWatcher pods(w, config);
    PodWatcher all(w, w.config());
    w.settle();
    CHECK(pods.take() == Lines{"full +a"});
    CHECK(all.take() == Lines{"full +a +b +c"});
    w.server.apply(pod({.name = "b", .ns = "shop", .labels = {{"app", "web"}}}));
    w.settle();
    CHECK(pods.take() == Lines{"+b"});
    w.server.apply(pod({.name = "a", .ns = "shop"}));
    w.settle();
    CHECK(pods.take() == Lines{"-a"});
}

TEST_CASE("Watcher: an outage removes nothing, and the differences follow it") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    w.server.apply(pod({.name = "b"}));
    PodWatcher pods(w, w.config());
    w.settle();
    pods.take();
    w.server.accept_connections(false);
    w.server.disconnect_all();
    w.advance(10min);
    CHECK(pods.take() == Lines());
    CHECK(pods.watcher.status().error);
    w.server.remove("pods", "default", "b");
    w.server.apply(pod({.name = "a", .node = "n2"}));
    w.server.compact();
    w.server.accept_connections(true);
    w.advance(2min);
    CHECK(pods.take() == Lines{"-b a: n1 -> n2"});
    CHECK_FALSE(pods.watcher.status().error);
}

TEST_CASE("Watcher: cancelled, it ends at once and says nothing more") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    PodWatcher pods(w, w.config());
    w.settle();
    pods.take();
    std::optional<error_code> second;
    pods.watcher.async_run([&](error_code ec) { second = ec; });
    w.settle();
    CHECK(second == boost::asio::error::already_started);
    w.server.apply(pod({.name = "b"}));
    pods.watcher.cancel();
    pods.watcher.cancel();
    w.settle();
    CHECK(pods.ended == boost::asio::error::operation_aborted);
    CHECK(pods.take() == Lines());
    CHECK(w.server.open_connections() == 0);
    CHECK(pods.watcher.status().watches.empty());
    pods.watcher.async_run([&](error_code ec) { second = ec; });
    w.settle();
    CHECK(second == boost::asio::error::operation_aborted);
}

TEST_CASE("Watcher: a cancellation slot ends it, and destroying it in its callback is allowed") {
    Watched w;
    w.server.apply(pod({.name = "a"}));
    auto watcher = std::make_unique<Watcher<api::Pod>>(w.context.get_executor(), w.config(),
                                                       [](const ObjectDiff<api::Pod>&) {});
    boost::asio::cancellation_signal signal;
    std::optional<error_code> ended;
    watcher->async_run(
        boost::asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { ended = ec; }));
    w.settle();
    signal.emit(boost::asio::cancellation_type::terminal);
    w.settle();
    CHECK(ended == boost::asio::error::operation_aborted);
    std::unique_ptr<Watcher<api::Pod>> own;
    own = std::make_unique<Watcher<api::Pod>>(w.context.get_executor(), w.config(),
                                              [&](const ObjectDiff<api::Pod>&) { own.reset(); });
    own->async_run([](error_code) {});
    w.settle();
    CHECK(own == nullptr);
    CHECK(w.server.open_connections() == 0);
}

TEST_CASE("Watcher: it fills a store, and waits for it complete") {
    Watched w;
    w.server.apply(pod({.name = "a", .ip = "10.0.0.1"}));
    w.server.apply(pod({.name = "b", .ip = "10.0.0.2"}));
    Store<api::Pod> store;
    const auto by_ip = store.index([](const api::Pod& p) { return p.status.pod_ip; });
    int received = 0;
    Watcher<api::Pod> pods(w.context.get_executor(), w.config(), store,
                           [&](const ObjectDiff<api::Pod>& diff) {
                               CHECK(store.size() >= diff.added.size());
                               ++received;
                           });
    std::optional<error_code> synced;
    store.async_wait_synced(w.context.get_executor(), [&](error_code ec) { synced = ec; });
    pods.async_run([](error_code) {});
    w.settle();
    CHECK(synced == error_code());
    CHECK(received == 1);
    CHECK(store.size() == 2);
    REQUIRE(by_ip.find("10.0.0.2"));
    CHECK(by_ip.find("10.0.0.2")->metadata.name == "b");
    w.server.apply(pod({.name = "b", .ip = "10.0.0.3"}));
    w.server.remove("pods", "default", "a");
    w.settle();
    CHECK(store.find("default", "a") == nullptr);
    CHECK(by_ip.find("10.0.0.2") == nullptr);
    CHECK(by_ip.find("10.0.0.3")->metadata.name == "b");
    CHECK(store.generation() == 2);
}

TEST_CASE("Watcher: a moved watcher still fills its store, a cancelled one reports the end") {
    Watched w;
    w.server.deny("pods");
    Store<api::Pod> store;
    std::optional<error_code> synced;
    store.async_wait_synced(w.context.get_executor(), [&](error_code ec) { synced = ec; });
    {
        Watcher<api::Pod> first(w.context.get_executor(), w.config(), store);
        Watcher<api::Pod> second = std::move(first);
        second.async_run([](error_code) {});
        w.settle();
        CHECK_FALSE(synced);
        CHECK(second.status().error == errc::forbidden);
    }
    w.settle();
    CHECK(synced == boost::asio::error::operation_aborted);
}

TEST_CASE("Watcher: objects outlive it, and its context") {
    std::shared_ptr<const api::Pod> kept;
    {
        Watched w;
        w.server.apply(pod({.name = "a", .labels = {{"app", "web"}}}));
        PodWatcher pods(w, w.config());
        w.settle();
        kept = pods.last;
    }
    CHECK(kept->metadata.labels.find("app") == "web");
}

TEST_CASE("Watcher: a configuration that cannot be used says why") {
    Watched w;
    const auto problem = [&](const WatcherConfig& config) -> std::string {
        try {
            Watcher<api::Pod> pods(w.context.get_executor(), config,
                                   [](const ObjectDiff<api::Pod>&) {});
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "none";
    };
    WatcherConfig config = w.config();
    CHECK(problem(config) == "none");
    config.fields = {"status.podip"};
    CHECK_THAT(problem(config), ContainsSubstring("WatcherConfig::fields: \"status.podip\" is no "
                                                  "field that is read of pods (did you mean "
                                                  "status.podIP?)"));
    config.fields = Fields();
    CHECK_THAT(problem(config), ContainsSubstring("WatcherConfig::fields: none is kept"));
    config = w.config();
    config.label_selector = "app in web";
    CHECK_THAT(problem(config), ContainsSubstring("WatcherConfig::label_selector: "));
    config = w.config();
    config.api_server.url = "ftp://x";
    CHECK_THAT(problem(config), ContainsSubstring("api_server"));
    CHECK_THROWS_AS(Watcher<api::Pod>(w.context.get_executor(), w.config(), nullptr), ConfigError);
    CHECK_THROWS_AS(Watcher<api::Pod>({}, w.config(), [](const ObjectDiff<api::Pod>&) {}),
                    ConfigError);
}

TEST_CASE("Watcher: its store knows when the server was heard of last") {
    Watched w;
    const Store<api::Pod> store;
    Watcher<api::Pod> watcher(w.context.get_executor(), w.config(), store);
    watcher.async_run([](error_code) {});
    CHECK_FALSE(store.last_contact());
    w.settle();
    const auto first = store.last_contact();
    REQUIRE(first);
    w.advance(5min);  // bookmarks, and nothing else
    const auto later = store.last_contact();
    REQUIRE(later);
    CHECK(*later - *first > 3min);
    CHECK(store.generation() == 1);
    w.server.accept_connections(false);
    w.server.disconnect_all();
    w.advance(5min);
    CHECK(store.last_contact() == later);
}

TEST_CASE("Watcher: a batch that throws is repeated before later ones, and makes its store old") {
    Watched w;
    bool has_memory = true;
    Store<api::Pod> store;
    store.index([&](const api::Pod& p) {
        if (!has_memory) throw std::bad_alloc();
        return p.status.pod_ip;
    });
    std::string received;
    Watcher<api::Pod> pods(w.context.get_executor(), w.config(), store,
                           [&](const ObjectDiff<api::Pod>& diff) {
                               received += diff.full ? "full" : "";
                               for (const auto& p : diff.added)
                                   received.append("+").append(p->metadata.name);
                               for (const auto& p : diff.removed)
                                   received.append("-").append(p->metadata.name);
                           });
    pods.async_run([](error_code) {});
    w.server.apply(pod({.name = "a", .ip = "10.0.0.1"}));
    SECTION("the first state") {
        has_memory = false;
        CHECK_THROWS_AS(w.settle(), std::bad_alloc);
        w.settle();
        CHECK_FALSE(store.synced());
    }
    SECTION("a change") {
        w.settle();
        REQUIRE(store.size() == 1);
        has_memory = false;
        w.server.apply(pod({.name = "b", .ip = "10.0.0.2"}));
        CHECK_THROWS_AS(w.settle(), std::bad_alloc);
        w.settle();
        CHECK(store.size() == 1);
    }
    const auto contact = store.last_contact();
    w.advance(500ms);
    w.server.remove("pods", "default", "a");
    w.server.apply(pod({.name = "c", .ip = "10.0.0.3"}));
    w.settle();
    CHECK_THROWS_AS(w.advance(500ms), std::bad_alloc);
    w.settle();
    CHECK(store.last_contact() == contact);
    has_memory = true;
    w.advance(1s);
    CHECK(store.synced());
    CHECK_FALSE(store.find("default", "a"));
    CHECK(store.find("default", "c"));
    CHECK(store.size() == (received.find("+b") == std::string::npos ? 1 : 2));
    CHECK((received == "full+a-a+c" || received == "full+a+c-a" || received == "full+a+b-a+c" ||
           received == "full+a+b+c-a"));
    w.advance(5min);
    CHECK(store.last_contact() > contact);
}

TEST_CASE("Watcher: a diff is delivered again if its predicate throws, not if its callback does") {
    Watched w;
    bool throws_before = false, throws_after = false;
    int received = 0;
    Watcher<api::Pod> pods(
        w.context.get_executor(), w.config(),
        [&](const ObjectDiff<api::Pod>&) {
            ++received;
            if (throws_after) throw std::runtime_error("host");
        },
        [&](const api::Pod&, const api::Pod&) {
            if (throws_before) throw std::bad_alloc();
            return true;
        });
    pods.async_run([](error_code) {});
    w.server.apply(pod({.name = "a", .ip = "10.0.0.1"}));
    w.settle();
    CHECK(received == 1);
    throws_before = true;
    w.server.apply(pod({.name = "a", .ip = "10.0.0.2"}));
    CHECK_THROWS_AS(w.settle(), std::bad_alloc);
    throws_before = false;
    throws_after = true;
    CHECK_THROWS_AS(w.advance(1s), std::runtime_error);
    CHECK(received == 2);
    w.advance(1min);
    CHECK(received == 2);
}
