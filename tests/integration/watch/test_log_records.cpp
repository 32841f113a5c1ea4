#include "k8s_sd/sim/fixture.hpp"
#include "support/host.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct KeptRecord {
    LogLevel level;
    std::string text;
    std::optional<Kind> kind;
    std::string ns;
    error_code error;
};

}  // namespace

TEST_CASE("Log records: they say of which objects and namespace a line is, and what went wrong") {
    boost::asio::io_context context;
    const auto clock = std::make_shared<ManualClock>();
    sim::ApiServerOptions options;
    options.clock = clock;
    sim::ApiServer server(context.get_executor(), options);
    server.set_token("the-right-token");
    std::vector<KeptRecord> records;
    Environment environment;
    environment.clock = clock;
    environment.connector = server.connector();
    environment.logger.write_record = [&](const LogRecord& r) {
        records.push_back({r.level, std::string(r.text), r.kind, std::string(r.ns), r.error});
    };
    install(context, environment);
    DiscoveryConfig config;
    config.api_server.url = server.url();
    config.api_server.auth.bearer_token = "wrong-token-of-ours";
    config.namespaces = {"shop"};
    Host host(context.get_executor(), config);
    host.run();
    settle(context);
    REQUIRE(records.size() == 1);
    CHECK(records[0].level == LogLevel::warning);
    CHECK(records[0].kind == Kind::pod);
    CHECK(records[0].ns == "shop");
    CHECK(records[0].error == errc::unauthorized);
    CHECK_THAT(records[0].text, Catch::Matchers::ContainsSubstring("/namespaces/shop/pods"));
    CHECK_THAT(records[0].text, !Catch::Matchers::ContainsSubstring("wrong-token-of-ours"));
}

TEST_CASE("Log records: a server that alternates between errors for a day causes a line for each") {
    std::vector<KeptRecord> records;
    sim::FixtureOptions set_up;
    set_up.environment = [&](Environment& environment) {
        environment.logger.write_record = [&](const LogRecord& r) {
            records.push_back({r.level, std::string(r.text), r.kind, std::string(r.ns), r.error});
        };
    };
    sim::Fixture s(std::move(set_up));
    unsigned requests = 0;
    s.server.set_intercept([&](const sim::Request&) -> std::optional<sim::Response> {
        if (++requests % 2 == 0) return sim::Response::failure(500, "InternalError", "trouble");
        return sim::Response::failure(403, "Forbidden", "no");
    });
    DiscoveryConfig config;
    config.api_server.url = s.server.url();
    Host host(s.context.get_executor(), config);
    host.run();
    for (int hour = 0; hour < 24; ++hour) s.advance(1h);
    CHECK(requests > 100);
    REQUIRE(records.size() == 2);
    const bool is_refused_first = records[0].error == errc::forbidden;
    CHECK(records[is_refused_first ? 0 : 1].error == errc::forbidden);
    CHECK(records[is_refused_first ? 1 : 0].error == errc::server_error);
    s.server.set_intercept({});
    s.advance(10min);
    REQUIRE(records.size() == 3);
    CHECK_THAT(records[2].text, Catch::Matchers::ContainsSubstring("works again"));
}
