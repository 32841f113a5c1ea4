#include "k8s_sd/detail/text/kubernetes_names.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::detail {
namespace {

TEST_CASE("is_dns_label: lower-case letters, digits and inner hyphens, at most 63") {
    for (const char* good : {"a", "0", "kube-system", "a--b", "1a"}) {
        CAPTURE(good);
        CHECK(is_dns_label(good));
    }
    for (const char* bad :
         {"", "-", "-a", "a-", "A", "a.b", "a_b", "a b", "a/b", "a\n", "\xc3\xa4"}) {
        CAPTURE(bad);
        CHECK_FALSE(is_dns_label(bad));
    }
    CHECK(is_dns_label(std::string(63, 'a')));
    CHECK_FALSE(is_dns_label(std::string(64, 'a')));
    CHECK_FALSE(is_dns_label(std::string_view("a\0b", 3)));
}

TEST_CASE("is_dns_subdomain: labels separated by single dots, at most 253 characters in all") {
    for (const char* good : {"a", "a.b", "example.com", "a-b.c-0", "0.1.2"}) {
        CAPTURE(good);
        CHECK(is_dns_subdomain(good));
    }
    for (const char* bad : {"", ".", "a..b", ".a", "a.", "a.-b", "a-.b", "a.B", "a b.c", "a/b"}) {
        CAPTURE(bad);
        CHECK_FALSE(is_dns_subdomain(bad));
    }
    CHECK(is_dns_subdomain(std::string(253, 'a')));
    CHECK_FALSE(is_dns_subdomain(std::string(254, 'a')));
    CHECK_FALSE(is_dns_subdomain(std::string(100'000, '.')));
}

}  // namespace
}  // namespace k8s_sd::detail
