#include "k8s_sd/detail/monitors/namespace_labels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string_view>

namespace k8s_sd::test {

namespace {

using detail::NamespaceLabels;

/// \param name, env  literals: the object refers to them
std::shared_ptr<const api::Namespace> namespace_in(std::string_view name, std::string_view env) {
    auto ns = std::make_shared<api::Namespace>();
    ns->metadata.name = name;
    ns->metadata.labels = {{"env", env}};
    return ns;
}

}  // namespace

TEST_CASE("NamespaceLabels: a list replaces all namespaces, and reports those before, too") {
    NamespaceLabels labels;
    CHECK_FALSE(labels.are_listed());
    ObjectDiff<api::Namespace> diff;
    diff.full = true;
    diff.added = {namespace_in("a", "prod"), namespace_in("b", "test")};
    CHECK(labels.apply(diff) == NamespaceLabels::Names{"a", "b"});
    CHECK(labels.are_listed());
    REQUIRE(labels.find("a"));
    CHECK(*labels.find("a") == detail::MonitorLabels{{"env", "prod"}});
    CHECK(labels.find("c") == nullptr);

    diff.added = {namespace_in("c", "prod")};
    CHECK(labels.apply(diff) == NamespaceLabels::Names{"a", "b", "c"});
    CHECK(labels.find("a") == nullptr);
    CHECK(labels.find("c"));
}

TEST_CASE("NamespaceLabels: changes are those of their namespaces only") {
    NamespaceLabels labels;
    ObjectDiff<api::Namespace> diff;
    diff.added = {namespace_in("a", "prod"), namespace_in("b", "prod"), namespace_in("c", "prod")};
    labels.apply(diff);
    ObjectDiff<api::Namespace> next;
    next.removed = {namespace_in("b", "prod")};
    next.changed.push_back({namespace_in("c", "prod"), namespace_in("c", "test")});
    CHECK(labels.apply(next) == NamespaceLabels::Names{"b", "c"});
    CHECK(labels.find("a"));
    CHECK(labels.find("b") == nullptr);
    CHECK(labels.find("c")->at("env") == "test");
}

TEST_CASE("NamespaceLabels: without a watch nothing is known, and an empty list is a list") {
    NamespaceLabels labels;
    ObjectDiff<api::Namespace> diff;
    diff.full = true;
    diff.added = {namespace_in("a", "prod")};
    labels.apply(diff);
    labels.forget();
    CHECK_FALSE(labels.are_listed());
    CHECK(labels.find("a") == nullptr);
    diff.added.clear();
    CHECK(labels.apply(diff).empty());
    CHECK(labels.are_listed());
}

}  // namespace k8s_sd::test
