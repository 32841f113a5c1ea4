#include "k8s_sd/detail/watch/resource_version.hpp"

#include <catch2/catch_test_macros.hpp>

using k8s_sd::detail::KnownVersions;

namespace {

KnownVersions versions_after_list(const char* version) {
    KnownVersions versions;
    versions.on_list(version);
    return versions;
}

}  // namespace

TEST_CASE("KnownVersions: only a list decreases them") {
    KnownVersions versions = versions_after_list("9");
    CHECK(versions.on_event("10"));
    CHECK_FALSE(versions.on_event("10"));
    CHECK_FALSE(versions.on_event("9"));
    CHECK_FALSE(versions.on_event(""));
    CHECK(versions.current() == "10");
    CHECK(versions.greatest() == "10");
    versions.on_list("7");
    CHECK(versions.current() == "7");
    CHECK(versions.greatest() == "7");
}

TEST_CASE("KnownVersions: an incomparable version becomes the current one, but not the greatest") {
    KnownVersions versions = versions_after_list("9");
    CHECK(versions.on_event("opaque"));
    CHECK(versions.current() == "opaque");
    CHECK(versions.greatest() == "9");
    CHECK(versions.on_event("8"));
    CHECK(versions.greatest() == "9");
    CHECK(versions.on_event("11"));
    CHECK(versions.greatest() == "11");
}

TEST_CASE("KnownVersions: version 0 of an event names no state, so it changes none") {
    for (const char* known : {"9", "opaque"}) {
        KnownVersions versions = versions_after_list(known);
        CHECK_FALSE(versions.on_event("0"));
        CHECK_FALSE(versions.on_event("00"));
        CHECK(versions.begin_watch() == known);
        CHECK(versions.on_event("10"));
    }
}

TEST_CASE("KnownVersions: an object is old if its version precedes the start of the watch") {
    KnownVersions versions = versions_after_list("9");
    versions.on_event("20");
    CHECK(versions.is_before_watch("8"));
    CHECK_FALSE(versions.is_before_watch("9"));
    CHECK(versions.begin_watch() == "20");
    CHECK(versions.is_before_watch("9"));
    CHECK_FALSE(versions.is_before_watch("opaque"));
}

TEST_CASE("KnownVersions: a server went back if its version precedes the greatest one") {
    KnownVersions versions = versions_after_list("9");
    versions.on_event("20");
    CHECK(versions.is_regression("19"));
    CHECK_FALSE(versions.is_regression("20"));
    CHECK_FALSE(versions.is_regression("opaque"));
}

TEST_CASE("KnownVersions: another server's versions are incomparable") {
    KnownVersions versions = versions_after_list("9");
    versions.on_other_server();
    CHECK(versions.current().empty());
    CHECK(versions.greatest().empty());
    CHECK_FALSE(versions.is_regression("1"));
    CHECK_FALSE(KnownVersions().is_regression("1"));
}
