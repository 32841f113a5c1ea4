#include "k8s_sd/detail/monitors/byte_size.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/probe_url.hpp"
#include "k8s_sd/detail/monitors/versions.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

namespace k8s_sd::test {

namespace {

std::string version_text(std::string_view text) {
    const auto version = detail::parse_monitor_version(text);
    if (!version) return "none";
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + (version->pre_release ? "-pre" : "");
}

}  // namespace

TEST_CASE("parse_monitor_version: short versions, a v, suffixes") {
    CHECK(version_text("3.13.2") == "3.13.2");
    CHECK(version_text("v2.45") == "2.45.0");
    CHECK(version_text(" 3 ") == "3.0.0");
    CHECK(version_text("2.07.1") == "2.7.1");
    CHECK(version_text("3.5.0-rc.1") == "3.5.0-pre");
    CHECK(version_text("3.5.0+build.7") == "3.5.0");
    CHECK(version_text("3.5.0-rc.1+build") == "3.5.0-pre");
    for (const char* wrong :
         {"", "v", "x", "3.", "3..1", "3.5.0.1", "3.5-rc.1", "-3", "3.5.0-", "3.5.0-a..b", "3.5.0+",
          "3.5.0-ä", "3. 5", "latest", "99999999999999999999.0.0"}) {
        INFO(wrong);
        CHECK(version_text(wrong) == "none");
    }
}

TEST_CASE("at_least: a pre-release is before its release") {
    CHECK(detail::at_least({3, 5, 0}, 3, 5));
    CHECK(detail::at_least({3, 5, 1, true}, 3, 5));
    CHECK(detail::at_least({3, 0, 0}, 2, 50));
    CHECK_FALSE(detail::at_least({3, 5, 0, true}, 3, 5));
    CHECK_FALSE(detail::at_least({2, 44, 9}, 2, 45));
}

TEST_CASE("parse_byte_size: units are powers of 1024") {
    CHECK(detail::parse_byte_size("0") == 0);
    CHECK(detail::parse_byte_size("7B") == 7);
    CHECK(detail::parse_byte_size("2KB") == 2048);
    CHECK(detail::parse_byte_size("2KiB") == 2048);
    CHECK(detail::parse_byte_size("1.5KB") == 1536);
    CHECK(detail::parse_byte_size("1MB") == 0x1p20);
    CHECK(detail::parse_byte_size("1EiB") == 0x1p60);
    for (const char* wrong :
         {"", "1", "KB", "1K", "1kB", "1KKB", "-1KB", "1ZB", "1KB ", "1.2.3KB", ".B", "1e3KB"}) {
        INFO(wrong);
        CHECK_FALSE(detail::parse_byte_size(wrong));
    }
}

TEST_CASE("parse_quantity: decimal, binary and exponents") {
    CHECK(detail::parse_quantity("1.2") == 1.2);
    CHECK(detail::parse_quantity("1200m") == 1200 * 1e-3);
    CHECK(detail::parse_quantity("2Ki") == 2048);
    CHECK(detail::parse_quantity("3k") == 3000);
    CHECK(detail::parse_quantity("-1") == -1);
    CHECK(detail::parse_quantity("+1") == 1);
    CHECK(detail::parse_quantity("12e1") == 120);
    CHECK(detail::parse_quantity("5E") == 5e18);
    for (const char* wrong : {"", "x", "1x", "1 ", "e3", "1e", "1e999", "0x10", "--1", "1mm"}) {
        INFO(wrong);
        CHECK_FALSE(detail::parse_quantity(wrong));
    }
}

TEST_CASE("is_prober_url: a host, host:port or an address") {
    for (const char* sound : {"p", "prober.alpha.svc:9115", "10.0.0.1", "10.0.0.1:80", "[::1]:9115",
                              "::1", "under_score:1", "p:65535", "name."}) {
        INFO(sound);
        CHECK(detail::is_prober_url(sound));
    }
    for (const char* wrong :
         {"", "http://p/x", "p:", "p:0", "p:99999", "p:x", "p/x", "[::1]", "[::1", "-p", "a..b",
          ":9115", "p p", "p:1:2", "ä", "[::1%25eth0]:1"}) {
        INFO(wrong);
        CHECK_FALSE(detail::is_prober_url(wrong));
    }
    CHECK_FALSE(detail::is_prober_url(std::string(64, 'a')));
    CHECK_FALSE(detail::is_prober_url(std::string(100'000, '.')));
}

TEST_CASE("sanitize_label_key: each byte outside of words becomes an underscore") {
    CHECK(detail::sanitize_label_key("app.kubernetes.io/name") == "app_kubernetes_io_name");
    CHECK(detail::sanitize_label_key("ü") == "__");
    CHECK(detail::sanitize_label_key("") == "");
    CHECK(detail::sanitize_label_key("9A_z") == "9A_z");
}

}  // namespace k8s_sd::test
