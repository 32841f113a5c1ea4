#include "k8s_sd/detail/watch/bookmark_patience.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// A patience and the time.
struct Patience : BookmarkPatience {
    explicit Patience(Duration silence) { begin_watch(silence); }
    bool bookmark_after(Duration wait) { return on_bookmark(now += wait); }
    TimePoint now{1h};
};

TEST_CASE("BookmarkPatience: without bookmarks any silence up to that of the request is allowed") {
    CHECK(Patience(310s).allowed() == 310s);
    CHECK(Patience(0s).allowed() == 0s);
}

TEST_CASE("BookmarkPatience: one bookmark teaches nothing, the second one the interval") {
    Patience patience(610s);
    CHECK_FALSE(patience.bookmark_after(200s));
    CHECK(patience.allowed() == 610s);
    CHECK(patience.bookmark_after(60s));
    CHECK(patience.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: the longest interval counts, with two and a half of them") {
    Patience patience(1h);
    patience.bookmark_after(0s);
    patience.bookmark_after(60s);
    patience.bookmark_after(70s);
    patience.bookmark_after(50s);
    CHECK(patience.allowed() == 175s);
}

TEST_CASE("BookmarkPatience: it is 90 s at least, and never more than the request allows") {
    Patience patience(1h);
    patience.bookmark_after(0s);
    patience.bookmark_after(0s);
    CHECK(patience.allowed() == 90s);
    patience.begin_watch(20s);
    CHECK(patience.allowed() == 20s);
    patience.begin_watch(0s);
    CHECK(patience.allowed() == 90s);
}

TEST_CASE("BookmarkPatience: the time between two watches is no interval") {
    Patience patience(1h);
    patience.bookmark_after(0s);
    patience.bookmark_after(60s);
    patience.begin_watch(1h);
    CHECK(patience.allowed() == 150s);  // what was learned serves the next watch
    CHECK_FALSE(patience.bookmark_after(30min));
    CHECK(patience.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: what was misjudged is forgotten, and learned again") {
    Patience patience(1h);
    patience.bookmark_after(0s);
    patience.bookmark_after(60s);
    patience.forget();
    CHECK(patience.allowed() == 1h);
    patience.bookmark_after(100s);
    CHECK(patience.allowed() == 250s);
}

}  // namespace
}  // namespace k8s_sd::detail
