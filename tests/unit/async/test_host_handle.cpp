#include "k8s_sd/detail/async/host_handle.hpp"
#include "k8s_sd/detail/async/reader.hpp"
#include "support/full_executor.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// What next fails for lack of memory.
enum class Failing { nothing, taking, preparing };

/// Delivers sums of numbers.
class SumHandle final : public detail::HostHandle<int> {
 public:
    SumHandle(const asio::any_io_executor& host, const asio::any_io_executor& origin,
              const std::shared_ptr<ManualClock>& clock, bool is_called)
        : HostHandle(host, origin, clock, std::make_shared<Metrics>(), Duration(), is_called) {}
    DiscovererStatus status() const override { return {}; }
    void add(int number) {
        const std::lock_guard lock(mutex_);
        sum_ += number;
        note_changes();
        wake();
    }
    void sync() { on_first_state(); }
    bool is_late() {
        const std::lock_guard lock(mutex_);
        return is_behind();
    }

    Failing failing = Failing::nothing;
    std::vector<int> received;

 private:
    bool has_news() const override { return sum_ != 0; }
    int take_news() override {
        if (failing == Failing::taking) throw std::bad_alloc();
        return std::exchange(sum_, 0);
    }
    void prepare(const int&) override {
        if (failing == Failing::preparing) throw std::bad_alloc();
    }
    void call(const int& sum) override { received.push_back(sum); }

    int sum_ = 0;
};

bool conversion_fails = false;
std::function<void()> during_conversion;

/// A handle whose host reads or is called.
struct HandleFixture {
    explicit HandleFixture(bool is_called)
        : handle(std::make_shared<SumHandle>(FullExecutor{&context, &full}, context.get_executor(),
                                             clock, is_called)) {}
    ~HandleFixture() {
        handle->cancel();
        settle();
    }
    void read() {
        const auto note = [this](error_code error, int sum) {
            ec = error;
            if (!error) handle->received.push_back(sum);
        };
        handle->read(std::make_unique<detail::NextOperation<int, int>>(
            asio::bind_cancellation_slot(cancelled.slot(), note), context.get_executor(),
            [](const int& sum) {
                if (const auto call = std::exchange(during_conversion, nullptr)) call();
                return conversion_fails ? throw std::bad_alloc() : sum;
            }));
    }
    void settle() { test::settle(context); }
    void advance(Duration time) {
        clock->advance(time);
        settle();
    }

    asio::io_context context;
    bool full = false;  ///< no memory for handlers of the host
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<SumHandle> handle;
    asio::cancellation_signal cancelled;
    std::optional<error_code> ec;  ///< of the last read
};

using Sums = std::vector<int>;

}  // namespace

TEST_CASE("HostHandle: a diff without memory is delivered a second later, before later changes") {
    HandleFixture f(true);
    f.handle->failing = Failing::preparing;
    f.handle->add(1);
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    CHECK(f.handle->is_late());
    f.handle->add(2);
    f.settle();
    CHECK_THROWS_AS(f.advance(1s), std::bad_alloc);
    f.handle->failing = Failing::nothing;
    f.handle->add(3);
    f.settle();
    CHECK(f.handle->received.empty());
    f.advance(1s);
    CHECK(f.handle->received == Sums{1, 5});
    CHECK_FALSE(f.handle->is_late());
}

TEST_CASE("HostHandle: changes that cannot be taken are coalesced with later ones") {
    HandleFixture f(true);
    f.handle->failing = Failing::taking;
    f.handle->add(1);
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    f.handle->failing = Failing::nothing;
    f.handle->add(2);
    f.settle();
    CHECK(f.handle->received.empty());
    f.advance(1s);
    CHECK(f.handle->received == Sums{3});
}

TEST_CASE("HostHandle: a read without memory for its result is still pending, and gets the diff") {
    HandleFixture f(false);
    f.read();
    conversion_fails = true;
    f.handle->add(1);
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    conversion_fails = false;
    CHECK_FALSE(f.ec);
    f.handle->add(2);
    SECTION("after a second") {}
    SECTION("unless it is cancelled: then the next read does") {
        f.cancelled.emit(asio::cancellation_type::terminal);
        f.settle();
        CHECK(f.ec == asio::error::operation_aborted);
        f.read();
    }
    f.advance(1s);
    CHECK(f.ec == error_code());
    CHECK(f.handle->received == Sums{1});
    f.read();
    f.settle();
    CHECK(f.handle->received == Sums{1, 2});
}

TEST_CASE("HostHandle: a wait without memory for its handler is completed after a pause") {
    HandleFixture f(true);
    std::optional<error_code> ended;
    f.handle->wait_synced([&](error_code ec) { ended = ec; });
    f.full = true;
    CHECK_THROWS_AS(f.handle->sync(), std::bad_alloc);
    f.full = false;
    f.settle();
    CHECK_FALSE(ended);
    f.advance(1s);
    CHECK(ended == error_code());
}

TEST_CASE("HostHandle: waits and reads without memory for their end are ended after a pause") {
    HandleFixture f(false);
    std::optional<error_code> wait, read;
    f.handle->wait_synced([&](error_code ec) { wait = ec; });
    f.handle->read(std::make_unique<detail::NextOperation<int, int>>(
        [&](error_code ec, int) { read = ec; }, f.handle->executor(),
        [](const int& sum) { return sum; }));
    f.full = true;
    f.handle->cancel();
    f.full = false;
    f.settle();
    CHECK_FALSE(wait);
    CHECK_FALSE(read);
    f.advance(1s);
    CHECK(wait == asio::error::operation_aborted);
    CHECK(read == asio::error::operation_aborted);
}

TEST_CASE("HostHandle: a reverted change that could not be taken leaves nothing to repeat") {
    HandleFixture f(true);
    f.handle->failing = Failing::taking;
    f.handle->add(1);
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    CHECK(f.handle->is_late());
    f.handle->add(-1);
    CHECK_FALSE(f.handle->is_late());
}

TEST_CASE("HostHandle: a read that another one replaces during its conversion is not overtaken") {
    HandleFixture f(false);
    f.read();
    // As if another thread cancelled the read and began the next one.
    during_conversion = [&] {
        f.cancelled.emit(asio::cancellation_type::terminal);
        f.handle->add(2);
        f.read();
        f.context.poll();
    };
    f.handle->add(1);
    f.settle();
    CHECK(f.handle->received == Sums{1});
    f.read();
    f.settle();
    CHECK(f.handle->received == Sums{1, 2});
}

TEST_CASE("HostHandle: two reads without memory for their cancellation both end after a pause") {
    HandleFixture f(false);
    std::vector<error_code> ended;
    f.full = true;
    for (int i = 0; i < 2; ++i) {
        const auto note = [&](error_code ec, int) { ended.push_back(ec); };
        f.handle->read(std::make_unique<detail::NextOperation<int, int>>(
            asio::bind_cancellation_slot(f.cancelled.slot(), note), f.handle->executor(),
            [](const int& sum) { return sum; }));
        f.cancelled.emit(asio::cancellation_type::terminal);
    }
    f.full = false;
    f.settle();
    CHECK(ended.empty());
    f.advance(1s);
    const error_code aborted = asio::error::operation_aborted;
    CHECK(ended == std::vector{aborted, aborted});
}
