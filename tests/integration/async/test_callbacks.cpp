#include "k8s_sd/access.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "support/acting_host.hpp"
#include "support/config_fixtures.hpp"
#include "support/data_objects.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// In each callback of each public handle, the host cancels, destroys, replaces and calls the
// handle. These tests show that no code uses a destroyed object, and that no callback waits for
// itself. Most of them need no checks: AddressSanitizer and the time limit detect both.

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// With short pauses, so that all lists and polls arrive.
DiscoveryConfig acting_config(Simulation& s, Role role = Role::pod) {
    DiscoveryConfig config{.watch = plain_lists()};
    config.role = role;
    config.api_server.url = s.server.url();
    return config;
}

/// A Discoverer with all its callbacks, including those of operations.
struct ActingDiscoverer {
    explicit ActingDiscoverer(Simulation& s) : sim(s) { handle.emplace(make()); }
    Discoverer make() {
        return Discoverer(sim.context.get_executor(), acting_config(sim),
                          [this](const TargetGroupDiff&) { acting.on_callback(); });
    }
    void begin() {
        handle->set_status_callback([this](const DiscovererStatus&) { acting.on_callback(); });
        handle->async_wait_synced([this](error_code) { acting.on_callback(); });
        handle->async_run([this](error_code) { acting.on_callback(); });
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it: handle->status(); break;
        }
        begin();
    }

    Simulation& sim;
    ActingHost acting;
    std::optional<Discoverer> handle;
};

/// A Discoverer with a reading host.
struct ReadDiscoverer {
    explicit ReadDiscoverer(Simulation& s) : sim(s) { handle.emplace(make()); }
    Discoverer make() { return Discoverer(sim.context.get_executor(), acting_config(sim)); }
    void begin() {
        handle->async_next([this](error_code ec, const TargetGroupDiff&) {
            acting.on_callback();
            if (!ec && handle) begin();
        });
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it: handle->status(); break;
        }
        begin();
    }

    Simulation& sim;
    ActingHost acting;
    std::optional<Discoverer> handle;
};

/// Requires a token for every request: the host's callback runs on a strand of the library.
struct ActingTokens {
    struct Source final : TokenSource {
        explicit Source(ActingTokens& owner) : host(owner) {}
        void async_get_token(bool, Handler handler) override {
            host.acting.on_callback();
            handler({}, {}, {.value = "one"});
        }
        ActingTokens& host;
    };
    explicit ActingTokens(Simulation& s) : sim(s) { handle.emplace(make()); }
    Discoverer make() {
        DiscoveryConfig config = acting_config(sim);
        config.api_server.auth.token_source = source;
        return Discoverer(sim.context.get_executor(), config,
                          [this](const TargetGroupDiff&) { acting.on_callback(); });
    }
    void begin() {
        handle->async_run([this](error_code) { acting.on_callback(); });
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: source.reset(); return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it: handle->status(); break;
        }
        begin();
    }

    Simulation& sim;
    ActingHost acting;
    std::shared_ptr<TokenSource> source = std::make_shared<Source>(*this);
    std::optional<Discoverer> handle;
};

struct ActingManager {
    explicit ActingManager(Simulation& s) : sim(s) { handle.emplace(make()); }
    DiscoveryManager make() {
        return DiscoveryManager(sim.context.get_executor(),
                                [this](const JobDiff&) { acting.on_callback(); });
    }
    void begin() {
        apply(1);
        handle->async_run([this](error_code) { acting.on_callback(); });
    }
    void apply(int variant) {
        DiscoveryConfig other = acting_config(sim);
        other.namespaces = {"default"};
        Job first{"first", {acting_config(sim)}};
        Job second{"second", {variant == 1 ? acting_config(sim, Role::service) : other}};
        second.static_configs = {{.targets = {"10.0.0.9:80"}}};
        handle->apply_config({first, second});
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it:
                for (const JobStatus& job : handle->status()) {
                    handle->snapshot(job.name);
                    handle->providers(job.name);
                }
                apply(2);
                handle->apply_config({});
                break;
        }
        begin();
    }

    Simulation& sim;
    ActingHost acting;
    std::optional<DiscoveryManager> handle;
};

template <class T>
struct ActingWatcher {
    explicit ActingWatcher(Simulation& s) : sim(s) { handle.emplace(make()); }
    Watcher<T> make() {
        WatcherConfig config;
        config.api_server.url = sim.server.url();
        config.watch = plain_lists();
        if constexpr (std::is_same_v<T, Generic>)
            config.resource = {.group = "", .kind = "Pod", .version = "v1"};
        return Watcher<T>(sim.context.get_executor(), config,
                          [this](const ObjectDiff<T>&) { acting.on_callback(); });
    }
    void begin() {
        handle->set_status_callback([this](const DiscovererStatus&) { acting.on_callback(); });
        handle->async_wait_synced([this](error_code) { acting.on_callback(); });
        handle->async_run([this](error_code) { acting.on_callback(); });
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it: handle->status(); break;
        }
        begin();
    }

    Simulation& sim;
    ActingHost acting;
    std::optional<Watcher<T>> handle;
};

/// The observer of a GroupWatcher, which is called on the strand of the watches.
struct ActingGroups {
    struct Observer final : GroupWatcher::Observer {
        explicit Observer(ActingGroups& owner) : host(owner) {}
        void on_ready(const std::shared_ptr<const TargetGroupDiff>&) override { act(); }
        void on_changes(const std::vector<GroupChange>&) override { act(); }
        void on_status() override { act(); }
        void act() { host.acting.on_callback(); }
        ActingGroups& host;
    };
    explicit ActingGroups(Simulation& s) : sim(s) {}
    void begin() {
        watcher = GroupWatcher::acquire(sim.context.get_executor(), resolve(acting_config(sim)));
        // A second watcher of the same server has watches on the same strand.
        DiscoveryConfig named = acting_config(sim);
        named.namespaces = {"default"};
        other = GroupWatcher::acquire(sim.context.get_executor(), resolve(named));
        observer = std::make_shared<Observer>(*this);
        subscription = watcher->subscribe(Role::pod, observer);
        other_subscription = other->subscribe(Role::pod, observer);
    }
    void end() {
        subscription.reset();
        other_subscription.reset();
        watcher.reset();
        other.reset();
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return subscription.reset();
            case HostAct::destroy: end(); return observer.reset();
            case HostAct::replace: return begin();
            case HostAct::call_it:
                watcher->status(Role::pod);
                more.push_back(watcher->subscribe(Role::node, observer));
                more.push_back(other->subscribe(Role::pod, observer));
                return;
        }
    }

    Simulation& sim;
    ActingHost acting;
    std::shared_ptr<Observer> observer;
    std::shared_ptr<GroupWatcher> watcher, other;
    GroupWatcher::Subscription subscription, other_subscription;
    std::vector<GroupWatcher::Subscription> more;
};

struct ActingURLWatcher final : WatchObserver {
    explicit ActingURLWatcher(Simulation& s) : sim(s) {}
    void begin() {
        ApiServerConfig server;
        server.url = sim.server.url();
        client = std::make_shared<ApiClient>(sim.context.get_executor(), server, sim.environment());
        watcher = std::make_unique<URLWatcher>(client, WatchQuery{}, plain_lists(),
                                               static_cast<WatchObserver&>(*this));
        watcher->start();
    }
    void on_change(const ObjectChange&) override { acting.on_callback(); }
    void on_synced() override { acting.on_callback(); }
    void on_batch_end() override { acting.on_callback(); }
    void on_status() override { acting.on_callback(); }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return watcher.reset();
            case HostAct::destroy: watcher.reset(); return client.reset();
            case HostAct::replace: return begin();
            case HostAct::call_it:
                watcher->start();
                watcher->status();
                watcher->for_each([](const ObjectPtr&) {});
                return watcher->forget("default", "b");
        }
    }

    Simulation& sim;
    ActingHost acting;
    std::shared_ptr<ApiClient> client;
    std::unique_ptr<URLWatcher> watcher;
};

struct ActingCache {
    explicit ActingCache(Simulation& s) : sim(s) {
        sim.server.apply(secret("one", {{"token", "1"}}));
        sim.server.apply(immutable(secret("two", {{"token", "2"}})));
        handle.emplace(make());
    }
    ObjectCache make() {
        ObjectCacheConfig config;
        config.api_server.url = sim.server.url();
        config.watch = plain_lists(config.watch);
        config.collection_threshold = 2;
        return ObjectCache(sim.context.get_executor(), config);
    }
    void begin() {
        for (const char* name : {"one", "two", "none"}) {
            subscriptions.push_back(handle->subscribe(
                "shop", name, [this](const ObjectPtr&) { acting.on_callback(); }));
            references.push_back(handle->add_reference("shop", name));
            handle->async_get("shop", name,
                              [this](error_code, const ObjectPtr&) { acting.on_callback(); });
        }
        handle->async_get("shop", "unknown",
                          [this](error_code, const ObjectPtr&) { acting.on_callback(); });
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel:
                subscriptions.clear();
                references.clear();
                return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it:
                handle->status();
                handle->read_again("shop", "two");
                subscriptions.clear();
                break;
        }
        begin();
    }

    Simulation& sim;
    ActingHost acting;
    std::optional<ObjectCache> handle;
    std::vector<ObjectCache::Reference> references;
    std::vector<ObjectCache::Subscription> subscriptions;
};

/// A source of members that is a public handle as well.
struct ActingMembership {
    struct Source final : MemberSource {
        explicit Source(ActingMembership& owner) : host(owner) {}
        void start(Callback callback) override {
            report = std::move(callback);
            host.acting.on_callback();
            see({"a"});
        }
        void stop() noexcept override { report = nullptr; }
        void announce(MemberState) override { host.acting.on_callback(); }
        void see(const std::vector<std::string>& names) {
            if (!report) return;
            FleetSighting sighting;
            sighting.in_sight = true;
            for (const auto& name : names) sighting.members.push_back({name});
            const Callback received = report;
            asio::post(host.sim.context, [received, sighting] { received(sighting); });
        }
        ActingMembership& host;
        Callback report;
    };
    explicit ActingMembership(Simulation& s) : sim(s) { handle.emplace(make()); }
    Membership make() {
        source = std::make_shared<Source>(*this);
        MembershipConfig config;
        config.source = source;
        config.self = "a";
        config.snapshot_directory = directory.path("views");
        return Membership(sim.context.get_executor(), config,
                          [this](const FleetShare&) { acting.on_callback(); });
    }
    void begin() {
        handle->async_run([this](error_code) { acting.on_callback(); });
        handle->set_synced();
        timer = sim.clock->make_timer(sim.context.get_executor());
        timer->expires_at(sim.clock->now() + 5s, [this] { source->see({"a", "b"}); });
    }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it:
                handle->status();
                handle->share();
                handle->set_synced(false);
                handle->leave();
                break;
        }
        begin();
    }

    Simulation& sim;
    TemporaryDirectory directory;
    ActingHost acting;
    std::shared_ptr<Source> source;
    std::unique_ptr<Timer> timer;
    std::optional<Membership> handle;
};

struct ActingReloader {
    explicit ActingReloader(Simulation& s) : sim(s) {
        write("a");
        handle.emplace(make());
    }
    ScrapeConfigReloader make() {
        return {sim.context.get_executor(), directory.path("p.yml"), ScrapeConfigOptions{}, 5s,
                [this](const ScrapeConfigUpdate&) { on_update(); }};
    }
    void write(const std::string& job) {
        directory.write("p.yml", "scrape_configs: [{job_name: " + job + "}]\n");
    }
    void on_update() {
        write(jobs.empty() ? "{" : jobs.back());
        if (!jobs.empty()) jobs.pop_back();
        acting.on_callback();
    }
    void begin() { handle->start(); }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return handle->cancel();
            case HostAct::destroy: return handle.reset();
            case HostAct::replace: *handle = make(); break;
            case HostAct::call_it: handle->check(); break;
        }
        begin();
    }

    Simulation& sim;
    TemporaryDirectory directory;
    std::vector<std::string> jobs{"b", "c", "d"};
    ActingHost acting;
    std::optional<ScrapeConfigReloader> handle;
};

/// Receives the steps of a check; the only handle is the operation.
struct ActingCheck {
    explicit ActingCheck(Simulation& s) : sim(s) {}
    void begin() {
        async_check_access(
            sim.context.get_executor(), acting_config(sim),
            [this](const AccessCheckLine&) { acting.on_callback(); }, 1s,
            asio::bind_cancellation_slot(signal.slot(),
                                         [this](error_code, bool) { acting.on_callback(); }));
    }
    void act(HostAct act) {
        if (act == HostAct::call_it) {
            async_check_access(
                sim.context.get_executor(), acting_config(sim), [](const AccessCheckLine&) {}, 1s,
                [](error_code, bool) {});
        } else {
            signal.emit(asio::cancellation_type::terminal);
        }
    }

    Simulation& sim;
    ActingHost acting;
    asio::cancellation_signal signal;
};

/// A pool, and a scraper that calls the pool from within its handler.
struct ActingScraper final : TargetHandler {
    void begin() {
        pool.emplace(config("one"), static_cast<TargetHandler&>(*this));
        use([](TargetPool& p) { p.apply(full_diff(groups({"a", "b", "c"}))); });
        use([](TargetPool& p) { p.apply(full_diff(groups({"b", "c", "d"}))); });
        use([](TargetPool& p) { p.reload(config("two")); });
        use([](TargetPool& p) { p.share(FleetShare(two_members(), "x"), TimePoint(1h)); });
        use([](TargetPool& p) { p.finish_handovers(TimePoint(2h)); });
        use([](TargetPool& p) { p.clear(); });
    }
    static ScrapeConfig config(const std::string& name) {
        ScrapeConfig config;
        config.job_name = name;
        config.target_limit = 2;
        return config;
    }
    static FleetViewPtr two_members() {
        return std::make_shared<const FleetView>(std::vector<std::string>{"x", "y"});
    }
    static std::vector<TargetGroupPtr> groups(const std::vector<std::string>& names) {
        std::vector<TargetGroupPtr> groups;
        for (const std::string& name : names)
            groups.push_back(make_group(name, {{{"__address__", name + ":80"}}}));
        return groups;
    }
    void use(const std::function<void(TargetPool&)>& call) {
        if (pool) call(*pool);
    }
    void stop(TargetId id, const ScrapeTargetPtr& target, StopReason) noexcept override {
        const auto it = running.find(id);
        if (it == running.end() || !it->second->same_as(*target)) complaints += "stops another; ";
        if (it != running.end()) running.erase(it);
        acting.on_callback();
    }
    void keep(TargetId id, const ScrapeTargetPtr& target) noexcept override {
        const auto it = running.find(id);
        if (it == running.end() || !it->second->same_as(*target)) complaints += "keeps another; ";
        acting.on_callback();
    }
    void start(TargetId id, const ScrapeTargetPtr& target) noexcept override {
        for (const auto& [other, known] : running) {
            if (other == id || known->same_as(*target)) complaints += "starts it twice; ";
        }
        running.emplace(id, target);
        acting.on_callback();
    }
    void reconfigure(const ScrapeConfig&, const ScrapeConfig&) noexcept override {
        acting.on_callback();
    }
    void over_limit(bool) noexcept override { acting.on_callback(); }
    void act(HostAct act) {
        switch (act) {
            case HostAct::cancel: return pool->clear();
            case HostAct::destroy: return pool.reset();
            case HostAct::replace:
                *pool = TargetPool(config("three"), static_cast<TargetHandler&>(*this));
                return;
            case HostAct::call_it:
                pool->apply(full_diff(groups({"e", "b"})));
                pool->reload(config("four"));
                pool->apply(full_diff(groups({"a", "d", "e"})));
                return;
        }
    }

    std::map<TargetId, ScrapeTargetPtr> running;
    std::string complaints;
    ActingHost acting;
    std::optional<TargetPool> pool;
};

}  // namespace

TEST_CASE("Callbacks: a host may do anything to a Discoverer in each of its callbacks") {
    act_in_each_callback<ActingDiscoverer>();
}

TEST_CASE("Callbacks: a host may do anything to a Discoverer that it reads, in each handler") {
    act_in_each_callback<ReadDiscoverer>();
}

TEST_CASE("Callbacks: a host may do anything to a Discoverer when it is asked for a token") {
    act_in_each_callback<ActingTokens>();
}

TEST_CASE("Callbacks: a host may do anything to a DiscoveryManager in each of its callbacks") {
    act_in_each_callback<ActingManager>();
}

TEST_CASE("Callbacks: a host may do anything to a Watcher in each of its callbacks") {
    act_in_each_callback<ActingWatcher<api::Pod>>();
    act_in_each_callback<ActingWatcher<Generic>>();
}

TEST_CASE("Callbacks: an observer of a GroupWatcher may do anything to it in a callback") {
    act_in_each_callback<ActingGroups>();
}

TEST_CASE("Callbacks: an observer of a URLWatcher may do anything to it in a callback") {
    act_in_each_callback<ActingURLWatcher>();
}

TEST_CASE("Callbacks: a host may do anything to an ObjectCache in each of its callbacks") {
    act_in_each_callback<ActingCache>();
}

TEST_CASE("Callbacks: a host may do anything to a Membership in each of its callbacks") {
    act_in_each_callback<ActingMembership>();
}

TEST_CASE("Callbacks: a host may do anything to a ScrapeConfigReloader in each of its callbacks") {
    act_in_each_callback<ActingReloader>();
}

TEST_CASE("Callbacks: a host may end an access check at each of its steps") {
    act_in_each_callback<ActingCheck>();
}

TEST_CASE("Callbacks: a scraper may do anything to its TargetPool in a callback") {
    for (const HostAct act : host_acts) {
        CAPTURE(to_string(act));
        int callback = 0;
        for (bool acted = true; acted; ++callback) {
            CAPTURE(callback);
            ActingScraper host;
            host.acting.act_in(callback, [&] { host.act(act); });
            host.begin();
            acted = host.acting.acted();
            if (act == HostAct::destroy && acted) CHECK(host.acting.callbacks() == callback + 1);
            if (act == HostAct::cancel || act == HostAct::call_it) {
                CHECK(host.complaints.empty());
                CHECK(host.running.size() == host.pool->active_count());
            }
            REQUIRE(callback < 200);
        }
        CHECK(callback > 10);
    }
}
