#include "k8s_sd/detail/async/run_state.hpp"
#include "support/full_executor.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using detail::RunState;
namespace asio = boost::asio;

namespace {

/// Records its calls; delivers one number a wake-up.
struct NumberState final : RunState {
    NumberState(const asio::any_io_executor& host, const std::shared_ptr<ManualClock>& clock)
        : RunState(host, host, clock, 1) {}

    void begin() override {
        if (std::exchange(begin_fails, false)) throw std::bad_alloc();
        calls.emplace_back("begin");
    }
    void end() noexcept override {
        calls.emplace_back("end");
        if (posts_end) post_end(executor(), [this] { calls.emplace_back("ended later"); });
    }
    void on_ended() noexcept override {
        const std::lock_guard lock(mutex_);  // not held by the caller
        calls.emplace_back("on_ended");
    }
    bool deliver_next(TimePoint) override {
        if (!std::exchange(news, false) || cancelled()) return false;
        if (on_call) on_call();
        ++deliveries;
        return true;
    }
    std::optional<TimePoint> next_due(TimePoint now) override {
        return news ? std::optional(now) : std::nullopt;
    }
    void add() {
        news = true;
        wake();
    }
    bool is_running() {
        const std::lock_guard lock(mutex_);
        return running();
    }

    std::vector<std::string> calls;
    std::function<void()> on_call;
    bool begin_fails = false;
    bool posts_end = false;
    bool news = false;
    int deliveries = 0;
};

struct RunStateFixture {
    /// Runs the state, and stores the result.
    auto runs(std::optional<error_code>& result) {
        return [&result](error_code ec) { result = ec; };
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    bool full = false;  ///< no memory for handlers
    std::shared_ptr<NumberState> state =
        std::make_shared<NumberState>(FullExecutor{&context, &full}, clock);
    std::optional<error_code> first, second;
};

using RunCalls = std::vector<std::string>;

}  // namespace

TEST_CASE("RunState: a run begins at once and completes after cancel()") {
    RunStateFixture t;
    t.state->run(t.runs(t.first));
    CHECK(t.state->calls == RunCalls{"begin"});
    CHECK(t.state->is_running());
    t.settle();
    CHECK_FALSE(t.first);
    t.state->cancel();
    CHECK(t.state->calls == RunCalls{"begin", "end", "on_ended"});
    CHECK_FALSE(t.state->is_running());
    CHECK_FALSE(t.first);  // completed by post
    t.settle();
    CHECK(t.first == error_code(asio::error::operation_aborted));
}

TEST_CASE("RunState: a second run is refused, and the first one goes on") {
    RunStateFixture t;
    t.state->run(t.runs(t.first));
    t.state->run(t.runs(t.second));
    t.settle();
    CHECK(t.second == error_code(asio::error::already_started));
    CHECK_FALSE(t.first);
    CHECK(t.state->calls == RunCalls{"begin"});
    t.state->cancel();
}

TEST_CASE("RunState: a run after cancel() is refused") {
    RunStateFixture t;
    t.state->cancel();
    t.state->run(t.runs(t.first));
    t.settle();
    CHECK(t.first == error_code(asio::error::operation_aborted));
    CHECK(t.state->calls == RunCalls{"end", "on_ended"});
}

TEST_CASE("RunState: only the first cancel() has an effect") {
    RunStateFixture t;
    t.state->cancel();
    t.state->cancel();
    CHECK(t.state->calls == RunCalls{"end", "on_ended"});
}

TEST_CASE("RunState: the cancellation slot of a run cancels the state") {
    RunStateFixture t;
    asio::cancellation_signal signal;
    t.state->run(asio::bind_cancellation_slot(signal.slot(), t.runs(t.first)));
    signal.emit(asio::cancellation_type::total);  // of no use: it may have had effects
    CHECK(t.state->is_running());
    signal.emit(asio::cancellation_type::terminal);
    t.settle();
    CHECK(t.first == error_code(asio::error::operation_aborted));
    CHECK(t.state->calls == RunCalls{"begin", "end", "on_ended"});
}

TEST_CASE("RunState: without memory for handlers it ends after a pause") {
    RunStateFixture f;
    f.state->posts_end = true;
    f.state->run(f.runs(f.first));
    f.full = true;
    f.state->cancel();
    f.full = false;
    f.settle();
    CHECK_FALSE(f.first);
    CHECK(f.state->calls == RunCalls{"begin", "end", "on_ended"});
    f.clock->advance(std::chrono::seconds(1));
    f.settle();
    CHECK(f.first == asio::error::operation_aborted);
    CHECK(f.state->calls == RunCalls{"begin", "end", "on_ended", "ended later"});
}

TEST_CASE("RunState: a run that cannot begin is refused, and the next one begins") {
    RunStateFixture f;
    f.state->begin_fails = true;
    CHECK_THROWS_AS(f.state->run(f.runs(f.first)), std::bad_alloc);
    CHECK_FALSE(f.state->is_running());
    f.state->run(f.runs(f.second));
    CHECK(f.state->calls == RunCalls{"begin"});
    f.state->cancel();
    f.settle();
    CHECK_FALSE(f.first);
    CHECK(f.second == asio::error::operation_aborted);
}

TEST_CASE("RunState: nothing is delivered after cancel()") {
    RunStateFixture t;
    t.state->add();
    t.settle();
    CHECK(t.state->deliveries == 1);
    t.state->add();
    t.state->cancel();
    t.settle();
    CHECK(t.state->deliveries == 1);
}

TEST_CASE("RunState: a host cancels and drops the state in a delivery") {
    RunStateFixture t;
    t.state->run(t.runs(t.first));
    const std::weak_ptr<NumberState> weak = t.state;
    t.state->on_call = [&] {
        t.state->cancel();
        t.state.reset();
    };
    t.state->add();
    t.settle();
    CHECK(t.first == error_code(asio::error::operation_aborted));
    CHECK(weak.expired());
}

TEST_CASE("RunState: an unfinished run is destroyed with its context") {
    const auto token = std::make_shared<int>();
    std::weak_ptr<NumberState> weak;
    {
        asio::io_context context;
        auto state =
            std::make_shared<NumberState>(context.get_executor(), std::make_shared<ManualClock>());
        weak = state;
        // The handler calls the state while the context destroys it.
        struct CancelsOnDestruction {
            std::shared_ptr<NumberState> state;
            std::shared_ptr<int> token;
            CancelsOnDestruction(std::shared_ptr<NumberState> s, std::shared_ptr<int> t)
                : state(std::move(s)), token(std::move(t)) {}
            CancelsOnDestruction(CancelsOnDestruction&&) = default;
            ~CancelsOnDestruction() {
                if (state) state->cancel();
            }
            void operator()(error_code) const {}
        };
        state->run(CancelsOnDestruction(state, token));
        state->cancel();
        state.reset();  // a strand must not outlive its context
    }
    CHECK(token.use_count() == 1);
    CHECK(weak.expired());
}

TEST_CASE("take_over() cancels the state of the assigned handle only") {
    RunStateFixture t;
    auto other = std::make_shared<NumberState>(t.context.get_executor(), t.clock);
    const auto replaced = t.state;
    const auto taken = other;
    detail::take_over(t.state, t.state);
    CHECK(replaced->calls.empty());
    detail::take_over(t.state, other);
    CHECK(replaced->calls == RunCalls{"end", "on_ended"});
    CHECK(t.state == taken);
    CHECK(taken->calls.empty());
    CHECK(other == nullptr);
    std::shared_ptr<NumberState> empty;
    detail::take_over(empty, t.state);
    CHECK(empty == taken);
    CHECK(taken->calls.empty());
}
