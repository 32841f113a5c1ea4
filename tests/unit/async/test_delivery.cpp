#include "k8s_sd/detail/async/delivery.hpp"
#include "support/allocations.hpp"
#include "support/full_executor.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using detail::Delivery;
using detail::Pace;

namespace {

/// There is memory again when a timer is made.
class ClockWithMemory final : public Clock {
 public:
    explicit ClockWithMemory(std::shared_ptr<Clock> clock) : clock_(std::move(clock)) {}
    TimePoint now() const noexcept override { return clock_->now(); }
    std::unique_ptr<Timer> make_timer(boost::asio::any_io_executor executor) override {
        allocations_left = -1;
        return clock_->make_timer(std::move(executor));
    }

 private:
    const std::shared_ptr<Clock> clock_;
};

/// Delivers a number of times, each at its due time.
struct FakeSource final : Delivery::Source, std::enable_shared_from_this<FakeSource> {
    FakeSource(const boost::asio::any_io_executor& host, const boost::asio::any_io_executor& origin,
               const std::shared_ptr<Clock>& clock)
        : delivery(host, origin, clock, 10) {}

    bool deliver_next(TimePoint now) override {
        if (left == 0 || pace.due(now) > now) return false;
        --left;
        ++deliveries;
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
    int deliveries = 0;
    std::function<void()> on_call;
};

struct Fixture {
    void settle() { test::settle(context); }
    void advance(Duration time) {
        clock->advance(time);
        settle();
    }

    boost::asio::io_context context;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    bool full = false;  // no memory for handlers of the origin
    std::shared_ptr<FakeSource> source =
        std::make_shared<FakeSource>(context.get_executor(), FullExecutor{&context, &full}, clock);
};

}  // namespace

TEST_CASE("Delivery: a host is called by post, and the delivered state is taken then") {
    Fixture t;
    t.source->add(1);
    CHECK(t.source->deliveries == 0);
    t.source->left = 3;
    t.settle();
    CHECK(t.source->deliveries == 3);
    t.settle();
    CHECK(t.source->deliveries == 3);
}

TEST_CASE("Delivery: a wake without memory for its handler is repeated by the next one") {
    Fixture t;
    allocations_left = 0;
    CHECK_THROWS_AS(t.source->add(1), std::bad_alloc);
    allocations_left = -1;
    t.settle();
    CHECK(t.source->deliveries == 0);
    t.source->add(1);
    t.settle();
    CHECK(t.source->deliveries == 2);
}

TEST_CASE("Delivery: without memory for the handler behind a batch, the next wake delivers") {
    Fixture t;
    t.full = true;
    t.source->add(1);
    t.settle();
    CHECK(t.source->deliveries == 1);
    t.full = false;
    t.source->add(1);
    t.settle();
    CHECK(t.source->deliveries == 2);
}

TEST_CASE("Delivery: a poll without memory for its handler is repeated after a pause") {
    Fixture t;
    const auto source =
        std::make_shared<FakeSource>(t.context.get_executor(), t.context.get_executor(),
                                     std::make_shared<ClockWithMemory>(t.clock));
    allocations_left = 0;
    CHECK_THROWS_AS(source->add(1), std::bad_alloc);
    CHECK(allocations_left == -1);
    t.settle();
    CHECK(source->deliveries == 0);
    SECTION("once") {
        t.advance(1s);
        CHECK(source->deliveries == 1);
    }
    SECTION("unless it is cancelled") {
        source->delivery.cancel(source);
        t.advance(1s);
        CHECK(source->deliveries == 0);
        CHECK(t.clock->next_expiry() == TimePoint::max());
    }
}

TEST_CASE("Delivery: the rest of a batch without memory for its handler follows after a pause") {
    Fixture t;
    t.full = true;
    t.source->add(11);
    t.settle();
    CHECK(t.source->deliveries == 10);
    t.full = false;
    t.advance(1s);
    CHECK(t.source->deliveries == 11);
}

TEST_CASE("Delivery: changes until the invocation after a call are delivered together") {
    Fixture t;
    t.source->add(1);
    t.context.run_one();
    CHECK(t.source->deliveries == 1);
    for (int i = 0; i < 3; ++i) t.source->add(1);
    t.context.run_one();
    CHECK(t.source->deliveries == 1);
    t.context.run_one();
    CHECK(t.source->deliveries == 4);
}

TEST_CASE("Delivery: any number of wakes before the host comes is one") {
    Fixture t;
    for (int i = 0; i < 10; ++i) t.source->delivery.wake(t.source);
    CHECK(settle(t.context) == 1);
}

TEST_CASE("Delivery: other handlers of the host run in between") {
    Fixture t;
    t.source->add(1000);
    int deliveries_before = 0;
    boost::asio::post(t.context, [&] { deliveries_before = t.source->deliveries; });
    t.settle();
    CHECK(deliveries_before == 10);
    CHECK(t.source->deliveries == 1000);
}

TEST_CASE("Delivery: a change that is not yet due is delivered when it is") {
    Fixture t;
    t.source->pace.set_interval(10s);
    t.source->add(3);
    t.settle();
    CHECK(t.source->deliveries == 1);
    t.advance(9s);
    CHECK(t.source->deliveries == 1);
    t.advance(1s);
    CHECK(t.source->deliveries == 2);
    SECTION("or earlier, if it is due earlier") {
        t.source->pace.set_interval(2s);
        t.source->delivery.wake(t.source);
        t.settle();
        t.advance(2s);
        CHECK(t.source->deliveries == 3);
    }
    SECTION("or not at all, if there is nothing to deliver any more") {
        t.source->left = 0;
        t.advance(1h);
        CHECK(t.source->deliveries == 2);
    }
}

TEST_CASE(
    "Delivery: an exception of the host counts as a delivery, and the next change is delivered") {
    Fixture t;
    t.source->on_call = [] { throw std::runtime_error("host"); };
    t.source->add(2);
    CHECK_THROWS_AS(t.settle(), std::runtime_error);
    CHECK(t.source->deliveries == 1);
    t.source->on_call = nullptr;
    t.settle();
    CHECK(t.source->deliveries == 2);
}

TEST_CASE("Delivery: after a cancellation nothing is delivered and no timer is pending") {
    Fixture t;
    t.source->pace.set_interval(10s);
    SECTION("before the first call") { t.source->add(2); }
    SECTION("while it waits") {
        t.source->add(3);
        t.settle();
    }
    const int before = t.source->deliveries;
    CHECK(t.source->delivery.cancel(t.source));
    CHECK_FALSE(t.source->delivery.cancel(t.source));
    CHECK(t.source->delivery.cancelled());
    t.settle();
    t.source->add(1);
    t.advance(1h);
    CHECK(t.source->deliveries == before);
    CHECK(t.clock->next_expiry() == TimePoint::max());
    CHECK(t.source.use_count() == 1);
}

TEST_CASE("Delivery: a wait does not keep its source alive") {
    Fixture t;
    t.source->pace.set_interval(10s);
    t.source->add(2);
    t.settle();
    CHECK(t.source.use_count() == 1);
    t.source.reset();
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
