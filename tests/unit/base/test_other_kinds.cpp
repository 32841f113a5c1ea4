#include "k8s_sd/access.hpp"
#include "k8s_sd/kind.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;

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
            for (int i = 0; i < 100; ++i) {
                const std::string plural = "threads" + std::to_string(i);
                kind = other_kind({"Thread", "example.com", "v1", plural, true});
                if (resource_of(kind).plural != plural) kind = Kind::pod;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Kind kind : found) CHECK(kind == found.front());
    CHECK(to_string(found.front()) == "threads99.example.com");
}

TEST_CASE("other kinds: a number that stands for none has a name all the same") {
    CHECK(to_string(any_other_kind) == "other");
    CHECK(to_string(static_cast<Kind>(65'000)) == "other");
}
