#include "k8s_sd/detail/watch/watch_report.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

TEST_CASE("UnreadObjects: an object is unread until it is readable or gone") {
    UnreadObjects unread;
    CHECK(unread.empty());
    CHECK_FALSE(unread.take_change());
    unread.add(UnreadObjects::key("ns", "a"), TimePoint{});
    CHECK(unread.contains("ns", "a"));
    CHECK_FALSE(unread.contains("ns", "b"));
    CHECK(unread.take_change());
    unread.add(UnreadObjects::key("ns", "a"), TimePoint{});
    CHECK_FALSE(unread.take_change());
    unread.remove("ns", "b");
    CHECK_FALSE(unread.take_change());
    unread.remove("ns", "a");
    CHECK(unread.take_change());
    CHECK(unread.empty());
}

TEST_CASE("UnreadObjects: after a list only its own objects remain") {
    UnreadObjects unread;
    unread.add(UnreadObjects::key("ns", "a"), TimePoint{});
    unread.begin_list();
    CHECK(unread.contains("ns", "a"));
    unread.add(UnreadObjects::key("ns", "b"), TimePoint{});
    unread.finish_list();
    CHECK_FALSE(unread.contains("ns", "a"));
    CHECK(unread.contains("ns", "b"));
}

TEST_CASE("UnreadObjects: the error has the time of the first object and the number of all") {
    using namespace std::chrono_literals;
    UnreadObjects unread;
    unread.add(UnreadObjects::key("ns", "b"), TimePoint{1s});
    CHECK(unread.text() == "ns/b");
    CHECK(unread.error() == errc::object_too_large);
    unread.add(UnreadObjects::nameless(), TimePoint{2s});
    CHECK(unread.since() == TimePoint{1s});
    CHECK(unread.text() == "one without a name and 1 more");
    CHECK(unread.error() == errc::bad_object);
}

}  // namespace k8s_sd::detail
