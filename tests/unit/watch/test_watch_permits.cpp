#include "k8s_sd/detail/watch/watch_permits.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// Has no memory for timers while `fails`.
class ClockWithoutMemory final : public Clock {
 public:
    explicit ClockWithoutMemory(Clock& clock) : clock_(clock) {}
    TimePoint now() const noexcept override { return clock_.now(); }
    std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
        if (fails) throw std::bad_alloc();
        return clock_.make_timer(std::move(executor));
    }

    bool fails = false;

 private:
    Clock& clock_;
};

/// The permits of a watch on a server with one permit of each sort.
struct PermitsFixture {
    PermitsFixture() { make(); }

    void make() {
        owner = std::make_shared<int>();
        permits.emplace(executor, *clock, traffic, 1);
    }
    /// Counts the calls.
    WatchPermits::Handler count() {
        return [this] { ++calls; };
    }
    void advance(Duration time) { clock->advance(context, time); }
    void settle() { test::settle(context); }
    /// The server fails and works again.
    void recover() {
        traffic->on_failure();
        traffic->on_success();
    }

    asio::io_context context;
    const asio::any_io_executor executor = context.get_executor();
    std::shared_ptr<sim::ManualClock> clock = std::make_shared<sim::ManualClock>();
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    std::shared_ptr<ServerTraffic> traffic =
        std::make_shared<ServerTraffic>(ServerLimits{.concurrent_lists = 1, .watches = 1}, metrics);
    std::shared_ptr<int> owner;
    std::optional<WatchPermits> permits;
    int calls = 0;
};

}  // namespace

TEST_CASE("WatchPermits: a list keeps its permit until it returns it") {
    PermitsFixture f;
    REQUIRE(f.permits->take_list_permit(f.owner));
    CHECK(f.permits->take_list_permit(f.owner));  // the same one
    CHECK_FALSE(f.traffic->list_permits->try_permit());
    f.permits->return_list_permit();
    CHECK(f.traffic->list_permits->try_permit());
}

TEST_CASE("WatchPermits: without a permit a list waits for one") {
    PermitsFixture f;
    PermitQueue::Permit other = f.traffic->list_permits->try_permit();
    REQUIRE_FALSE(f.permits->take_list_permit(f.owner));
    f.permits->async_list_permit(f.owner, f.count());
    f.advance(1min);
    CHECK(f.calls == 0);
    other.reset();
    f.settle();
    CHECK(f.calls == 1);
    CHECK_FALSE(f.traffic->list_permits->try_permit());
    f.advance(10min);
    CHECK(f.calls == 1);
}

TEST_CASE("WatchPermits: after two minutes a list goes ahead without a permit") {
    PermitsFixture f;
    PermitQueue::Permit other = f.traffic->list_permits->try_permit();
    f.permits->async_list_permit(f.owner, f.count());
    f.advance(2min);
    CHECK(f.calls == 1);
    CHECK(f.metrics->lists_waiting == 0);
    other.reset();
    f.settle();
    CHECK(f.calls == 1);
    CHECK(f.traffic->list_permits->try_permit());
}

TEST_CASE("WatchPermits: a list that went ahead without a permit needs none for its next page") {
    PermitsFixture f;
    const PermitQueue::Permit other = f.traffic->list_permits->try_permit();
    f.permits->async_list_permit(f.owner, f.count());
    f.advance(WatchPermits::max_list_permit_wait);
    REQUIRE(f.calls == 1);
    CHECK(f.permits->take_list_permit(f.owner));
    CHECK(f.permits->take_list_permit(f.owner));
    f.permits->return_list_permit();
    CHECK_FALSE(f.permits->take_list_permit(f.owner));
}

TEST_CASE(
    "WatchPermits: a list that takes long passes its permit on, and needs none from then on") {
    PermitsFixture f;
    const bool waits = GENERATE(false, true);
    if (waits) {
        PermitQueue::Permit other = f.traffic->list_permits->try_permit();
        f.permits->async_list_permit(f.owner, f.count());
        other.reset();
        f.settle();
        REQUIRE(f.calls == 1);
    } else {
        REQUIRE(f.permits->take_list_permit(f.owner));
    }
    f.advance(WatchPermits::max_list_permit_time - 1ms);
    CHECK_FALSE(f.traffic->list_permits->try_permit());
    f.advance(1ms);
    const PermitQueue::Permit other = f.traffic->list_permits->try_permit();
    CHECK(other);
    CHECK(f.permits->take_list_permit(f.owner));
    f.permits->return_list_permit();
    CHECK_FALSE(f.permits->take_list_permit(f.owner));
}

TEST_CASE(
    "WatchPermits: a list without memory for its permit goes ahead at its time, without one") {
    PermitsFixture f;
    ClockWithoutMemory clock(*f.clock);
    f.permits.emplace(f.executor, clock, f.traffic, 1);
    PermitQueue::Permit other = f.traffic->list_permits->try_permit();
    f.permits->async_list_permit(f.owner, f.count());
    clock.fails = true;
    other.reset();
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    CHECK(f.traffic->list_permits->try_permit());
    CHECK(f.calls == 0);
    clock.fails = false;
    f.advance(WatchPermits::max_list_permit_wait);
    CHECK(f.calls == 1);
}

TEST_CASE("WatchPermits: the time of a permit begins with its list") {
    PermitsFixture f;
    for (int list = 0; list < 3; ++list) {
        REQUIRE(f.permits->take_list_permit(f.owner));
        f.advance(WatchPermits::max_list_permit_time - 1ms);
        CHECK_FALSE(f.traffic->list_permits->try_permit());
        f.permits->return_list_permit();
    }
    f.advance(10min);
    CHECK(f.metrics->lists_running == 0);
}

TEST_CASE("WatchPermits: a watch gets a permit while the limit is not reached") {
    PermitsFixture f;
    REQUIRE(f.permits->take_watch_permit());
    CHECK(f.permits->take_watch_permit());  // in place of its own
    CHECK_FALSE(f.traffic->watch_permits->try_permit());
    f.permits->return_watch_permit();
    const PermitQueue::Permit other = f.traffic->watch_permits->try_permit();
    CHECK(other);
    CHECK_FALSE(f.permits->take_watch_permit());
}

TEST_CASE("WatchPermits: a sleep ends after its pause") {
    PermitsFixture f;
    f.permits->async_sleep(10s, false, f.owner, f.count());
    f.recover();
    f.advance(9s);
    CHECK(f.calls == 0);
    f.advance(1s);
    CHECK(f.calls == 1);
}

TEST_CASE("WatchPermits: the recovery of the server ends a sleep after four to five seconds") {
    PermitsFixture f;
    f.traffic->on_failure();
    f.permits->on_request();
    f.permits->async_sleep(1h, true, f.owner, f.count());
    SECTION("at once") {
        f.recover();
        f.advance(4s - 1ms);
        CHECK(f.calls == 0);
        f.advance(1s + 1ms);
        CHECK(f.calls == 1);
    }
    SECTION("later, with the jitter only") {
        f.advance(1min);
        f.recover();
        f.advance(1s);
        CHECK(f.calls == 1);
    }
}

TEST_CASE("WatchPermits: a recovery during the failed request counts, but not twice in a row") {
    PermitsFixture f;
    f.permits->on_request();
    f.recover();
    f.permits->async_sleep(1h, true, f.owner, f.count());
    f.advance(5s);
    CHECK(f.calls == 1);
    f.permits->async_sleep(1h, true, f.owner, f.count());
    f.recover();
    f.advance(59min);
    CHECK(f.calls == 1);
    f.advance(1min);
    CHECK(f.calls == 2);
}

TEST_CASE("WatchPermits: a recovery just before the end of a sleep changes nothing") {
    PermitsFixture f;
    f.traffic->on_failure();
    f.permits->on_request();
    f.permits->async_sleep(3s, true, f.owner, f.count());
    f.recover();
    f.advance(3s - 1ms);
    CHECK(f.calls == 0);
    f.advance(1ms);
    CHECK(f.calls == 1);
}

TEST_CASE("WatchPermits: a server is left within five seconds, whatever the timer does") {
    PermitsFixture f;
    f.permits->leave_later(f.owner, f.count());
    f.permits->cancel();
    f.advance(5s);
    CHECK(f.calls == 1);
}

TEST_CASE("WatchPermits: cancel() returns the permits and ends the waits") {
    PermitsFixture f;
    REQUIRE(f.permits->take_list_permit(f.owner));
    REQUIRE(f.permits->take_watch_permit());
    f.permits->async_sleep(1s, true, f.owner, f.count());
    f.permits->cancel();
    CHECK(f.traffic->list_permits->try_permit());
    CHECK(f.traffic->watch_permits->try_permit());
    f.recover();
    f.advance(1min);
    CHECK(f.calls == 0);
}

TEST_CASE("WatchPermits: no handler is called after stop(), or without its owner") {
    PermitsFixture f;
    PermitQueue::Permit other = f.traffic->list_permits->try_permit();
    f.permits->async_list_permit(f.owner, f.count());
    f.permits->leave_later(f.owner, f.count());
    SECTION("stopped") { f.permits->stop(); }
    SECTION("without its owner") { f.owner.reset(); }
    other.reset();
    f.advance(10min);
    CHECK(f.calls == 0);
}

TEST_CASE("WatchPermits: a handler may destroy the owner and its permits") {
    PermitsFixture f;
    f.permits->async_sleep(1s, true, f.owner, [&f] {
        ++f.calls;
        f.permits.reset();
        f.owner.reset();
    });
    f.advance(1s);
    CHECK(f.calls == 1);
    CHECK_FALSE(f.permits);
}

}  // namespace k8s_sd::detail
