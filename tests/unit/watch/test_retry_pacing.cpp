#include "k8s_sd/detail/watch/pacing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <deque>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

RetryPacing retry_pacing(Duration start_jitter = 0s, std::uint64_t seed = 1, Duration max = 30s) {
    static std::deque<WatchOptions> all;  // they outlive the pacings
    WatchOptions& options = all.emplace_back();
    options.backoff_min = 1s;
    options.backoff_max = max;
    options.start_jitter = start_jitter;
    return {options, seed};
}

bool is_between(Duration value, Duration min, Duration max) { return value >= min && value <= max; }

TEST_CASE("RetryPacing: the first request has a delay only with a start jitter") {
    CHECK_FALSE(retry_pacing().at_start());
    Duration latest = 0s;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto delay = retry_pacing(10s, seed).at_start();
        REQUIRE(delay);
        CHECK(is_between(*delay, 0s, 10s));
        latest = std::max(latest, *delay);
    }
    CHECK(latest > 5s);
}

TEST_CASE("RetryPacing: pauses after failures double up to the maximum, until requests work") {
    RetryPacing pacing = retry_pacing();
    for (const Duration d : {1s, 2s, 4s, 8s, 16s, 30s, 30s})
        CHECK(is_between(pacing.after_failure(), d, 2 * d));
    pacing.reset();
    CHECK(is_between(pacing.after_failure(), 1s, 2s));
}

TEST_CASE("RetryPacing: a pause after a timeout and one before an extra request do not grow") {
    RetryPacing pacing = retry_pacing();
    for (int i = 0; i < 10; ++i) {
        CHECK(is_between(pacing.after_timeout(), 0s, 1s));
        CHECK(is_between(pacing.short_pause(), 1s, 2s));
    }
    CHECK(is_between(pacing.after_failure(), 1s, 2s));
}

TEST_CASE("RetryPacing: Retry-After is waited for up to twice as long, at least the minimum") {
    RetryPacing pacing = retry_pacing();
    CHECK(is_between(pacing.after_refusal(5s), 5s, 10s));
    CHECK(is_between(pacing.after_refusal(0s), 1s, 2s));
    // Jitter is at most the longest backoff.
    CHECK(is_between(pacing.after_refusal(1h), 1h, 1h + 30s));
}

TEST_CASE("RetryPacing: after ten refusals in a row the backoff grows beyond Retry-After") {
    RetryPacing pacing = retry_pacing();
    for (int i = 0; i < 10; ++i) CHECK(pacing.after_refusal(1s) <= 2s);
    SECTION("in a row") {
        for (int i = 0; i < 5; ++i) pacing.after_refusal(1s);
        CHECK(pacing.after_refusal(1s) >= 30s);
    }
    SECTION("a response ends the row") {
        pacing.on_response();
        for (int i = 0; i < 10; ++i) CHECK(pacing.after_refusal(1s) <= 2s);
    }
}

TEST_CASE("RetryPacing: a poll waits up to a tenth longer") {
    RetryPacing pacing = retry_pacing();
    for (int i = 0; i < 20; ++i) CHECK(is_between(pacing.before_poll(20s), 20s, 22s));
}

TEST_CASE("RetryPacing: watches reopen within 100 ms, and after an early end with the start "
          "jitter, of at most 5 s") {
    RetryPacing plain = retry_pacing(), jittered = retry_pacing(1min);
    Duration latest = 0s;
    for (int i = 0; i < 100; ++i) {
        CHECK(is_between(plain.before_reopening(false), 0ms, 100ms));
        CHECK(is_between(jittered.before_reopening(true), 0ms, 100ms));
        const Duration pause = jittered.before_reopening(false);
        CHECK(is_between(pause, 0ms, 5100ms));
        latest = std::max(latest, pause);
    }
    CHECK(latest > 3s);
}

TEST_CASE("RetryPacing: early ends of watches have their own doubling pause, up to 10 s") {
    RetryPacing pacing = retry_pacing();
    for (const Duration d : {1s, 2s, 4s, 5s, 5s})
        CHECK(is_between(pacing.after_early_end(), d, 2 * d));
    CHECK(is_between(pacing.after_break(), 5s, 10s));
    CHECK(is_between(pacing.after_failure(), 1s, 2s));
    pacing.on_lived();
    CHECK(is_between(pacing.after_break(), 1s, 2s));
    CHECK(is_between(pacing.after_failure(), 2s, 4s));
}

TEST_CASE("RetryPacing: early ends of watches never wait longer than the longest backoff allows") {
    RetryPacing pacing = retry_pacing(0s, 1, 2s);
    for (int i = 0; i < 20; ++i) CHECK(pacing.after_early_end() <= 4s);
}

TEST_CASE("RetryPacing: after a broken connection clients return with the start jitter, too") {
    Duration latest = 0s;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Duration pause = retry_pacing(1min, seed).after_break();
        CHECK(is_between(pause, 1s, 7s));
        latest = std::max(latest, pause);
    }
    CHECK(latest > 4s);
}

}  // namespace
}  // namespace k8s_sd::detail
