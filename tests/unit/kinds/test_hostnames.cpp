#include "k8s_sd/detail/kinds/shared/route_targets.hpp"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <string>

using k8s_sd::detail::common_hostname;

namespace {

/// "-": nothing in common.
std::string common(std::string_view listener, std::string_view route) {
    const auto found = common_hostname(listener, route);
    return found ? std::string(*found) : "-";
}

struct HostnameRow {
    const char *listener, *route, *common;
};

}  // namespace

TEST_CASE("Hostnames: listener and route have in common what both cover") {
    for (const HostnameRow& row :
         std::initializer_list<HostnameRow>{{"", "", ""},
                                            {"", "a.example.com", "a.example.com"},
                                            {"", "*.example.com", "*.example.com"},
                                            {"a.example.com", "", "a.example.com"},
                                            {"*.example.com", "", "*.example.com"},
                                            {"a.example.com", "a.example.com", "a.example.com"},
                                            {"a.example.com", "b.example.com", "-"},
                                            {"a.example.com", "*.example.com", "a.example.com"},
                                            {"*.example.com", "a.example.com", "a.example.com"},
                                            {"*.example.com", "*.example.com", "*.example.com"},
                                            {"*.example.com", "*.example.net", "-"}}) {
        CAPTURE(row.listener, row.route);
        CHECK(common(row.listener, row.route) == row.common);
        CHECK(common(row.route, row.listener) == row.common);
    }
}

TEST_CASE("Hostnames: a wildcard covers names at any depth below its suffix, not the suffix") {
    CHECK(common("*.example.com", "a.b.example.com") == "a.b.example.com");
    CHECK(common("*.example.com", "*.b.example.com") == "*.b.example.com");
    CHECK(common("*.b.example.com", "*.example.com") == "*.b.example.com");
    CHECK(common("*.example.com", "example.com") == "-");
    CHECK(common("*.example.com", "badexample.com") == "-");
    CHECK(common("*.example.com", ".example.com") == "-");
    // Only a whole first label is a wildcard.
    CHECK(common("*", "a.example.com") == "-");
    CHECK(common("*a.example.com", "ba.example.com") == "-");
    CHECK(common("a.*.com", "a.b.com") == "-");
}
