#include "k8s_sd/detail/base/delivery.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using detail::Delivery;
using detail::Pace;

namespace {

/// Delivers a number of times, each at its due time.
struct Teller final : Delivery::Source, std::enable_shared_from_this<Teller> {
    Teller(boost::asio::io_context& context, const std::shared_ptr<ManualClock>& clock)
        : delivery(context.get_executor(), context.get_executor(), clock, 10) {}

    bool tell_next(TimePoint now) override {
        if (left == 0 || pace.due(now) > now) return false;
        --left;
        ++told;
        pace.called(now);
        if (on_call) on_call();
        return true;
    }
    std::optional<TimePoint> next_due(TimePoint now) override {
        if (left == 0) return std::nullopt;
        return pace.due(now);
    }
    void add(int calls) {
        left += calls;
        delivery.wake(shared_from_this());
    }

    Delivery delivery;
    Pace pace;
    int left = 0;
    int told = 0;
    std::function<void()> on_call;
};

struct Telling {
    void settle() { test::settle(context); }
    void advance(Duration time) {
        clock->advance(time);
        settle();
    }

    boost::asio::io_context context;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<Teller> teller = std::make_shared<Teller>(context, clock);
};

}  // namespace

TEST_CASE("Delivery: a host is called by post, and what is told is taken then") {
    Telling t;
    t.teller->add(1);
    CHECK(t.teller->told == 0);
    t.teller->left = 3;
    t.settle();
    CHECK(t.teller->told == 3);
    t.settle();
    CHECK(t.teller->told == 3);
}

TEST_CASE("Delivery: what changes until the turn after a call is told together") {
    Telling t;
    t.teller->add(1);
    t.context.run_one();
    CHECK(t.teller->told == 1);
    for (int i = 0; i < 3; ++i) t.teller->add(1);
    t.context.run_one();
    CHECK(t.teller->told == 1);
    t.context.run_one();
    CHECK(t.teller->told == 4);
}

TEST_CASE("Delivery: any number of wakes before the host comes is one") {
    Telling t;
    for (int i = 0; i < 10; ++i) t.teller->delivery.wake(t.teller);
    CHECK(settle(t.context) == 1);
}

TEST_CASE("Delivery: other handlers of the host get their turn") {
    Telling t;
    t.teller->add(1000);
    int told_before = 0;
    boost::asio::post(t.context, [&] { told_before = t.teller->told; });
    t.settle();
    CHECK(told_before == 10);
    CHECK(t.teller->told == 1000);
}

TEST_CASE("Delivery: what is not yet due is told when it is") {
    Telling t;
    t.teller->pace.set_interval(10s);
    t.teller->add(3);
    t.settle();
    CHECK(t.teller->told == 1);
    t.advance(9s);
    CHECK(t.teller->told == 1);
    t.advance(1s);
    CHECK(t.teller->told == 2);
    SECTION("or earlier, if it is due earlier") {
        t.teller->pace.set_interval(2s);
        t.teller->delivery.wake(t.teller);
        t.settle();
        t.advance(2s);
        CHECK(t.teller->told == 3);
    }
    SECTION("or not at all, if there is nothing to tell any more") {
        t.teller->left = 0;
        t.advance(1h);
        CHECK(t.teller->told == 2);
    }
}

TEST_CASE("Delivery: an exception of the host counts as told, and what comes next is told") {
    Telling t;
    t.teller->on_call = [] { throw std::runtime_error("host"); };
    t.teller->add(2);
    CHECK_THROWS_AS(t.settle(), std::runtime_error);
    CHECK(t.teller->told == 1);
    t.teller->on_call = nullptr;
    t.settle();
    CHECK(t.teller->told == 2);
}

TEST_CASE("Delivery: after a cancellation nothing is told and nothing is waited for") {
    Telling t;
    t.teller->pace.set_interval(10s);
    SECTION("before the first call") { t.teller->add(2); }
    SECTION("while it waits") {
        t.teller->add(3);
        t.settle();
    }
    const int before = t.teller->told;
    CHECK(t.teller->delivery.cancel(t.teller));
    CHECK_FALSE(t.teller->delivery.cancel(t.teller));
    CHECK(t.teller->delivery.cancelled());
    t.settle();
    t.teller->add(1);
    t.advance(1h);
    CHECK(t.teller->told == before);
    CHECK(t.clock->next_expiry() == TimePoint::max());
    CHECK(t.teller.use_count() == 1);
}

TEST_CASE("Delivery: a wait does not keep its source alive") {
    Telling t;
    t.teller->pace.set_interval(10s);
    t.teller->add(2);
    t.settle();
    CHECK(t.teller.use_count() == 1);
    t.teller.reset();
    t.advance(1h);
    CHECK(t.clock->next_expiry() == TimePoint::max());
}

TEST_CASE("Pace: the first call is due at once, the next one after the interval") {
    const TimePoint start(1h);
    Pace pace(10s);
    CHECK_FALSE(pace.begun());
    CHECK(pace.due(start) == start);
    pace.called(start);
    CHECK(pace.begun());
    CHECK(pace.due(start) == start + 10s);
    CHECK(pace.due(start + 1min) == start + 1min);
    pace.set_interval(Duration::max());
    CHECK(pace.due(start) == TimePoint::max());
}
