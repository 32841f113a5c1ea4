#include "k8s_sd/access.hpp"
#include "k8s_sd/kind.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using k8s_sd::test::allocations_left;

TEST_CASE("other kinds: equal resources have one kind, which knows what they are called") {
    const std::string plural = "widgets";
    const Kind widget = other_kind({"Widget", "example.com", "v1", plural, true});
    CHECK_FALSE(is_built_in(widget));
    CHECK(widget == other_kind({"Widget", "example.com", "v1", "widgets", true}));
    CHECK(resource_of(widget).kind == "Widget");
    CHECK(resource_of(widget).version == "v1");
    CHECK(to_string(widget) == "widgets.example.com");
    CHECK(collection_path(widget, "shop") == "/apis/example.com/v1/namespaces/shop/widgets");
    CHECK(rule_text(access_to(widget)) ==
          R"({apiGroups: ["example.com"], resources: ["widgets"], verbs: ["list", "watch"]})");
    CHECK(widget != other_kind({"Widget", "example.com", "v2", "widgets", true}));
    CHECK(widget != other_kind({"Widget", "example.com", "v1", "widgets", false}));
}

TEST_CASE("other kinds: what is built in can be watched as any other resource, too") {
    const Kind pod = other_kind(resource_of(Kind::pod));
    CHECK(pod != Kind::pod);
    CHECK(to_string(pod) == "pods");
    CHECK(collection_path(pod, "") == "/api/v1/pods");
    CHECK(holds_secrets(other_kind(resource_of(Kind::secret))));
    CHECK_FALSE(holds_secrets(pod));
}

TEST_CASE("other kinds: threads that ask for the same get the same") {
    std::vector<Kind> found(8);
    std::vector<std::thread> threads;
    for (Kind& kind : found) {
        threads.emplace_back([&kind] {
            for (int i = 0; i < 50; ++i) {
                const std::string plural = "threads" + std::to_string(i);
                kind = other_kind({"Thread", "example.com", "v1", plural, true});
                if (resource_of(kind).plural != plural) kind = Kind::pod;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Kind kind : found) CHECK(kind == found.front());
    CHECK(to_string(found.front()) == "threads49.example.com");
}

TEST_CASE("other kinds: a server that names a resource differently each time fills no table") {
    const auto named = [](int i) {
        return other_kind({"Renamed", "example.com", "v1", "renamed" + std::to_string(i), true});
    };
    const Kind first = named(0);
    for (int i = 1; i < 64; ++i) CHECK(named(i) != first);
    CHECK_THROWS_AS(named(64), std::length_error);
    CHECK(named(0) == first);
    CHECK(resource_of(named(63)).plural == "renamed63");
    // Other kinds and groups have room.
    CHECK_NOTHROW(other_kind({"Renamed", "example.org", "v1", "renamed64", true}));
    CHECK_NOTHROW(other_kind({"Other", "example.com", "v1", "renamed64", true}));
}

TEST_CASE("other kinds: without memory there is no nameless kind later") {
    const auto kind = [] {
        return other_kind({"Forgotten resource", "example.com", "v1", "resources-forgotten", true});
    };
    bool succeeded = false;
    for (long left = 0; !succeeded; ++left) {
        allocations_left = left;
        try {
            kind();
            succeeded = true;
        } catch (const std::bad_alloc&) {
        }
        allocations_left = -1;
    }
    CHECK(resource_of(kind()).plural == "resources-forgotten");
}

TEST_CASE("other kinds: a number that stands for none has a name all the same") {
    CHECK(to_string(any_other_kind) == "other");
    CHECK(to_string(static_cast<Kind>(65'000)) == "other");
}
