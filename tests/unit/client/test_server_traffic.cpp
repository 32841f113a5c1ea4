#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/server_traffic.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using Permit = PermitQueue::Permit;
using RequestHandle = ServerTraffic::RequestHandle;

struct TrafficFixture {
    explicit TrafficFixture(ServerLimits limits)
        : traffic(std::make_shared<ServerTraffic>(limits, metrics)) {}

    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    std::vector<std::string> served;
    std::shared_ptr<ServerTraffic> traffic;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("lists, watches and connects have limits of their own") {
    TrafficFixture f({.concurrent_lists = 1, .watches = 1, .concurrent_connects = 1});
    const Permit list = f.traffic->list_permits->try_permit();
    const Permit watch = f.traffic->watch_permits->try_permit();
    const Permit connect = f.traffic->connect_permits->try_permit();
    CHECK((list && watch && connect));
    for (const Metrics::Gauge* granted :
         {&f.metrics->lists_running, &f.metrics->open_watches, &f.metrics->connects_running}) {
        CHECK(*granted == 1);
    }
    for (const auto& permits :
         {f.traffic->list_permits, f.traffic->watch_permits, f.traffic->connect_permits}) {
        CHECK_FALSE(permits->try_permit());
    }
    const auto more_lists =
        f.traffic->list_permits->async_permit(f.context.get_executor(), [](Permit) {});
    CHECK(f.metrics->lists_waiting == 1);
    CHECK(f.metrics->connects_waiting == 0);
    const auto more_connects =
        f.traffic->connect_permits->async_permit(f.context.get_executor(), [](Permit) {});
    CHECK(f.metrics->connects_waiting == 1);
}

TEST_CASE("an eighth of the connects is reserved for short requests") {
    using Urgency = PermitQueue::Urgency;
    struct Row {
        std::size_t limit, watches, all;
    };
    for (const auto [limit, watches, all] :
         {Row{32, 28, 32}, Row{8, 7, 8}, Row{7, 7, 7}, Row{1, 1, 1}}) {
        CAPTURE(limit);
        TrafficFixture f({.concurrent_connects = limit});
        std::vector<Permit> permits;
        const auto take = [&](Urgency urgency) {
            Permit permit = f.traffic->connect_permits->try_permit(urgency);
            if (permit) permits.push_back(std::move(permit));
        };
        for (std::size_t i = 0; i < 2 * limit; ++i) take(Urgency::normal);
        CHECK(permits.size() == watches);
        for (std::size_t i = 0; i < limit; ++i) take(Urgency::urgent);
        CHECK(permits.size() == all);
    }
}

TEST_CASE("watches have a limit of their own, and do not queue") {
    TrafficFixture f({.concurrent_lists = 1, .watches = 2});
    Permit list = f.traffic->list_permits->try_permit();
    Permit one = f.traffic->watch_permits->try_permit();
    Permit two = f.traffic->watch_permits->try_permit();
    CHECK(two);
    CHECK_FALSE(f.traffic->watch_permits->try_permit());
    CHECK(f.metrics->open_watches == 2);
    one = std::move(two);
    CHECK(f.metrics->open_watches == 1);
    CHECK(f.traffic->watch_permits->try_permit());
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
    const Permit only = traffic->list_permits->try_permit();
    CHECK(only);
    CHECK_FALSE(traffic->list_permits->try_permit());
    const std::weak_ptr<ServerTraffic> weak = service.traffic_of(server("https://brief.test"));
    CHECK(weak.expired());
}

}  // namespace k8s_sd::detail
