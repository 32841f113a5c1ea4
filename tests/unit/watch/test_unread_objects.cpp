#include "k8s_sd/detail/watch/unread_objects.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace std::chrono_literals;
using k8s_sd::TimePoint;
using k8s_sd::detail::UnreadObjects;

TEST_CASE("UnreadObjects: an object is unread until it is readable or gone") {
    UnreadObjects unread;
    CHECK_FALSE(unread.contains("ns", "a"));
    unread.add(UnreadObjects::key("ns", "a"), TimePoint(1h));
    CHECK(unread.contains("ns", "a"));
    CHECK_FALSE(unread.contains("ns", "b"));
    CHECK(unread.size() == 1);
    unread.remove("ns", "a");
    CHECK(unread.empty());
}

TEST_CASE("UnreadObjects: each change is taken once, and repetitions are none") {
    UnreadObjects unread;
    CHECK_FALSE(unread.take_change());
    unread.remove("ns", "a");
    CHECK_FALSE(unread.take_change());
    unread.add("ns/a", TimePoint(1h));
    CHECK(unread.take_change());
    CHECK_FALSE(unread.take_change());
    unread.add("ns/a", TimePoint(1h));
    CHECK_FALSE(unread.take_change());
    unread.remove("ns", "a");
    CHECK(unread.take_change());
}

TEST_CASE("UnreadObjects: a complete list leaves those that it contained") {
    UnreadObjects unread;
    unread.add("ns/a", TimePoint(1h));
    unread.add("ns/b", TimePoint(1h));
    unread.begin_list();
    unread.add("ns/b", TimePoint(2h));
    unread.add("ns/c", TimePoint(2h));
    unread.add("ns/d", TimePoint(2h));
    unread.remove("ns", "d");
    CHECK(unread.contains("ns", "a"));
    unread.finish_list();
    CHECK_FALSE(unread.contains("ns", "a"));
    CHECK(unread.contains("ns", "b"));
    CHECK(unread.contains("ns", "c"));
    CHECK(unread.size() == 2);
}

TEST_CASE("UnreadObjects: they have existed since the first was added") {
    UnreadObjects unread;
    unread.add("ns/a", TimePoint(1h));
    unread.add("ns/b", TimePoint(2h));
    CHECK(unread.since() == TimePoint(1h));
    unread.remove("ns", "a");
    unread.remove("ns", "b");
    unread.add("ns/b", TimePoint(3h));
    CHECK(unread.since() == TimePoint(3h));
}

TEST_CASE("UnreadObjects: those without a name come first") {
    UnreadObjects unread;
    for (const char* key : {"ns/a", "/node", "0/a"}) unread.add(key, TimePoint(1h));
    CHECK(unread.first() == "/node");
    unread.add(std::string(UnreadObjects::nameless), TimePoint(1h));
    CHECK(unread.first() == UnreadObjects::nameless);
}
