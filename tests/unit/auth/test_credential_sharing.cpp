#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "support/manual_clock.hpp"
#include "support/slow_source.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

/// Credentials from a slow source, and the results for their callers.
struct Shared {
    void get() {
        credentials->async_get([this](const RequestCredentials& answer) {
            received.push_back(answer.ec ? "error: " + answer.problem
                                         : std::string(view(answer.value)));
            revision = answer.revision;
        });
    }
    /// Reports the value of the last result as refused.
    void refresh() { refresh(revision); }
    void refresh(std::uint64_t refused) {
        credentials->async_refresh(refused, [this](bool changed) {
            received.emplace_back(changed ? "changed" : "the same");
        });
    }
    Texts take() { return std::exchange(received, {}); }

    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::shared_ptr<test::SlowSource::Control> control =
        std::make_shared<test::SlowSource::Control>();
    std::unique_ptr<Credentials> credentials =
        std::make_unique<Credentials>(std::make_unique<test::SlowSource>(control), clock);
    Texts received;
    std::uint64_t revision = 0;
};

TEST_CASE("Credentials: the source is asked once for all who wait, and not again while the value "
          "serves") {
    Shared s;
    for (int i = 0; i < 10; ++i) s.get();
    CHECK(s.control->asked == 1);
    CHECK(s.take().empty());
    s.control->answer("Bearer one");
    CHECK(s.take() == Texts(10, "Bearer one"));
    s.clock->advance(1000h);
    s.get();
    CHECK(s.take() == Texts{"Bearer one"});
    CHECK(s.control->asked == 1);
}

TEST_CASE("Credentials: an expired value is not handed out") {
    Shared s;
    s.get();
    s.control->answer("Bearer one", s.clock->now() + 10s);
    s.clock->advance(9s);
    s.get();
    CHECK(s.take() == Texts{"Bearer one", "Bearer one"});
    s.clock->advance(1s);
    s.get();
    CHECK(s.take().empty());
    CHECK(s.control->asked == 2);
    s.control->answer("Bearer two");
    CHECK(s.take() == Texts{"Bearer two"});
}

TEST_CASE(
    "Credentials: a failure is reported to all waiting callers, and the next call asks again") {
    Shared s;
    s.get();
    s.get();
    s.control->fail("the program ended with 1");
    CHECK(s.take() == Texts(2, "error: the program ended with 1"));
    s.get();
    CHECK(s.control->asked == 2);
    s.control->answer("Bearer one");
    CHECK(s.take() == Texts{"Bearer one"});
}

TEST_CASE("Credentials: an exception of the source is an answer, and the next one asks again") {
    Shared s;
    s.control->before = [] { throw std::runtime_error("no such program"); };
    s.get();
    CHECK(s.take() == Texts{"error: no such program"});
    s.control->before = [] { throw 1; };
    s.refresh(0);
    s.get();
    CHECK(s.take() == Texts{"the same", "error: unknown exception"});
    s.control->before = nullptr;
    s.get();
    s.control->answer("Bearer one");
    CHECK(s.take() == Texts{"Bearer one"});
}

TEST_CASE("Credentials: an exception of a handler is not one of the source") {
    struct Prompt final : CredentialSource {
        void async_get(Refused, Handler handler) override { handler({}); }
    };
    Credentials credentials(std::make_unique<Prompt>(), std::make_shared<test::ManualClock>());
    int received = 0;
    CHECK_THROWS_AS(credentials.async_get([&](const RequestCredentials& answer) {
        CHECK_FALSE(answer.ec);
        ++received;
        throw std::runtime_error("of the host");
    }),
                    std::runtime_error);
    CHECK(received == 1);
    credentials.async_get(
        [&](const RequestCredentials& answer) { received += answer.ec ? 100 : 1; });
    CHECK(received == 2);
}

TEST_CASE("Credentials: a refused value is asked for anew, once for all whose request had it") {
    Shared s;
    s.get();
    s.control->answer("Bearer one");
    s.take();
    s.refresh();
    s.refresh();
    s.get();  // the cached value is the refused one
    CHECK(s.control->asked == 2);
    CHECK(s.take().empty());

    SECTION("a new value") {
        const std::uint64_t refused = s.revision;
        s.control->answer("Bearer two");
        CHECK(s.take() == Texts{"changed", "changed", "Bearer two"});
        s.refresh(refused);  // a late report
        CHECK(s.take() == Texts{"changed"});
        CHECK(s.control->asked == 2);
    }
    SECTION("the same value") {
        s.control->answer("Bearer one");
        CHECK(s.take() == Texts{"the same", "the same", "Bearer one"});
    }
    SECTION("a failure") {
        s.control->fail("no");
        CHECK(s.take() == Texts{"the same", "the same", "error: no"});
    }
}

TEST_CASE("Credentials: a handler may ask again at once") {
    Shared s;
    s.credentials->async_get([&](const RequestCredentials&) { s.get(); });
    s.credentials->async_get([&](const RequestCredentials&) { s.refresh(1); });
    s.control->answer("Bearer one");
    CHECK(s.take() == Texts{"Bearer one"});
    CHECK(s.control->asked == 2);
    s.control->answer("Bearer two");
    CHECK(s.take() == Texts{"changed"});
}

TEST_CASE("Credentials: no handler is called after the destruction") {
    Shared s;
    s.get();
    s.refresh();
    s.credentials.reset();
    CHECK_FALSE(s.control->alive);
    CHECK(s.take().empty());
}

TEST_CASE(
    "Credentials: a handler may destroy them, and the other handlers are called all the same") {
    Shared s;
    s.credentials->async_get([&](const RequestCredentials&) { s.credentials.reset(); });
    s.get();
    s.control->answer("Bearer one");
    CHECK_FALSE(s.control->alive);
    CHECK(s.take() == Texts{"Bearer one"});
}

TEST_CASE("Credentials: no source can add header fields to a request") {
    for (const std::string& value :
         {std::string("Bearer a\r\nX-Evil: 1"), std::string("Bearer a\nb"),
          std::string("Bearer \0a", 9), std::string("Bearer a\x7f")}) {
        Shared s;
        s.get();
        s.control->answer(value);
        const Texts received = s.take();
        REQUIRE(received.size() == 1);
        CHECK(received[0].starts_with("error: "));
        CHECK(received[0].find("Bearer") == std::string::npos);
    }
}

TEST_CASE("Credentials: redact knows the present value and the one before") {
    Shared s;
    CHECK(s.credentials->redact("Bearer the-first-token") == "Bearer the-first-token");
    s.get();
    s.control->answer("Bearer the-first-token");
    s.refresh();
    s.control->answer("Bearer another-one-that-serves");
    CHECK(s.credentials->redact("the-first-token, another-one-that-serves") ==
          "<redacted>, <redacted>");
    s.refresh(s.revision + 1);
    s.control->fail("no token today");
    CHECK(s.credentials->redact("the-first-token, another-one-that-serves") ==
          "<redacted>, <redacted>");
}

}  // namespace
}  // namespace k8s_sd::detail
