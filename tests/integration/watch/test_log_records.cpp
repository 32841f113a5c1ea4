#include "support/host.hpp"
#include "support/manual_clock.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
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
