#include "k8s_sd/sim/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace k8s_sd::test {
namespace {

using namespace std::chrono_literals;
using sim::ManualClock;

/// A clock, and a context that records timers: "a@2 " two seconds after the start.
struct TimedContext {
    std::unique_ptr<Timer> timer() { return clock.make_timer(context.get_executor()); }
    std::function<void()> note(const std::string& name) {
        return [this, name] { log += name + "@" + std::to_string(seconds()) + " "; };
    }
    long seconds() const {
        return static_cast<long>(
            std::chrono::duration_cast<std::chrono::seconds>(clock.now() - begin).count());
    }
    std::string take() { return std::exchange(log, {}); }

    boost::asio::io_context context;
    ManualClock clock;
    const TimePoint begin = clock.now();
    std::string log;
};

}  // namespace

TEST_CASE("ManualClock: time stands still until it is moved, and never moves back") {
    TimedContext t;
    CHECK(t.clock.now() == t.begin);
    t.clock.advance(5s);
    CHECK(t.seconds() == 5);
    t.clock.advance(-5s);
    CHECK(t.seconds() == 5);
    CHECK(ManualClock().now() == t.begin);
}

TEST_CASE("ManualClock: handlers are posted, the earliest first, and see the new time") {
    TimedContext t;
    const auto a = t.timer();
    const auto b = t.timer();
    const auto c = t.timer();
    a->expires_at(t.begin + 3s, t.note("a"));
    b->expires_at(t.begin + 1s, t.note("b"));
    c->expires_at(t.begin + 6s, t.note("c"));
    t.clock.advance(5s);
    CHECK(t.take().empty());
    CHECK(t.clock.next_expiry() == t.begin + 6s);
    t.context.poll();
    CHECK(t.take() == "b@5 a@5 ");
}

TEST_CASE("ManualClock: with a context, each timer runs at its own time, and what it begins, too") {
    TimedContext t;
    const auto ticks = t.timer();
    const auto once = t.timer();
    int left = 3;
    std::function<void()> tick = [&] {
        t.note("tick")();
        boost::asio::post(t.context, t.note("after"));
        if (--left > 0) ticks->expires_at(t.clock.now() + 2s, tick);
    };
    ticks->expires_at(t.clock.now() + 2s, tick);
    once->expires_at(t.clock.now() + 3s, t.note("once"));
    CHECK(t.clock.advance(t.context, 5s) == 5);
    CHECK(t.take() == "tick@2 after@2 once@3 tick@4 after@4 ");
    CHECK(t.seconds() == 5);
    CHECK(t.clock.next_expiry() == t.begin + 6s);
    t.clock.advance(t.context, 1s);
    CHECK(t.take() == "tick@6 after@6 ");
    CHECK(t.clock.next_expiry() == TimePoint::max());
}

TEST_CASE("ManualClock: without time, what is ready runs, and a context that has stopped, too") {
    TimedContext t;
    const auto timer = t.timer();
    t.context.run();
    CHECK(t.context.stopped());
    timer->expires_at(t.begin, t.note("due"));
    boost::asio::post(t.context, t.note("ready"));
    CHECK(t.take().empty());
    CHECK(t.clock.advance(t.context, 0s) == 2);
    CHECK(t.take() == "due@0 ready@0 ");
}

TEST_CASE(
    "ManualClock: a posted handler is dropped by a cancellation, a new wait and destruction") {
    TimedContext t;
    auto timer = t.timer();
    timer->expires_at(t.begin + 1s, t.note("cancelled"));
    t.clock.advance(1s);
    timer->cancel();
    t.context.poll();
    CHECK(t.take().empty());

    timer->expires_at(t.begin + 2s, t.note("replaced"));
    t.clock.advance(1s);
    timer->expires_at(t.begin + 4s, t.note("new"));
    t.clock.advance(t.context, 5s);
    CHECK(t.take() == "new@4 ");

    timer->expires_at(t.begin + 8s, t.note("gone"));
    t.clock.advance(1s);
    timer.reset();
    t.clock.advance(t.context, 1s);
    CHECK(t.take().empty());
    CHECK(t.clock.next_expiry() == TimePoint::max());
}

TEST_CASE("ManualClock: a handler is posted once, however often time moves before it runs") {
    TimedContext t;
    const auto timer = t.timer();
    timer->expires_at(t.begin + 1s, [&] {
        t.note("outer")();
        t.context.poll();  // a second timer would run here
    });
    t.clock.advance(1s);
    CHECK(t.clock.next_expiry() == TimePoint::max());
    t.clock.advance(1s);
    t.clock.advance(t.context, 1s);
    CHECK(t.take() == "outer@2 ");
}

TEST_CASE("ManualClock: a handler may destroy its timer, and a timer may outlive the clock") {
    TimedContext t;
    auto timer = t.timer();
    timer->expires_at(t.begin + 1s, [&] {
        timer.reset();
        t.note("last")();
    });
    t.clock.advance(t.context, 1s);
    CHECK(t.take() == "last@1 ");

    auto clock = std::make_unique<ManualClock>();
    timer = clock->make_timer(t.context.get_executor());
    timer->expires_at(clock->now() + 1s, t.note("never"));
    clock.reset();
    timer->cancel();
    timer->expires_at(TimePoint(), t.note("due"));
    t.clock.advance(t.context, 0s);
    CHECK(t.take() == "due@1 ");
}

TEST_CASE("ManualClock: a timer of another context does not hold up the advance") {
    TimedContext t;
    boost::asio::io_context other;
    const auto elsewhere = t.clock.make_timer(other.get_executor());
    const auto here = t.timer();
    elsewhere->expires_at(t.begin + 1s, t.note("elsewhere"));
    here->expires_at(t.begin + 2s, t.note("here"));
    t.clock.advance(t.context, 3s);
    CHECK(t.take() == "here@2 ");
    other.poll();
    CHECK(t.take() == "elsewhere@3 ");
}

TEST_CASE("ManualClock: threads wait, cancel and read while another moves the time") {
    ManualClock clock;
    // advance() may still be posting to a context whose thread has ended.
    std::array<boost::asio::io_context, 3> contexts;
    std::vector<std::thread> threads;
    for (boost::asio::io_context& context : contexts) {
        threads.emplace_back([&clock, &context] {
            int ran = 0;
            for (int k = 0; k < 500; ++k) {
                const auto timer = clock.make_timer(context.get_executor());
                timer->expires_at(clock.now() + 1s, [&ran] { ++ran; });
                context.restart();
                context.poll();
                timer->cancel();
                const int before = ran;
                context.restart();
                context.poll();
                if (ran != before) ran = -10'000;
            }
            if (ran < 0) std::abort();
        });
    }
    for (int k = 0; k < 500; ++k) clock.advance(1s);
    for (std::thread& thread : threads) thread.join();
    CHECK(clock.next_expiry() == TimePoint::max());
}

}  // namespace k8s_sd::test
