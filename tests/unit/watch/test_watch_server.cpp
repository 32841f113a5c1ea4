#include "k8s_sd/detail/watch/watch_server.hpp"
#include "support/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>

namespace k8s_sd::detail {
namespace {

/// A client of a server that is never contacted.
struct OneServer {
    Environment environment() const {
        Environment environment;
        environment.clock = clock;
        return environment;
    }

    asio::io_context context;
    std::shared_ptr<sim::ManualClock> clock = std::make_shared<sim::ManualClock>();
    std::shared_ptr<ApiClient> client = std::make_shared<ApiClient>(
        context.get_executor(), ApiServerConfig{.url = "https://a:6443"}, environment());
};

}  // namespace

TEST_CASE("WatchServer: the version that discovery lists is taken") {
    OneServer f;
    WatchServer server(f.client);
    CHECK_FALSE(server.take_version({}, true).moved);
    CHECK_FALSE(server.take_version({true, ""}, true).moved);
    const WatchServer::Version older = server.take_version({true, "v1beta1"}, false);
    CHECK((older.served && older.moved));
    CHECK(server.api_version() == "v1beta1");
    // Without an answer, only a lost version is given up.
    CHECK_FALSE(server.take_version({}, false).moved);
    const WatchServer::Version lost = server.take_version({}, true);
    CHECK((!lost.served && lost.moved));
    CHECK(server.api_version().empty());
}

TEST_CASE("WatchServer: the client may move to another server") {
    OneServer f;
    WatchServer server(f.client);
    CHECK_FALSE(server.is_listed());
    server.on_listed();
    CHECK(server.is_listed());
    CHECK_FALSE(server.is_left());
    ++server.api().server_revision;
    CHECK(server.is_left());
    CHECK_FALSE(server.is_listed());
    CHECK_FALSE(server.take());  // with the same traffic
    CHECK_FALSE(server.is_left());
    const auto before = server.traffic();
    server.api().traffic =
        std::make_shared<ServerTraffic>(ServerLimits{}, std::make_shared<Metrics>());
    CHECK(server.traffic() == before);
    CHECK(server.take());
    CHECK(server.traffic() == server.api().traffic);
}

TEST_CASE("WatchServer: a search for versions lasts until it is ended") {
    OneServer f;
    WatchServer server(f.client);
    CHECK_FALSE(server.searching());
    server.begin_search();
    CHECK(server.searching());
    server.end_search();
    CHECK_FALSE(server.searching());
}

TEST_CASE("WatchServer: its time is that of the client's clock") {
    OneServer f;
    const WatchServer server(f.client);
    const TimePoint before = server.now();
    f.clock->advance(std::chrono::seconds(3));
    CHECK(server.now() - before == std::chrono::seconds(3));
}

}  // namespace k8s_sd::detail
