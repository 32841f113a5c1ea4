#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/detail/client/http2_use.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

HttpVersion resolved_version(HttpVersion version) {
    DiscoveryConfig config;
    config.api_server.url = "https://h";
    config.api_server.http_version = version;
    return resolve(config, {}).scope.api_server.http_version;
}

}  // namespace

TEST_CASE("HTTP version: enable_http2: false means HTTP/1.1") {
    const auto version_of = [](const std::string& line) {
        return parse_sd_config("role: pod\napi_server: https://h\n" + line,
                               LabelDialect::prometheus, "sd.yaml")
            .api_server.http_version;
    };
    CHECK(version_of("enable_http2: false") == HttpVersion::http1);
    CHECK(version_of("enable_http2: true") == HttpVersion::automatic);
    CHECK(version_of("enable_http2:") == HttpVersion::automatic);
    CHECK(version_of("") == HttpVersion::automatic);
}

TEST_CASE("HTTP version: the environment variable DISABLE_HTTP2 turns HTTP/2 off") {
    const HttpVersion wanted = detail::has_http2() ? HttpVersion::http2 : HttpVersion::automatic;
    {
        const ScopedVariable unset("DISABLE_HTTP2", std::nullopt);
        CHECK(resolved_version(HttpVersion::automatic) == HttpVersion::automatic);
        CHECK(resolved_version(wanted) == wanted);
    }
    {
        const ScopedVariable empty("DISABLE_HTTP2", "");
        CHECK(resolved_version(HttpVersion::automatic) == HttpVersion::automatic);
    }
    const ScopedVariable set("DISABLE_HTTP2", "1");
    CHECK(resolved_version(HttpVersion::automatic) == HttpVersion::http1);
    CHECK(resolved_version(wanted) == HttpVersion::http1);
}

TEST_CASE("HTTP version: a build without HTTP/2 refuses to require it") {
    DiscoveryConfig config;
    config.api_server.url = "https://h";
    config.api_server.http_version = HttpVersion::http2;
    const std::string problem = config_error([&] { validate(config); });
    if (detail::has_http2()) {
        CHECK(problem == "");
    } else {
        CHECK(contains(problem, "api_server.http_version"));
        CHECK(contains(problem, "K8S_SD_HTTP2=ON"));
    }
}

TEST_CASE("HTTP version: automatic leaves lists and first watches on connections of their own") {
    using enum detail::RequestKind;
    using detail::http2_use;
    using detail::StreamUse;
    CHECK(http2_use(HttpVersion::automatic, brief) == StreamUse::brief);
    CHECK(http2_use(HttpVersion::automatic, watch) == StreamUse::watch);
    CHECK_FALSE(http2_use(HttpVersion::automatic, bulk));
    CHECK_FALSE(http2_use(HttpVersion::automatic, first_watch));
    CHECK(http2_use(HttpVersion::http2, bulk) == StreamUse::brief);
    CHECK(http2_use(HttpVersion::http2, first_watch) == StreamUse::watch);
    for (const auto kind : {brief, bulk, first_watch, watch}) {
        CHECK_FALSE(http2_use(HttpVersion::http1, kind));
    }
}
