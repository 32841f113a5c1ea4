#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/detail/net/server_traffic.hpp"
#include "support/held_executor.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using Place = ServerTraffic::Place;
using Ticket = ServerTraffic::Ticket;

struct TrafficFixture {
    explicit TrafficFixture(ServerLimits limits)
        : traffic(std::make_shared<ServerTraffic>(limits, metrics)) {}

    /// Keeps its permit, and records the grant.
    Ticket ask(const std::string& name) {
        return traffic->async_list_place(context.get_executor(), [this, name](Place place) {
            CHECK(place);
            served.push_back(name);
            places.push_back(std::move(place));
        });
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    std::vector<std::string> served;
    std::vector<Place> places;
    std::shared_ptr<ServerTraffic> traffic;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("lists wait for their turn, first come, first served") {
    TrafficFixture f({.concurrent_lists = 2});
    std::vector<Ticket> tickets;
    for (const char* name : {"a", "b", "c", "d"}) tickets.push_back(f.ask(name));
    CHECK(f.served.empty());  // posted
    CHECK(f.metrics->lists_waiting == 2);
    CHECK(f.metrics->lists_running == 2);
    f.settle();
    CHECK(f.served == Names{"a", "b"});
    f.places.erase(f.places.begin());
    CHECK(f.served.size() == 2);
    f.settle();
    CHECK(f.served == Names{"a", "b", "c"});
    f.places.clear();
    f.settle();
    CHECK(f.served == Names{"a", "b", "c", "d"});
    CHECK(f.metrics->lists_waiting == 0);
    CHECK(f.metrics->lists_running == 1);
    f.places.clear();
    CHECK(f.metrics->lists_running == 0);
}

TEST_CASE("a limit of zero is none") {
    TrafficFixture f({.concurrent_lists = 0, .watches = 0});
    std::vector<Ticket> tickets;
    for (int i = 0; i < 100; ++i) tickets.push_back(f.ask("any"));
    f.settle();
    CHECK(f.places.size() == 100);
    CHECK(f.traffic->try_list_place());
    std::vector<Place> watches;
    for (int i = 0; i < 1000; ++i) watches.push_back(f.traffic->try_watch_place());
    CHECK(watches.back());
    CHECK(f.metrics->open_watches == 1000);
}

TEST_CASE("who does not queue gets a place only if nobody does") {
    TrafficFixture f({.concurrent_lists = 1});
    std::optional<Place> first = f.traffic->try_list_place();
    REQUIRE(*first);
    CHECK_FALSE(f.traffic->try_list_place());
    const Ticket waiting = f.ask("queued");
    first.reset();
    CHECK_FALSE(f.traffic->try_list_place());  // it is granted already
    f.settle();
    CHECK(f.served == Names{"queued"});
    f.places.clear();
    CHECK(f.traffic->try_list_place());
}

TEST_CASE("watches have a limit of their own, and do not queue") {
    TrafficFixture f({.concurrent_lists = 1, .watches = 2});
    Place list = f.traffic->try_list_place();
    Place one = f.traffic->try_watch_place();
    Place two = f.traffic->try_watch_place();
    CHECK(two);
    CHECK_FALSE(f.traffic->try_watch_place());
    CHECK(f.metrics->open_watches == 2);
    one = std::move(two);
    CHECK(f.metrics->open_watches == 1);
    CHECK(f.traffic->try_watch_place());
    one.reset();
    CHECK(f.metrics->open_watches == 0);
}

TEST_CASE("a request that was withdrawn is not served, wherever it was") {
    TrafficFixture f({.concurrent_lists = 1});
    std::optional<Ticket> granted = f.ask("granted");
    std::optional<Ticket> second = f.ask("second");
    const Ticket third = f.ask("third");
    SECTION("still in line") {
        second.reset();
        CHECK(f.metrics->lists_waiting == 1);
        f.settle();
        CHECK(f.served == Names{"granted"});
        f.places.clear();
    }
    SECTION("granted, but not told: its place goes to the next at once") {
        granted.reset();
        second.reset();
        CHECK(f.metrics->lists_running == 1);
    }
    f.settle();
    CHECK(f.served.back() == "third");
    f.places.clear();
    CHECK(f.metrics->lists_running == 0);
    CHECK(f.metrics->lists_waiting == 0);
}

TEST_CASE("a handler may end and begin whatever it likes") {
    TrafficFixture f({.concurrent_lists = 1});
    Ticket own, other;
    std::vector<Ticket> more;
    own = f.traffic->async_list_place(f.context.get_executor(), [&](Place place) {
        own.reset();
        other.reset();
        more.push_back(f.ask("of the handler"));
        place.reset();
        CHECK_FALSE(f.traffic->try_list_place());
        f.served.push_back("first");
    });
    other = f.ask("other");
    f.settle();
    CHECK(f.served == Names{"first", "of the handler"});
}

TEST_CASE("what a handler owns may own tickets and places") {
    TrafficFixture f({.concurrent_lists = 1});
    auto owned = std::make_shared<std::pair<Ticket, Place>>();
    owned->second = f.traffic->try_list_place();
    owned->first = f.ask("owned");
    Ticket owner =
        f.traffic->async_list_place(f.context.get_executor(), [o = std::move(owned)](Place) {});
    owner.reset();
    CHECK(f.metrics->lists_running == 0);
    CHECK(f.metrics->lists_waiting == 0);
    f.settle();
    CHECK(f.served.empty());
}

TEST_CASE("a recovery is told once, when a success follows a failure") {
    TrafficFixture f({});
    int told = 0;
    const auto ask = [&] {
        return f.traffic->async_recovery(f.context.get_executor(), [&] { ++told; });
    };
    Ticket one = ask();
    f.traffic->on_success();  // nothing has failed
    f.settle();
    CHECK(told == 0);
    f.traffic->on_failure();
    Ticket two = ask();
    Ticket withdrawn = ask();
    Ticket withdrawn_late = ask();
    withdrawn.reset();
    f.traffic->on_failure();
    f.traffic->on_success();
    CHECK(told == 0);
    withdrawn_late.reset();
    f.settle();
    CHECK(told == 2);
    f.traffic->on_failure();
    f.traffic->on_success();
    f.settle();
    CHECK(told == 2);
}

TEST_CASE("an executor that runs no more keeps no place, however many wait") {
    TrafficFixture f({.concurrent_lists = 1});
    std::vector<Ticket> tickets;
    std::vector<test::HeldExecutor> executors;
    {
        asio::io_context ended;
        const test::HeldExecutor held(ended);
        executors.push_back(held);
        Place place = f.traffic->try_list_place();
        for (int i = 0; i < 10'000; ++i) {
            tickets.push_back(f.traffic->async_list_place(held, [&](Place) { FAIL(); }));
        }
        place.reset();
        held.let_go();
    }
    const Ticket last = f.ask("last");
    tickets.clear();
    f.settle();
    CHECK(f.served == Names{"last"});
    executors.front().let_go();  // the handler arrives after the end of its context
}

TEST_CASE("install: comes too late after anything has used the context, and says so") {
    const auto what = [](asio::io_context& context) {
        try {
            install(context, {});
        } catch (const asio::service_already_exists& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    asio::io_context installed;
    CHECK(what(installed).empty());
    asio::io_context used;
    metrics_of(used);
    for (asio::io_context* context : {&installed, &used}) {
        CHECK(what(*context).find("call k8s_sd::install() once, before the first Discoverer or "
                                  "metrics_of()") != std::string::npos);
    }
}

TEST_CASE("all clients of a server in one context share its traffic") {
    asio::io_context context;
    asio::io_context elsewhere;
    Environment environment;
    environment.limits.concurrent_lists = 1;
    install(context, environment);
    const auto server = [](const std::string& url) {
        ApiServerConfig config;
        config.url = url;
        return config;
    };
    auto& service = ContextEnvironment::of(context.get_executor());
    auto traffic = service.traffic_of(server("https://Api.Test:443/"));
    CHECK(traffic == service.traffic_of(server("https://api.test")));
    CHECK(traffic != service.traffic_of(server("https://other.test")));
    CHECK(traffic !=
          ContextEnvironment::of(elsewhere.get_executor()).traffic_of(server("https://api.test")));
    const Place only = traffic->try_list_place();
    CHECK(only);
    CHECK_FALSE(traffic->try_list_place());
    const std::weak_ptr<ServerTraffic> weak = service.traffic_of(server("https://brief.test"));
    CHECK(weak.expired());
}

}  // namespace k8s_sd::detail
