#include "k8s_sd/environment.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <string>

namespace k8s_sd {
namespace {

using namespace std::chrono_literals;

struct Fixture {
    asio::io_context io;
    asio::strand<asio::io_context::executor_type> strand{io.get_executor()};
    std::shared_ptr<Clock> clock = system_clock();
    std::unique_ptr<Timer> first = clock->make_timer(strand);
    std::unique_ptr<Timer> second = clock->make_timer(strand);
    TimePoint past = clock->now() - 1s;
    std::string calls;
};

TEST_CASE("system_clock: is the steady clock") {
    const auto clock = system_clock();
    const auto before = std::chrono::steady_clock::now();
    const auto now = clock->now();
    CHECK(before <= now);
    CHECK(now <= std::chrono::steady_clock::now());
}

TEST_CASE("system_clock: a timer calls its handler on its executor, not inside the call") {
    Fixture f;
    f.first->expires_at(f.past, [&] {
        CHECK(f.strand.running_in_this_thread());
        f.calls += "1";
    });
    f.second->expires_at(f.clock->now() + 1ms, [&] { f.calls += "2"; });
    CHECK(f.calls.empty());
    f.io.run();
    CHECK(f.calls == "12");
}

TEST_CASE("system_clock: an expired wait that is already queued can still be taken back") {
    // Both waits have expired, so both completions are queued when the first handler runs.
    Fixture f;
    std::function<void()> take_back;
    std::string expected = "first";
    SECTION("by cancel") {
        take_back = [&] { f.second->cancel(); };
    }
    SECTION("by destruction") {
        take_back = [&] { f.second.reset(); };
    }
    SECTION("by a new wait") {
        take_back = [&] { f.second->expires_at(f.past, [&] { f.calls += ",new"; }); };
        expected = "first,new";
    }
    f.first->expires_at(f.past, [&] {
        f.calls += "first";
        take_back();
    });
    f.second->expires_at(f.past, [&] { f.calls += ",old"; });
    f.io.run();
    CHECK(f.calls == expected);
}

TEST_CASE("system_clock: a pending wait ends with cancel, a new wait or destruction") {
    Fixture f;
    f.first->expires_at(f.clock->now() + 1h, [&] { f.calls += "1"; });
    f.first->expires_at(f.past, [&] { f.calls += "2"; });
    f.second->expires_at(f.clock->now() + 1h, [&] { f.calls += "3"; });
    SECTION("cancel") { f.second->cancel(); }
    SECTION("destruction") { f.second.reset(); }
    f.io.run();
    CHECK(f.calls == "2");
}

TEST_CASE("system_clock: a handler may destroy or re-arm its own timer") {
    Fixture f;
    f.first->expires_at(f.past, [&] {
        f.calls += "1";
        f.first->expires_at(f.past, [&] {
            f.calls += "2";
            f.first.reset();
            f.calls += "3";
        });
    });
    f.io.run();
    CHECK(f.calls == "123");
}

TEST_CASE("system_clock: the ends of time are far away") {
    Fixture f;
    f.first->expires_at(TimePoint::max(), [&] { f.calls += "never"; });
    f.second->expires_at(TimePoint::min(), [&] {
        f.calls += "now";
        f.first->cancel();
    });
    f.io.run();
    CHECK(f.calls == "now");
}

}  // namespace
}  // namespace k8s_sd
