#include "k8s_sd/detail/auth/renewed_credentials.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "support/allocations.hpp"
#include "support/contains.hpp"
#include "support/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

/// The requests to an issuer, and its responses on the test's command.
struct IssuerControl {
    std::vector<bool> asked;  ///< for each request: whether the credentials were refused
    std::function<void()> before;
    CredentialIssuer::Handler waiting;
};

class FakeIssuer final : public CredentialIssuer {
 public:
    explicit FakeIssuer(std::shared_ptr<IssuerControl> control) : control_(std::move(control)) {}
    void async_issue(bool refused, Handler handler) override {
        control_->asked.push_back(refused);
        if (control_->before) control_->before();
        control_->waiting = std::move(handler);
    }

 private:
    std::shared_ptr<IssuerControl> control_;
};

/// Renewed credentials, and the results of their callers.
struct Renewed {
    Renewed() {
        RenewedCredentials::Options options;
        options.name = "exec login";
        options.min_pause = 10s;
        options.wall_clock = [this] {
            return std::chrono::sys_days(std::chrono::year(2026) / 3 / 5) + (clock->now() - began);
        };
        Logger logger;
        logger.write = [this](LogLevel, std::string_view line) { log.emplace_back(line); };
        credentials = std::make_unique<RenewedCredentials>(std::make_unique<FakeIssuer>(control),
                                                           std::move(options), clock, logger);
    }
    /// The immediate result; "" if it depends on a response.
    std::string get(const CredentialSource::Refused& refused = nullptr) {
        received.clear();
        credentials->async_get(refused, [this](const auto& answer) {
            last = answer;
            received.push_back(answer->ec ? "error: " + answer->problem
                                          : std::string(view(answer->value)));
        });
        return received.empty() ? "" : received.back();
    }
    std::string refuse() { return get(last); }
    void issue(const std::string& token, std::optional<std::chrono::seconds> lifetime = {}) {
        IssuedCredentials issued;
        append(issued.token, token);
        issued.lifetime = lifetime;
        answer(std::move(issued));
    }
    void issue_until(const std::string& token, std::chrono::sys_seconds expiry) {
        IssuedCredentials issued;
        append(issued.token, token);
        issued.expiry = expiry;
        answer(std::move(issued));
    }
    void fail(const std::string& problem) {
        IssuedCredentials none;
        none.problem = problem;
        answer(std::move(none));
    }
    void answer(IssuedCredentials issued) {
        std::exchange(control->waiting, nullptr)(std::move(issued));
    }
    std::size_t asked() const { return control->asked.size(); }
    /// The seconds until a permanently polling caller triggers the next issue; at most a day.
    long seconds_to_issue() {
        const std::size_t before = asked();
        long seconds = 0;
        while (asked() == before && seconds < 24 * 3600) {
            clock->advance(1s);
            ++seconds;
            get();
        }
        return seconds;
    }

    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    TimePoint began = clock->now();
    std::shared_ptr<IssuerControl> control = std::make_shared<IssuerControl>();
    Texts log;
    Texts received;
    std::shared_ptr<const RequestCredentials> last;
    std::unique_ptr<RenewedCredentials> credentials;
};

TEST_CASE("RenewedCredentials: without memory all who ask get an answer, and ask again later") {
    for (long left = 0; left < 20; ++left) {
        INFO(left);
        Renewed r;
        for (int i = 0; i < 3; ++i) r.get();
        r.received.reserve(10);
        IssuedCredentials issued;
        append(issued.token, std::string(100, 'x'));
        test::allocations_left = left;
        try {
            r.answer(std::move(issued));
        } catch (const std::bad_alloc&) {
        }
        test::allocations_left = -1;
        r.clock->advance(1min);
        if (r.get().empty()) r.issue("later");
        CHECK(r.received.size() == 1);
        CHECK_FALSE(r.last->ec);
    }
}

TEST_CASE("RenewedCredentials: issued once for all who ask, and kept until they are refused") {
    Renewed r;
    for (int i = 0; i < 10; ++i) CHECK(r.get().empty());
    CHECK(r.asked() == 1);
    r.issue("one");
    CHECK(r.received == Texts(10, "Bearer one"));
    CHECK_FALSE(r.last->expiry);
    r.clock->advance(1000h);
    CHECK(r.get() == "Bearer one");
    CHECK(r.refuse().empty());
    CHECK(r.control->asked == std::vector<bool>{false, true});
    r.issue("two");
    CHECK(r.received == Texts{"Bearer two"});
    CHECK(r.log.empty());
}

TEST_CASE("RenewedCredentials: a refusal of older credentials starts no request") {
    Renewed r;
    r.get();
    r.issue("one");
    const auto first = r.last;
    r.clock->advance(1h);
    r.refuse();
    r.issue("two");
    CHECK(r.get(first) == "Bearer two");
    CHECK(r.asked() == 2);
}

TEST_CASE("RenewedCredentials: renewed a tenth of their life, at most a minute, before the end") {
    const auto renewed_after = [](std::chrono::seconds lifetime) {
        Renewed r;
        r.get();
        r.issue("one", lifetime);
        CHECK(r.last->problem.empty());
        return r.seconds_to_issue();
    };
    CHECK(renewed_after(15min) == 14 * 60);
    CHECK(renewed_after(200s) == 180);
    CHECK(renewed_after(20s) == 18);
    // Never earlier than the pause, even for a short lifetime.
    CHECK(renewed_after(5s) == 10);
    CHECK(renewed_after(1s) == 10);
}

TEST_CASE("RenewedCredentials: what lives shorter than the pause serves until it is over") {
    Renewed r;
    r.get();
    r.issue("one", 5s);
    r.clock->advance(9s);
    CHECK(r.get() == "Bearer one");
    CHECK(r.asked() == 1);
}

TEST_CASE("RenewedCredentials: times of expiry may be far away, or long ago") {
    Renewed r;
    r.get();
    SECTION("in the year 9999") {
        r.issue_until("one",
                      *std::optional(std::chrono::sys_days(std::chrono::year(9999) / 1 / 1)));
        CHECK(r.last->problem.empty());
    }
    SECTION("at the end of time") {
        r.issue_until("one", std::chrono::sys_seconds::max());
        CHECK(r.last->problem.empty());
    }
    SECTION("at the beginning of time") {
        r.issue_until("one", std::chrono::sys_seconds::min());
        CHECK_FALSE(r.last->problem.empty());
    }
    CHECK(r.received == Texts{"Bearer one"});
    REQUIRE(r.last->expiry);
    CHECK(*r.last->expiry > r.clock->now());
    CHECK(*r.last->expiry < r.clock->now() + 24h * 367);
}

TEST_CASE("RenewedCredentials: what has expired when it comes serves, is said, and does not loop") {
    Renewed r;
    r.get();
    const std::string problem = "exec login: the credentials had expired before they arrived; is "
                                "the clock of this machine wrong?";
    for (const long pause : {10, 20, 40, 60, 60, 60}) {
        r.issue_until("one", std::chrono::sys_days(std::chrono::year(2026) / 3 / 4));
        CHECK(r.received.back() == "Bearer one");
        CHECK(r.last->problem == problem);
        CHECK(r.seconds_to_issue() == pause);
    }
    CHECK(r.log == Texts{problem + "; the present credentials stay in use"});
    r.issue("two");
    CHECK(r.log.size() == 2);
    CHECK(r.log.back() == "exec login: works again");
}

TEST_CASE(
    "RenewedCredentials: while it fails the pauses grow, and calls within them fail at once") {
    Renewed r;
    r.get();
    for (const long pause : {10, 20, 40, 60, 60}) {
        r.fail("exec login: no such program");
        CHECK(r.received == Texts{"error: exec login: no such program"});
        CHECK(r.get() == "error: exec login: no such program");
        CHECK(r.seconds_to_issue() == pause);
    }
    r.issue("one", 100s);
    CHECK(r.seconds_to_issue() == 90);
    r.fail("exec login: no such program");
    CHECK(r.seconds_to_issue() == 10);  // the pauses start again
    CHECK(r.asked() == 8);
}

TEST_CASE("RenewedCredentials: a renewal that fails leaves what is good, until it expires") {
    Renewed r;
    r.get();
    r.issue("one", 100s);
    CHECK(r.seconds_to_issue() == 90);
    r.fail("exec login: exit status 1");
    CHECK(r.received == Texts{"Bearer one"});
    CHECK(r.last->problem == "exec login: exit status 1");
    CHECK(r.last->expiry == r.clock->now() + 10s);
    r.clock->advance(9s);
    CHECK(r.get() == "Bearer one");
    r.clock->advance(1s);
    r.get();
    r.fail("exec login: exit status 1");
    CHECK(r.received == Texts{"error: exec login: exit status 1"});
    CHECK(r.log == Texts{"exec login: exit status 1; the present credentials stay in use"});
}

TEST_CASE("RenewedCredentials: a storm of refusals is few issues") {
    Renewed r;
    r.get();
    r.issue("token 0");
    for (int second = 1; second <= 600; ++second) {
        r.clock->advance(1s);
        if (r.refuse().empty()) r.issue("token " + std::to_string(r.asked()));
    }
    // After 10, 20, 40, and then each 60 seconds.
    CHECK(r.asked() >= 10);
    CHECK(r.asked() <= 14);
}

TEST_CASE("RenewedCredentials: refused credentials are renewed after the pause, and the issuer is "
          "notified") {
    Renewed r;
    r.get();
    r.issue("one");
    CHECK(r.refuse() == "Bearer one");  // too early
    CHECK(r.last->expiry == r.clock->now() + 10s);
    CHECK(r.seconds_to_issue() == 10);
    CHECK(r.control->asked == std::vector<bool>{false, true});
    r.fail("no");
    CHECK(r.received == Texts{"Bearer one"});
    CHECK(r.last->problem == "no");
    r.seconds_to_issue();
    CHECK(r.control->asked == std::vector<bool>{false, true, true});
    r.issue("two");
    CHECK(r.get() == "Bearer two");
    CHECK_FALSE(r.last->expiry);
}

TEST_CASE("RenewedCredentials: a client certificate stays the same object while it is the same") {
    Renewed r;
    const auto identity = [](const std::string& text) {
        ClientIdentity result;
        append(result.certificate, text);
        append(result.key, text);
        IssuedCredentials issued;
        issued.identity = std::make_shared<const ClientIdentity>(std::move(result));
        issued.lifetime = 100s;
        return issued;
    };
    r.get();
    r.answer(identity("a"));
    const auto first = r.last->identity;
    CHECK(r.last->value.empty());
    r.seconds_to_issue();
    r.answer(identity("a"));
    CHECK(r.last->identity == first);
    r.seconds_to_issue();
    r.answer(identity("b"));
    CHECK(r.last->identity != first);
}

TEST_CASE("RenewedCredentials: an exception and a token with a line break are failures") {
    Renewed r;
    r.control->before = [] { throw std::runtime_error("no memory"); };
    CHECK(r.get() == "error: exec login: no memory");
    r.control->before = nullptr;
    r.seconds_to_issue();
    r.issue("s3cret\r\nX-Evil: 1");
    CHECK(r.received ==
          Texts{"error: exec login: the token contains a line break or another control "
                "character"});
    CHECK(r.asked() == 2);
}

TEST_CASE("RenewedCredentials: a handler may destroy them, and the other handlers are called all "
          "the same") {
    Renewed r;
    r.credentials->async_get(nullptr, [&](const auto&) { r.credentials.reset(); });
    r.get();
    r.issue("one");
    CHECK(r.received == Texts{"Bearer one"});
}

TEST_CASE("renewed credentials: a caller that throws keeps no other one from the result") {
    Renewed f;
    f.credentials->async_get(nullptr, [](const auto&) { throw std::bad_alloc(); });
    f.get();
    CHECK_THROWS_AS(f.issue("one"), std::bad_alloc);
    CHECK(f.received == Texts{"Bearer one"});
    CHECK(f.get() == "Bearer one");
}

}  // namespace
}  // namespace k8s_sd::detail
