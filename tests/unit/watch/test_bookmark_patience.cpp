#include "k8s_sd/detail/watch/bookmark_patience.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// The timeout policy, with the values learned from its server, and the time.
struct Patience {
    explicit Patience(Duration silence) { patience.begin_watch(silence); }
    void bookmark_after(Duration wait) { patience.on_bookmark(now += wait); }
    Duration allowed() const { return patience.allowed(); }

    BookmarkCadence cadence;
    BookmarkPatience patience{cadence};
    TimePoint now{1h};
};

TEST_CASE("BookmarkPatience: without bookmarks any silence up to that of the request is allowed") {
    CHECK(Patience(310s).allowed() == 310s);
    CHECK(Patience(0s).allowed() == 0s);
}

TEST_CASE("BookmarkPatience: one bookmark teaches nothing, the second one the interval") {
    Patience p(610s);
    p.bookmark_after(200s);
    CHECK(p.allowed() == 610s);
    p.bookmark_after(60s);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: what one watch of a server has learned serves the others, once they "
          "have a bookmark of their own") {
    Patience p(610s);
    p.bookmark_after(0s);
    p.bookmark_after(60s);
    BookmarkPatience other(p.cadence);
    other.begin_watch(610s);
    CHECK(other.allowed() == 610s);
    other.on_bookmark(p.now);
    CHECK(other.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: one gap among many intervals changes nothing") {
    Patience p(610s);
    for (int i = 0; i < 5; ++i) p.bookmark_after(60s);
    p.bookmark_after(200s);
    CHECK(p.allowed() == 150s);
    for (int i = 0; i < 10; ++i) p.bookmark_after(60s);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: a server that changes its ways is understood after some intervals") {
    Patience p(1h);
    for (int i = 0; i < 20; ++i) p.bookmark_after(60s);
    for (int i = 0; i < 5; ++i) p.bookmark_after(200s);
    CHECK(p.allowed() == 500s);
    for (int i = 0; i < 5; ++i) p.bookmark_after(60s);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: it is 90 s at least, and never more than the request allows") {
    Patience p(1h);
    p.bookmark_after(0s);
    p.bookmark_after(0s);
    CHECK(p.allowed() == 90s);
    p.patience.begin_watch(20s);
    CHECK(p.allowed() == 20s);
    p.patience.begin_watch(0s);
    CHECK(p.allowed() == 90s);
}

TEST_CASE("BookmarkPatience: the time between two watches is no interval") {
    Patience p(1h);
    p.bookmark_after(0s);
    p.bookmark_after(60s);
    p.patience.begin_watch(1h);
    CHECK(p.allowed() == 150s);
    p.bookmark_after(30min);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("BookmarkPatience: silence does not make it forget; from the second time on it doubles") {
    Patience p(1h);
    p.bookmark_after(0s);
    p.bookmark_after(60s);
    p.patience.on_silence();
    CHECK(p.allowed() == 150s);
    p.patience.on_silence();
    CHECK(p.allowed() == 300s);
    p.patience.on_silence();
    CHECK(p.allowed() == 600s);
    for (int i = 0; i < 40; ++i) p.patience.on_silence();
    CHECK(p.allowed() == 1h);
    p.bookmark_after(1s);
    CHECK(p.allowed() == 150s);
}

}  // namespace
}  // namespace k8s_sd::detail
