#include "k8s_sd/detail/auth/configured_credentials.hpp"
#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/allocations.hpp"
#include "support/config_fixtures.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using test::TemporaryDirectory;

/// The credentials of a configuration with a manual clock, and the results of the last call.
struct Fixture {
    explicit Fixture(const AuthConfig& config)
        : credentials(std::make_unique<Credentials>(
              std::make_unique<ConfiguredCredentials>(config, context.get_executor(), clock, files,
                                                      logger()),
              clock)) {}
    Logger logger() {
        Logger result;
        result.write = [this](LogLevel, std::string_view line) { log.emplace_back(line); };
        return result;
    }

    std::string get() {
        value.clear();
        credentials->async_get([this](const RequestCredentials& answer) {
            value = view(answer.value);
            ec = answer.ec;
            problem = answer.problem;
            revision = answer.revision;
            ++answers;
        });
        settle();
        return value;
    }
    /// Reports a 401 to a request with the value of the last get().
    bool refresh() {
        refreshed = false;
        credentials->async_refresh(revision, [this](bool changed) {
            refreshed = changed;
            ++answers;
        });
        settle();
        return refreshed;
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<sim::ManualFiles> files = std::make_shared<sim::ManualFiles>();
    std::vector<std::string> log;
    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::unique_ptr<Credentials> credentials;
    std::string value;
    bool refreshed = false;
    error_code ec;
    std::string problem;
    std::uint64_t revision = 0;
    int answers = 0;
};

AuthConfig token_file(const std::string& path) {
    AuthConfig config;
    config.bearer_token_file = path;
    return config;
}

AuthConfig basic(const std::string& username, const std::string& password) {
    AuthConfig config;
    config.username = username;
    config.password = password;
    return config;
}

/// Responds on the test's command.
class CommandedSource final : public CredentialSource {
 public:
    explicit CommandedSource(Handler& waiting) : waiting_(waiting) {}
    void async_get(Refused, Handler handler) override { waiting_ = std::move(handler); }

 private:
    Handler& waiting_;
};

TEST_CASE("Credentials: without memory all requests get an answer, and later ones ask again") {
    for (long left = 0; left < 20; ++left) {
        INFO(left);
        CredentialSource::Handler source;
        Credentials credentials(std::make_unique<CommandedSource>(source),
                                std::make_shared<test::ManualClock>());
        int answers = 0;
        error_code last;
        const auto get = [&] {
            credentials.async_get([&](const RequestCredentials& answer) {
                ++answers;
                last = answer.ec;
            });
        };
        get();
        get();
        RequestCredentials fresh;
        append(fresh.value, "Bearer " + std::string(100, 'x'));
        auto answer = std::move(source);
        test::allocations_left = left;
        try {
            answer(fresh);
        } catch (const std::bad_alloc&) {
        }
        test::allocations_left = -1;
        if (answers == 0) answer(fresh);  // no memory for the copy in this test
        CHECK(answers == 2);
        source = nullptr;
        get();
        if (source) source(fresh);
        CHECK(answers == 3);
        CHECK_FALSE(last);
    }
}

TEST_CASE("Credentials: without any there is no header and no error") {
    Fixture f{AuthConfig{}};
    CHECK(f.get().empty());
    CHECK_FALSE(f.ec);
    CHECK_FALSE(f.refresh());
    CHECK(f.answers == 2);
}

TEST_CASE("Credentials: an inline token is sent as it is") {
    AuthConfig config;
    config.bearer_token = "abc.def";
    Fixture f{config};
    CHECK(f.get() == "Bearer abc.def");
    CHECK_FALSE(f.ec);
    CHECK_FALSE(f.refresh());
}

TEST_CASE("Credentials: user and password follow RFC 7617") {
    CHECK(Fixture{basic("Aladdin", "open sesame")}.get() == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    CHECK(Fixture{basic("u", "")}.get() == "Basic dTo=");
    CHECK(Fixture{basic("", "key")}.get() == "Basic OmtleQ==");
    CHECK(Fixture{basic("test", "123\xC2\xA3")}.get() == "Basic dGVzdDoxMjPCow==");
}

TEST_CASE("Credentials: a password file is trimmed") {
    const TemporaryDirectory directory;
    AuthConfig config;
    config.username = "Aladdin";
    config.password_file = directory.write("password", "\n open sesame \r\n");
    CHECK(Fixture{config}.get() == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

TEST_CASE("Credentials: a token file is trimmed and read again after 60 s") {
    const TemporaryDirectory directory;
    Fixture f{token_file(directory.write("token", " \t one \r\n\n"))};
    CHECK(f.get() == "Bearer one");

    directory.write("token", "two\n");
    f.clock->advance(59s);
    CHECK(f.get() == "Bearer one");
    f.clock->advance(1s);
    CHECK(f.get() == "Bearer two");
    CHECK(f.problem.empty());
}

TEST_CASE("Credentials: a byte order mark is no part of a token") {
    const TemporaryDirectory directory;
    Fixture f{token_file(directory.write("token", "\xef\xbb\xbf token\r\n"))};
    CHECK(f.get() == "Bearer token");
}

TEST_CASE("Credentials: a token beside a token file serves until the file can be read") {
    const TemporaryDirectory directory;
    AuthConfig config = token_file(directory.path("token"));
    config.bearer_token = "beside";
    Fixture f{config};
    CHECK(f.get() == "Bearer beside");
    CHECK_FALSE(f.ec);
    CHECK(f.log == std::vector<std::string>{"bearer_token_file " + directory.path("token") +
                                            ": No such file or directory; the value beside it is "
                                            "used"});
    directory.write("token", "of the file");
    CHECK(f.get() == "Bearer of the file");
}

TEST_CASE("Credentials: refresh reads at once and reports whether the value changed") {
    const TemporaryDirectory directory;
    Fixture f{token_file(directory.write("token", "one"))};
    CHECK(f.get() == "Bearer one");
    CHECK_FALSE(f.refresh());

    directory.write("token", "two");
    CHECK(f.refresh());
    CHECK(f.get() == "Bearer two");

    directory.write("token", "");
    CHECK_FALSE(f.refresh());
    CHECK(f.get() == "Bearer two");
}

TEST_CASE("Credentials: an empty, missing or malformed file keeps the last good value") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("token", "one");
    Fixture f{token_file(path)};
    CHECK(f.get() == "Bearer one");
    f.clock->advance(60s);

    SECTION("empty") { directory.write("token", " \n"); }
    SECTION("missing") { std::filesystem::remove(path); }
    SECTION("a line break inside") { directory.write("token", "two\r\nX-Evil: 1"); }
    SECTION("a NUL inside") { directory.write("token", std::string("two\0three", 9)); }
    SECTION("too large") { directory.write("token", std::string((4 << 20) + 1, 'x')); }

    CHECK(f.get() == "Bearer one");
    CHECK_FALSE(f.ec);
    CHECK(f.problem.find(path) != std::string::npos);

    // The file is tried again at once, not 60 s later.
    directory.write("token", "two");
    CHECK(f.get() == "Bearer two");
    CHECK(f.problem.empty());
}

TEST_CASE("Credentials: a file that turns bad is warned of once, and so is that it is good again") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("token", "");
    Fixture f{token_file(path)};
    f.get();
    CHECK(f.log.empty());  // no value is usable: an error
    directory.write("token", "one");
    f.get();
    CHECK(f.log.empty());
    f.clock->advance(60s);
    directory.write("token", "");
    for (int i = 0; i < 3; ++i) CHECK(f.get() == "Bearer one");
    std::filesystem::remove(path);
    for (int i = 0; i < 3; ++i) CHECK(f.get() == "Bearer one");
    directory.write("token", "two");
    for (int i = 0; i < 3; ++i) CHECK(f.get() == "Bearer two");
    const std::string field = "bearer_token_file " + path + ": ";
    CHECK(f.log == std::vector<std::string>{
                       field + "it is empty; the value read before stays in use",
                       field + "No such file or directory; the value read before stays in use",
                       field + "usable again"});
}

TEST_CASE("Credentials: a hanging file is reported after 10 s, and the previous value serves") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("token", "one");
    Fixture f{token_file(path)};
    CHECK(f.get() == "Bearer one");
    f.clock->advance(60s);
    f.files->hold();
    f.answers = 0;
    f.get();
    f.get();
    f.clock->advance(9999ms);
    f.settle();
    CHECK(f.answers == 0);
    f.clock->advance(1ms);
    f.settle();
    CHECK(f.answers == 2);
    CHECK_FALSE(f.ec);
    const std::string problem = "bearer_token_file " + path + ": reading it takes longer than 10 s";
    CHECK(f.problem == problem);

    for (int i = 0; i < 3; ++i) {
        f.clock->advance(1h);
        CHECK(f.get() == "Bearer one");  // no caller waits for it again
    }
    CHECK(f.files->calls() == 2);
    directory.write("token", "two");
    f.files->release();
    CHECK(f.get() == "Bearer two");
    CHECK(f.problem.empty());
    CHECK(f.log == std::vector<std::string>{problem + "; the value read before stays in use",
                                            "bearer_token_file " + path + ": usable again"});
}

TEST_CASE("Credentials: without an older value a file that hangs is an error after 10 s") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("token", "one");
    Fixture f{token_file(path)};
    f.files->hold();
    f.get();
    CHECK(f.answers == 0);
    f.clock->advance(10s);
    f.settle();
    CHECK(f.answers == 1);
    CHECK(f.ec == errc::credentials_unavailable);
    CHECK(f.problem == "bearer_token_file " + path + ": reading it takes longer than 10 s");
    CHECK(f.log.empty());
    f.files->release();
    CHECK(f.get() == "Bearer one");
}

TEST_CASE("Credentials: a hanging file is not reported once they are destroyed") {
    const TemporaryDirectory directory;
    std::optional<Fixture> f(std::in_place, token_file(directory.write("token", "one")));
    f->files->hold();
    f->get();
    f->credentials.reset();
    f->context.restart();
    f->context.run();  // and the context has nothing to wait for
    f->files->release();
    f->settle();
    CHECK(f->answers == 0);
}

TEST_CASE("Credentials: without a good value an unusable file is an error that names it") {
    const TemporaryDirectory directory;
    const std::string path = directory.path("token");
    Fixture f{token_file(path)};
    std::string reason;
    SECTION("missing") { reason = "No such file or directory"; }
    SECTION("empty") {
        directory.write("token", "");
        reason = "it is empty";
    }
    SECTION("a directory") {
        std::filesystem::create_directory(path);
        reason = "it is not a regular file";
    }
    SECTION("a FIFO without a writer") {
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        reason = "it is not a regular file";
    }
    SECTION("a line break inside") {
        directory.write("token", "s3cret\ns3cret");
        reason = "it contains a line break or another control character";
    }
    SECTION("a control character at the end") {
        directory.write("token", "s3cret\x7f");
        reason = "it contains a line break or another control character";
    }

    CHECK(f.get().empty());
    CHECK(f.ec == errc::credentials_unavailable);
    CHECK(f.problem == "bearer_token_file " + path + ": " + reason);

    // Files may appear later.
    std::filesystem::remove(path);
    directory.write("token", "late");
    CHECK(f.get() == "Bearer late");
    CHECK_FALSE(f.ec);
}

TEST_CASE("Credentials: control characters in inline values are an error without the value") {
    AuthConfig token;
    token.bearer_token = "s3cret\r\nX-Evil: 1";
    for (const AuthConfig& config : {token, basic("us\ner", "s3cret"), basic("user", "s3cret\n")}) {
        Fixture f{config};
        CHECK(f.get().empty());
        CHECK(f.ec == errc::credentials_unavailable);
        CHECK_FALSE(f.problem.empty());
        CHECK(f.problem.find("s3cret") == std::string::npos);
    }
}

TEST_CASE("Secret: a move leaves no copy behind, even of a short one") {
    CleansedBytes secret;
    append(secret, "s3cret");
    const char* const memory = secret.data();
    const CleansedBytes moved = std::move(secret);
    CHECK(view(moved) == "s3cret");
    CHECK(moved.data() == memory);
}

TEST_CASE("Credentials: a caller that throws keeps no other one from the answer") {
    test::TemporaryDirectory directory;
    directory.write("token", "one");
    Fixture f(token_file(directory.path("token")));
    f.credentials->async_get([](const RequestCredentials&) { throw std::bad_alloc(); });
    f.credentials->async_get([&f](const RequestCredentials&) { ++f.answers; });
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    f.settle();
    CHECK(f.answers == 1);
    CHECK(f.get() == "Bearer one");
}

}  // namespace
}  // namespace k8s_sd::detail
