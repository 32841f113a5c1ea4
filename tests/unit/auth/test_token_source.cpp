#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/manual_clock.hpp"
#include "unit/auth/issuer_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

class HostTokens final : public TokenSource {
 public:
    void async_get_token(bool refused, Handler handler) override {
        asked.push_back(refused);
        if (during) during();
        handlers.push_back(std::move(handler));
    }
    void answer(const std::string& token,
                std::optional<std::chrono::system_clock::time_point> expiry = {}) {
        handlers.back()({}, {}, {token, expiry});
    }

    std::vector<bool> asked;
    std::vector<Handler> handlers;
    std::function<void()> during;
};

struct Hosted : Issuers {
    Hosted() : Hosted(std::make_shared<HostTokens>()) {}
    explicit Hosted(std::shared_ptr<HostTokens> t)
        : Issuers(server_with(t)), tokens(std::move(t)) {}
    static ApiServerConfig server_with(std::shared_ptr<TokenSource> source) {
        ApiServerConfig server;
        server.url = "https://cluster:6443";
        server.auth.token_source = std::move(source);
        return server;
    }

    std::shared_ptr<HostTokens> tokens;
};

}  // namespace

TEST_CASE("TokenSource: asked once for all, and notified when its token was refused") {
    Hosted f;
    f.add_client();
    f.get(0);
    f.get(1);
    CHECK(f.tokens->asked == std::vector<bool>{false});
    f.tokens->answer("one");
    f.settle();
    CHECK(f.get(0) == "Bearer one");
    CHECK(f.get(1) == "Bearer one");
    f.advance(1h);
    const auto changed = f.refuse();
    CHECK(f.tokens->asked == std::vector<bool>{false, true});
    f.tokens->answer("two");
    f.settle();
    CHECK(changed->value());
    CHECK(f.get(1) == "Bearer one");  // until it is refused there, too
    CHECK(f.refuse(1)->value());
    CHECK(f.get(1) == "Bearer two");
    CHECK(f.tokens->asked.size() == 2);
}

TEST_CASE("TokenSource: asked again before the token expires") {
    Hosted f;
    f.get();
    f.tokens->answer("one", std::chrono::system_clock::now() + 1000s);
    f.settle();
    f.advance(930s);
    CHECK(f.get() == "Bearer one");
    f.advance(11s);
    CHECK(f.get().empty());
    CHECK(f.tokens->asked == std::vector<bool>{false, false});
    f.tokens->answer("two", std::chrono::system_clock::time_point::max());
    f.settle();
    CHECK(*f.received == "Bearer two");
}

TEST_CASE("TokenSource: the scheme is that of the configuration") {
    Hosted f;
    f.clients.clear();
    f.config.auth.scheme = "Token";
    f.add_client();
    f.get();
    f.tokens->answer("one");
    f.settle();
    CHECK(*f.received == "Token one");
}

TEST_CASE("TokenSource: it may answer on any thread, and at once") {
    Hosted f;
    f.get();
    std::thread([&] { f.tokens->answer("one"); }).join();
    f.settle();
    CHECK(*f.received == "Bearer one");

    struct Prompt final : TokenSource {
        void async_get_token(bool, Handler handler) override { handler({}, {}, {"prompt", {}}); }
    };
    Issuers prompt(Hosted::server_with(std::make_shared<Prompt>()));
    CHECK(prompt.get() == "Bearer prompt");
}

TEST_CASE("TokenSource: errors, exceptions and empty tokens are failures with pauses that grow") {
    Hosted f;
    std::string problem;
    SECTION("an error with words") {
        f.get();
        f.tokens->handlers.back()(errc::unauthorized, "the vault is sealed",
                                  {"s3cret-of-mine", {}});
        f.settle();
        CHECK(*f.received == "error: token_source: the vault is sealed");
    }
    SECTION("an error without words") {
        f.get();
        f.tokens->handlers.back()(asio::error::timed_out, "", {});
        f.settle();
        CHECK(*f.received == "error: token_source: Connection timed out");
    }
    SECTION("an error that repeats the token") {
        f.get();
        f.tokens->handlers.back()(errc::unauthorized, "s3cret-of-mine is bad",
                                  {"s3cret-of-mine", {}});
        f.settle();
        CHECK(*f.received == "error: token_source: <redacted> is bad");
    }
    SECTION("an exception") {
        f.tokens->during = [] { throw std::runtime_error("no vault"); };
        CHECK(f.get() == "error: token_source: no vault");
    }
    SECTION("something else that is thrown") {
        f.tokens->during = [] { throw 1; };
        CHECK(f.get() == "error: token_source: unknown exception");
    }
    SECTION("no token") {
        f.get();
        f.tokens->answer("");
        f.settle();
        CHECK(*f.received == "error: token_source: it answered without a token");
    }
    const std::string received = *f.received;
    CHECK(f.get() == received);
    CHECK(f.tokens->asked.size() == 1);
    f.tokens->during = nullptr;
    f.advance(1s);
    CHECK(f.get().empty());
    f.tokens->answer("one");
    f.settle();
    CHECK(*f.received == "Bearer one");
}

TEST_CASE(
    "TokenSource: one that never answers has failed after a minute, and is asked a few times") {
    Hosted f;
    for (int minute = 0; minute < 60; ++minute) {
        f.get();
        f.advance(60s);
        CHECK(*f.received == "error: token_source: it did not answer in 60 s");
        f.advance(60s);
    }
    CHECK(f.tokens->asked.size() == 8);  // the number of concurrent calls
    // The next response of any call counts.
    f.get();
    f.tokens->handlers[3]({}, {}, {"late", {}});
    f.settle();
    CHECK(*f.received == "Bearer late");
}

TEST_CASE("TokenSource: an answer posted before the end of its issuer calls no handler") {
    boost::asio::io_context context;
    const auto tokens = std::make_shared<HostTokens>();
    auto issuer = std::make_unique<detail::HostTokenIssuer>(tokens, context.get_executor(),
                                                            std::make_shared<ManualClock>());
    bool received = false;
    issuer->async_issue(false, [&](const detail::IssuedCredentials&) { received = true; });
    tokens->answer("late");
    issuer.reset();
    settle(context);
    CHECK_FALSE(received);
}

TEST_CASE("TokenSource: a source that completes twice is reported once") {
    Hosted f;
    f.get();
    SECTION("its time was over first") {
        f.clock->advance(60s);
        f.tokens->answer("late");
    }
    SECTION("it answered first") {
        f.tokens->answer("late");
        f.clock->advance(60s);
    }
    f.settle();
    CHECK_FALSE(f.received->empty());
    f.advance(60s);
    f.get();
    f.tokens->answer("next");
    f.settle();
    CHECK(contains(*f.received, "Bearer "));
}

TEST_CASE("TokenSource: one that answers and then throws has answered") {
    struct Torn final : TokenSource {
        void async_get_token(bool, Handler handler) override {
            handler({}, {}, {"torn", {}});
            throw std::runtime_error("no vault");
        }
    };
    Issuers f(Hosted::server_with(std::make_shared<Torn>()));
    CHECK(f.get() == "Bearer torn");
}

TEST_CASE("TokenSource: a caller that joins a throwing call is notified as well") {
    struct Joined final : TokenSource {
        void async_get_token(bool, Handler) override {
            join();
            throw std::runtime_error("no vault");
        }
        std::function<void()> join;
    };
    const auto source = std::make_shared<Joined>();
    Issuers f(Hosted::server_with(source));
    // It has another scheme, so it shares only the source.
    f.config.auth.scheme = "Token";
    f.add_client();
    std::string joined;
    source->join = [&] {
        f.clients[1]->async_get([&](const auto& answer) { joined = answer.problem; });
        f.settle();
    };
    CHECK(f.get(0) == "error: token_source: no vault");
    CHECK(joined == "token_source: no vault");
}

TEST_CASE("TokenSource: a 401 asks for another token, also with headers from files") {
    const TemporaryDirectory directory;
    directory.write("team", "core");
    ApiServerConfig server = Hosted::server_with(std::make_shared<HostTokens>());
    server.headers = {{"X-Team", "", directory.path("team")}};
    Issuers f(server);
    auto& tokens = static_cast<HostTokens&>(*server.auth.token_source);
    f.get();
    tokens.answer("one");
    f.settle();
    REQUIRE(f.get() == "Bearer one");
    CHECK(f.headers == "X-Team: core\r\n");
    f.advance(1h);
    f.refuse();
    CHECK(tokens.asked == std::vector<bool>{false, true});
}

TEST_CASE("TokenSource: answers without a waiting request are harmless") {
    const auto tokens = std::make_shared<HostTokens>();
    {
        Hosted f(tokens);
        f.get();
        f.clients.clear();
        f.settle();
        tokens->answer("unwanted");
        f.settle();
        CHECK(f.received->empty());
        f.add_client();
        f.get();
    }
    REQUIRE(tokens->handlers.size() == 2);
    tokens->answer("after the context");
    tokens->answer("and again");
}
