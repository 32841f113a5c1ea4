#include "k8s_sd/api_client.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

constexpr const char* empty_executor =
    ": the executor is empty; pass that of an io_context or thread_pool, for example "
    "context.get_executor()";
constexpr const char* empty_callback = ": the callback is empty; pass a function to call";

DiscoveryConfig some_config() {
    DiscoveryConfig config;
    config.api_server.url = "http://localhost";
    return config;
}

}  // namespace

TEST_CASE("Discoverer: an empty executor or callback is refused") {
    asio::io_context context;
    const Discoverer::Callback callback = [](const auto&) {};
    CHECK(config_error([&] { Discoverer({}, some_config(), callback); }) ==
          std::string("Discoverer") + empty_executor);
    CHECK(config_error([&] { Discoverer(context.get_executor(), some_config(), nullptr); }) ==
          std::string("Discoverer") + empty_callback);
}

TEST_CASE("DiscoveryManager: an empty executor or callback is refused") {
    asio::io_context context;
    const DiscoveryManager::Callback callback = [](const auto&) {};
    CHECK(config_error([&] { DiscoveryManager({}, callback); }) ==
          std::string("DiscoveryManager") + empty_executor);
    CHECK(config_error([&] { DiscoveryManager(context.get_executor(), nullptr); }) ==
          std::string("DiscoveryManager") + empty_callback);
}

TEST_CASE("GroupWatcher: an empty executor is refused") {
    CHECK(config_error([&] { GroupWatcher::acquire({}, resolve(some_config())); }) ==
          std::string("GroupWatcher") + empty_executor);
}

TEST_CASE("GroupWatcher: a namespace that cannot be one is refused, and nothing has begun") {
    asio::io_context context;
    ResolvedConfig config = resolve(some_config());
    for (const char* wrong : {"b!", "", "../c"}) {
        config.scope.namespaces = {"a", wrong};
        CHECK_THROWS_AS(GroupWatcher::acquire(context.get_executor(), config), ConfigError);
    }
    CHECK(context.poll() == 0);
    CHECK(metrics_of(context)->of(Kind::pod).watchers == 0);
}

TEST_CASE("ScrapeConfigReloader: an empty executor or callback is refused") {
    asio::io_context context;
    const ScrapeConfigReloader::Callback callback = [](const auto&) {};
    CHECK(config_error([&] { ScrapeConfigReloader({}, "f", {}, {}, callback); }) ==
          std::string("ScrapeConfigReloader") + empty_executor);
    CHECK(config_error([&] {
              ScrapeConfigReloader(context.get_executor(), "f", {}, {}, nullptr);
          }) == std::string("ScrapeConfigReloader") + empty_callback);
}

TEST_CASE("ApiClient: an empty executor is refused") {
    CHECK(config_error([&] { ApiClient({}, some_config().api_server); }) ==
          std::string("ApiClient") + empty_executor);
}
