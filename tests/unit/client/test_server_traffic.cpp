#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/server_traffic.hpp"
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

using Permit = ServerTraffic::Permit;
using RequestHandle = ServerTraffic::RequestHandle;

struct TrafficFixture {
    explicit TrafficFixture(ServerLimits limits)
        : traffic(std::make_shared<ServerTraffic>(limits, metrics)) {}

    /// Keeps its permit, and records the grant.
    RequestHandle ask(const std::string& name) {
        return traffic->async_list_permit(context.get_executor(), [this, name](Permit permit) {
            CHECK(permit);
            served.push_back(name);
            permits.push_back(std::move(permit));
        });
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    std::vector<std::string> served;
    std::vector<Permit> permits;
    std::shared_ptr<ServerTraffic> traffic;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("lists wait for their turn, first come, first served") {
    TrafficFixture f({.concurrent_lists = 2});
    std::vector<RequestHandle> handles;
    for (const char* name : {"a", "b", "c", "d"}) handles.push_back(f.ask(name));
    CHECK(f.served.empty());  // posted
    CHECK(f.metrics->lists_waiting == 2);
    CHECK(f.metrics->lists_running == 2);
    f.settle();
    CHECK(f.served == Names{"a", "b"});
    f.permits.erase(f.permits.begin());
    CHECK(f.served.size() == 2);
    f.settle();
    CHECK(f.served == Names{"a", "b", "c"});
    f.permits.clear();
    f.settle();
    CHECK(f.served == Names{"a", "b", "c", "d"});
    CHECK(f.metrics->lists_waiting == 0);
    CHECK(f.metrics->lists_running == 1);
    f.permits.clear();
    CHECK(f.metrics->lists_running == 0);
}

TEST_CASE("a limit of zero is none") {
    TrafficFixture f({.concurrent_lists = 0, .watches = 0});
    std::vector<RequestHandle> handles;
    for (int i = 0; i < 100; ++i) handles.push_back(f.ask("any"));
    f.settle();
    CHECK(f.permits.size() == 100);
    CHECK(f.traffic->try_list_permit());
    std::vector<Permit> watches;
    for (int i = 0; i < 1000; ++i) watches.push_back(f.traffic->try_watch_permit());
    CHECK(watches.back());
    CHECK(f.metrics->open_watches == 1000);
}

TEST_CASE("a list permit without a queue is granted only while no request waits") {
    TrafficFixture f({.concurrent_lists = 1});
    std::optional<Permit> first = f.traffic->try_list_permit();
    REQUIRE(*first);
    CHECK_FALSE(f.traffic->try_list_permit());
    const RequestHandle waiting = f.ask("queued");
    first.reset();
    CHECK_FALSE(f.traffic->try_list_permit());  // it is granted already
    f.settle();
    CHECK(f.served == Names{"queued"});
    f.permits.clear();
    CHECK(f.traffic->try_list_permit());
}

TEST_CASE("watches have a limit of their own, and do not queue") {
    TrafficFixture f({.concurrent_lists = 1, .watches = 2});
    Permit list = f.traffic->try_list_permit();
    Permit one = f.traffic->try_watch_permit();
    Permit two = f.traffic->try_watch_permit();
    CHECK(two);
    CHECK_FALSE(f.traffic->try_watch_permit());
    CHECK(f.metrics->open_watches == 2);
    one = std::move(two);
    CHECK(f.metrics->open_watches == 1);
    CHECK(f.traffic->try_watch_permit());
    one.reset();
    CHECK(f.metrics->open_watches == 0);
}

TEST_CASE("one watch tests for streamed lists, and the others learn that it has ended") {
    using Trial = ServerTraffic::StreamTrial;
    TrafficFixture f({});
    const auto expect = [&](const std::string& name) {
        return f.traffic->async_stream_trial_end(f.context.get_executor(),
                                                 [&f, name] { f.served.push_back(name); });
    };
    Trial trial = f.traffic->try_stream_trial(Kind::pod);
    CHECK(trial);
    CHECK_FALSE(f.traffic->try_stream_trial(Kind::service));  // of the same server
    const RequestHandle first = expect("first");
    std::optional<RequestHandle> gone = expect("gone");
    const RequestHandle second = expect("second");
    gone.reset();
    f.settle();
    CHECK(f.served.empty());
    SECTION("destroyed") { Trial(std::move(trial)); }
    SECTION("replaced") { trial = Trial(); }
    SECTION("reset") { trial.reset(); }
    CHECK(f.served.empty());  // posted
    f.settle();
    CHECK(f.served == Names{"first", "second"});
    const RequestHandle late = expect("late");
    f.settle();
    CHECK(f.served.back() == "late");
    CHECK(f.traffic->try_stream_trial(Kind::service));
}

TEST_CASE("a request that was withdrawn is not served, wherever it was") {
    TrafficFixture f({.concurrent_lists = 1});
    std::optional<RequestHandle> granted = f.ask("granted");
    std::optional<RequestHandle> second = f.ask("second");
    const RequestHandle third = f.ask("third");
    SECTION("still in line") {
        second.reset();
        CHECK(f.metrics->lists_waiting == 1);
        f.settle();
        CHECK(f.served == Names{"granted"});
        f.permits.clear();
    }
    SECTION("granted, but not delivered: the permit goes to the next request at once") {
        granted.reset();
        second.reset();
        CHECK(f.metrics->lists_running == 1);
    }
    f.settle();
    CHECK(f.served.back() == "third");
    f.permits.clear();
    CHECK(f.metrics->lists_running == 0);
    CHECK(f.metrics->lists_waiting == 0);
}

TEST_CASE("a handler may end and begin whatever it likes") {
    TrafficFixture f({.concurrent_lists = 1});
    RequestHandle own, other;
    std::vector<RequestHandle> more;
    own = f.traffic->async_list_permit(f.context.get_executor(), [&](Permit permit) {
        own.reset();
        other.reset();
        more.push_back(f.ask("of the handler"));
        permit.reset();
        CHECK_FALSE(f.traffic->try_list_permit());
        f.served.push_back("first");
    });
    other = f.ask("other");
    f.settle();
    CHECK(f.served == Names{"first", "of the handler"});
}

TEST_CASE("the state of a handler may own handles and permits") {
    TrafficFixture f({.concurrent_lists = 1});
    auto owned = std::make_shared<std::pair<RequestHandle, Permit>>();
    owned->second = f.traffic->try_list_permit();
    owned->first = f.ask("owned");
    RequestHandle owner =
        f.traffic->async_list_permit(f.context.get_executor(), [o = std::move(owned)](Permit) {});
    owner.reset();
    CHECK(f.metrics->lists_running == 0);
    CHECK(f.metrics->lists_waiting == 0);
    f.settle();
    CHECK(f.served.empty());
}

TEST_CASE("a recovery is reported once, at the first success after a failure") {
    TrafficFixture f({});
    int received = 0;
    const auto ask = [&] {
        return f.traffic->async_recovery(f.context.get_executor(), [&] { ++received; });
    };
    RequestHandle one = ask();
    f.traffic->on_success();  // nothing has failed
    f.settle();
    CHECK(received == 0);
    f.traffic->on_failure();
    RequestHandle two = ask();
    RequestHandle withdrawn = ask();
    RequestHandle withdrawn_late = ask();
    withdrawn.reset();
    f.traffic->on_failure();
    f.traffic->on_success();
    CHECK(received == 0);
    withdrawn_late.reset();
    f.settle();
    CHECK(received == 2);
    f.traffic->on_failure();
    f.traffic->on_success();
    f.settle();
    CHECK(received == 2);
}

TEST_CASE("a stopped executor keeps no permit, however many requests wait") {
    TrafficFixture f({.concurrent_lists = 1});
    std::vector<RequestHandle> handles;
    std::vector<test::HeldExecutor> executors;
    {
        asio::io_context ended;
        const test::HeldExecutor held(ended);
        executors.push_back(held);
        Permit permit = f.traffic->try_list_permit();
        for (int i = 0; i < 10'000; ++i) {
            handles.push_back(f.traffic->async_list_permit(held, [&](Permit) { FAIL(); }));
        }
        permit.reset();
        held.let_go();
    }
    const RequestHandle last = f.ask("last");
    handles.clear();
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
    const Permit only = traffic->try_list_permit();
    CHECK(only);
    CHECK_FALSE(traffic->try_list_permit());
    const std::weak_ptr<ServerTraffic> weak = service.traffic_of(server("https://brief.test"));
    CHECK(weak.expired());
}

}  // namespace k8s_sd::detail
