#include "k8s_sd/detail/base/backoff.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <vector>

using namespace std::chrono_literals;
using k8s_sd::Duration;
using k8s_sd::detail::Backoff;

namespace {

std::vector<Duration> delays(Backoff backoff, int count) {
    std::vector<Duration> all;
    for (int i = 0; i < count; ++i) all.push_back(backoff.next());
    return all;
}

}  // namespace

TEST_CASE("Backoff: each delay lies between d and 2d and d doubles") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto all = delays({800ms, 1h, seed}, 8);
        Duration d = 800ms;
        for (const Duration delay : all) {
            CAPTURE(seed, delay.count(), d.count());
            CHECK(delay >= d);
            CHECK(delay <= 2 * d);
            d *= 2;
        }
    }
}

TEST_CASE("Backoff: d grows to the maximum, and there delays still differ") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto all = delays({800ms, 30s, seed}, 20);
        CHECK(std::all_of(all.begin() + 6, all.end(),
                          [](Duration d) { return d >= 30s && d <= 60s; }));
        CHECK(*std::max_element(all.begin() + 6, all.end()) -
                  *std::min_element(all.begin() + 6, all.end()) >
              5s);
    }
}

TEST_CASE("Backoff: jitter spreads clients that fail together") {
    Duration least = 1h, most = 0s;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Duration first = Backoff(1s, 30s, seed).next();
        least = std::min(least, first);
        most = std::max(most, first);
    }
    CHECK(least < 1200ms);
    CHECK(most > 1800ms);
}

TEST_CASE("Backoff: the delays depend on the seed alone") {
    CHECK(delays({1s, 1h, 1}, 10) == delays({1s, 1h, 1}, 10));
    CHECK(delays({1s, 1h, 1}, 10) != delays({1s, 1h, 2}, 10));
}

TEST_CASE("Backoff: after a reset it starts from the beginning") {
    Backoff backoff(1s, 1h, 3);
    for (int i = 0; i < 6; ++i) backoff.next();
    backoff.reset();
    const Duration first = backoff.next(), second = backoff.next();
    CHECK((first >= 1s && first <= 2s));
    CHECK((second >= 2s && second <= 4s));
}

TEST_CASE("Backoff: a minimum above the maximum, zero and huge values stay in range") {
    CHECK(Backoff(1min, 1s, 1).next() <= 2s);
    Backoff zero(0s, 0s, 1);
    for (int i = 0; i < 3; ++i) CHECK(zero.next() == 0s);
    const auto longest = delays({24h, 24h * 365, 1}, 40);
    CHECK(std::all_of(longest.begin(), longest.end(),
                      [](Duration d) { return d >= 24h && d <= 24h * 365 * 2; }));
}

TEST_CASE("Backoff: a uniform duration lies between zero and its limit") {
    Backoff backoff(1s, 1min, 5);
    Duration most = 0s;
    for (int i = 0; i < 1000; ++i) {
        const Duration d = backoff.uniform(100ms);
        CHECK((d >= 0s && d <= 100ms));
        most = std::max(most, d);
    }
    CHECK(most > 90ms);
    CHECK(backoff.uniform(0s) == 0s);
    CHECK(backoff.uniform(-1s) == 0s);
}
