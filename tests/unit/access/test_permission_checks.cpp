#include "k8s_sd/detail/access/permission_checks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace k8s_sd::detail {

namespace {

KindAccess access_to(const std::string& resource, Kind kind, const std::string& ns,
                     bool optional = false) {
    return {{.resource = resource, .ns = ns, .optional = optional}, kind};
}

/// "list pods", "watch pods in a", …; empty: none is left
std::string next_of(PermissionChecks& checks) {
    if (!checks.advance()) return {};
    const PermissionChecks::Check& check = checks.current();
    const AccessRule& rule = check.access.first;
    return (check.watch ? "watch " : "list ") + rule.resource +
           (rule.ns.empty() ? "" : " in " + rule.ns);
}

const std::vector<KindAccess> pods_together_or_one_by_one{
    access_to("pods", Kind::pod, "", true), access_to("pods", Kind::pod, "a"),
    access_to("services", Kind::service, "a")};

}  // namespace

TEST_CASE("PermissionChecks: a permission for all namespaces replaces those for single ones") {
    PermissionChecks checks(pods_together_or_one_by_one);
    CHECK(next_of(checks) == "list pods");
    checks.on_allowed();
    CHECK(next_of(checks) == "watch pods");
    checks.on_allowed();
    CHECK(next_of(checks) == "list services in a");
    checks.on_allowed();
    CHECK(next_of(checks) == "watch services in a");
    checks.on_allowed();
    CHECK(next_of(checks).empty());
}

TEST_CASE(
    "PermissionChecks: without the optional LIST its WATCH is skipped, and single ones follow") {
    PermissionChecks checks(pods_together_or_one_by_one);
    REQUIRE(next_of(checks) == "list pods");
    checks.on_failed(true);
    CHECK(next_of(checks) == "list pods in a");
    checks.on_failed(false);
    CHECK(next_of(checks) == "watch pods in a");
}

TEST_CASE("PermissionChecks: a version counts for all checks of its kind") {
    PermissionChecks checks({access_to("pods", Kind::pod, "")});
    checks.set_version(Kind::service, "v2");
    CHECK(checks.current().api_version.empty());
    checks.set_version(Kind::pod, "v2");
    checks.on_allowed();
    REQUIRE(next_of(checks) == "watch pods");
    CHECK(checks.current().api_version == "v2");
}

}  // namespace k8s_sd::detail
