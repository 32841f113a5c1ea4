#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/manual_clock.hpp"
#include "unit/auth/issuer_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using End = ProgramRunner::Result::End;

namespace {

ApiServerConfig with_exec() {
    ApiServerConfig server;
    server.url = "https://cluster:6443";
    server.auth.exec.emplace();
    server.auth.exec->api_version = "client.authentication.k8s.io/v1";
    server.auth.exec->command = "login";
    return server;
}

std::string in_future(std::chrono::seconds time) {
    const std::time_t at =
        std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + time);
    std::tm utc{};
    ::gmtime_r(&at, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

std::string error_of(const ProgramRunner::Result& result, const ApiServerConfig& server) {
    Issuers f(server);
    f.get();
    f.programs->end(result);
    f.settle();
    return *f.received;
}

std::string error_of(const ProgramRunner::Result& result) { return error_of(result, with_exec()); }

}  // namespace

TEST_CASE("Exec: the program receives what the protocol says, and no more") {
    ApiServerConfig server = with_exec();
    server.auth.exec->args = {"get-token", "--cluster", "a b"};
    server.auth.exec->env = {{"AWS_PROFILE", "prod"}};
    server.auth.exec->timeout = 7s;
    server.tls.ca = "PEM";
    Issuers f(server);
    f.get();
    REQUIRE(f.programs->runs() == 1);
    const auto& program = f.programs->programs[0];
    CHECK(program.command == "login");
    CHECK(program.args == server.auth.exec->args);
    CHECK(program.timeout == 7s);
    CHECK(program.max_output == 1 << 20);
    REQUIRE(program.variables.size() == 2);
    CHECK(program.variables[0] == ProgramRunner::Variable("AWS_PROFILE", "prod"));
    CHECK(program.variables[1].first == "KUBERNETES_EXEC_INFO");
    CHECK(boost::json::parse(program.variables[1].second) ==
          boost::json::parse(R"({"kind": "ExecCredential",
              "apiVersion": "client.authentication.k8s.io/v1", "spec": {"interactive": false}})"));
}

TEST_CASE("Exec: a program that gives Go's zero time as expiry is not run again") {
    Issuers f(with_exec());
    f.get();
    f.programs->issue(R"({"token": "one", "expirationTimestamp": "0001-01-01T00:00:00Z"})");
    f.settle();
    f.advance(24h * 300);
    CHECK(f.get() == "Bearer one");
    CHECK(f.programs->runs() == 1);
}

TEST_CASE("Exec: the program receives the server as the kubeconfig writes it") {
    ApiServerConfig server = with_exec();
    server.disable_compression = true;
    server.auth.exec->provide_cluster_info = true;
    server.auth.exec->cluster_server = "HTTPS://Cluster:6443/";
    Issuers f(server);
    f.get();
    REQUIRE(f.programs->runs() == 1);
    const auto info = boost::json::parse(f.programs->programs[0].variables.back().second);
    CHECK(info.at("spec").at("cluster").at("server") == "HTTPS://Cluster:6443/");
    CHECK(info.at("spec").at("cluster").at("disable-compression") == true);
}

TEST_CASE("Exec: the environment of a program has no password of a proxy") {
    ApiServerConfig server = with_exec();
    server.auth.exec->provide_cluster_info = true;
    server.proxy.url = GENERATE("http://me:sesame@proxy:3128", "http://proxy:3128");
    Issuers f(server);
    f.get();
    REQUIRE(f.programs->runs() == 1);
    const auto& variables = f.programs->programs[0].variables;
    CHECK(contains(variables.back().second, R"("proxy-url":"http://proxy:3128")"));
}

TEST_CASE("Exec: with provideClusterInfo the program gets the content of the CA's file") {
    const TemporaryDirectory directory;
    ApiServerConfig server = with_exec();
    server.auth.exec->provide_cluster_info = true;
    server.tls.ca_file = directory.path("ca.pem");
    Issuers f(server);
    CHECK(f.get() == "error: exec login: ca_file " + server.tls.ca_file +
                         ", which the program receives: No such file or directory");
    CHECK(f.programs->runs() == 0);
    directory.write("ca.pem", "PEM");
    f.advance(10s);
    f.get();
    REQUIRE(f.programs->runs() == 1);
    const auto info = boost::json::parse(f.programs->programs[0].variables[0].second);
    CHECK(info.at("spec").at("cluster").at("server") == "https://cluster:6443");
    CHECK(info.at("spec").at("cluster").at("certificate-authority-data") == "UEVN");
}

TEST_CASE("Exec: ten clients of one configuration share one run, others do not") {
    Issuers f(with_exec());
    for (int i = 1; i < 10; ++i) f.add_client();
    f.config.auth.exec->args = {"another"};
    f.add_client();
    for (std::size_t i = 0; i < 10; ++i) CHECK(f.get(i).empty());
    CHECK(f.programs->runs() == 1);
    f.programs->issue(R"({"token": "one"})");
    f.settle();
    for (std::size_t i = 0; i < 10; ++i) CHECK(f.get(i) == "Bearer one");
    CHECK(f.programs->runs() == 1);
    CHECK(f.get(10).empty());
    CHECK(f.programs->runs() == 2);
}

TEST_CASE("Exec: a 401 runs the program once for all, and never twice in ten seconds") {
    Issuers f(with_exec());
    f.add_client();
    f.get(0);
    f.programs->issue(R"({"token": "one"})");
    f.settle();
    f.get(1);
    CHECK(f.refuse(0)->value() == false);  // too early
    f.advance(10s);
    const auto first = f.refuse(0);
    const auto second = f.refuse(1);
    CHECK_FALSE(first->has_value());
    CHECK(f.programs->runs() == 2);
    f.programs->issue(R"({"token": "two"})");
    f.settle();
    CHECK(first->value());
    CHECK(second->value());
    CHECK(f.get(1) == "Bearer two");
    CHECK(f.programs->runs() == 2);
}

TEST_CASE("Exec: a token is renewed a minute before it expires") {
    Issuers f(with_exec());
    f.get();
    f.programs->issue(R"({"token": "one", "expirationTimestamp": ")" + in_future(15min) + "\"}");
    f.settle();
    f.advance(13min + 50s);
    CHECK(f.get() == "Bearer one");
    f.advance(11s);
    CHECK(f.get().empty());
    f.programs->issue(R"({"token": "two", "expirationTimestamp": ")" + in_future(-1h) + "\"}");
    f.settle();
    CHECK(*f.received == "Bearer two");
    CHECK(f.problem == "exec login: the credentials had expired before they arrived; is the clock "
                       "of this machine wrong?");
}

TEST_CASE("Exec: a missing program is reported with its hint, and tried ten times in ten minutes") {
    ApiServerConfig server = with_exec();
    server.auth.exec->install_hint = "Install it:\napt install login";
    Issuers f(server);
    f.get();
    for (int second = 0; second < 600; ++second) {
        if (f.programs->handlers.back()) {
            ProgramRunner::Result none;
            none.end = End::not_found;
            none.detail = "not in PATH (/usr/bin:/bin)";
            f.programs->end(none);
            f.programs->handlers.back() = nullptr;
            f.settle();
        }
        CHECK(f.get().find("there is no such program") != std::string::npos);
        f.advance(1s);
        f.get();
    }
    CHECK(f.problem == "exec login: there is no such program: not in PATH (/usr/bin:/bin); Install "
                       "it: apt install login");
    CHECK(f.programs->runs() >= 8);
    CHECK(f.programs->runs() <= 13);
}

TEST_CASE("Exec: each way to fail says what to do") {
    ProgramRunner::Result result;
    result.errors = "cannot log in\nas a guest\n";
    SECTION("an exit status") {
        result.code = 3;
        CHECK(error_of(result) ==
              "error: exec login: it ended with exit status 3: cannot log in as a guest");
    }
    SECTION("a signal") {
        result.end = End::killed;
        result.code = 11;
        CHECK(error_of(result) ==
              "error: exec login: it was killed by signal 11: cannot log in as a guest");
    }
    SECTION("no end") {
        result.end = End::timed_out;
        CHECK(error_of(result) ==
              "error: exec login: it did not end in 30 s; it may wait for input at a terminal: "
              "run it by hand: cannot log in as a guest");
    }
    SECTION("too much") {
        result.end = End::too_much_output;
        CHECK(error_of(result) == "error: exec login: it printed more than 1 MiB");
    }
    SECTION("no permission") {
        result.end = End::not_allowed;
        result.detail = "Permission denied";
        CHECK(error_of(result) == "error: exec login: it is not executable (Permission denied); "
                                  "chmod +x may be missing");
    }
    SECTION("no start") {
        result.end = End::not_started;
        result.detail = "Cannot allocate memory";
        CHECK(error_of(result) ==
              "error: exec login: it could not be started: Cannot allocate memory");
    }
    SECTION("nothing") { CHECK(error_of(result) == "error: exec login: it printed nothing"); }
    SECTION("a terminal is demanded") {
        ApiServerConfig server = with_exec();
        server.auth.exec->interactive_mode = ExecConfig::InteractiveMode::always;
        Issuers f(server);
        CHECK(f.get() == "error: exec login: it prompts the user at a terminal (interactiveMode "
                         "Always), and there is none; use another kind of credentials");
        CHECK(f.programs->runs() == 0);
    }
}

TEST_CASE("Exec: the standard error of a program is reported without secrets") {
    ApiServerConfig server = with_exec();
    server.auth.exec->env = {{"LOGIN_PASSWORD", "correct horse"}};
    ProgramRunner::Result result;
    result.code = 1;
    result.errors = "token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl for correct horse "
                    "from /usr/lib/login/plugins is refused\x1b[31m";
    CHECK(error_of(result, server) ==
          "error: exec login: it ended with exit status 1: token <redacted> for <redacted> from "
          "/usr/lib/login/plugins is refused [31m");
    result.errors = std::string(100'000, 'x');
    CHECK(error_of(result).size() < 600);
    server.auth.exec->args = {"get", "--password", "hunter2pw", "--pin=314159", "-v"};
    result.errors = "usage: login get --password [--pin]; not: login get --password hunter2pw "
                    "--pin=314159";
    CHECK(error_of(result, server) ==
          "error: exec login: it ended with exit status 1: usage: login get --password [--pin]; "
          "not: login get --password <redacted> --pin=<redacted>");
}

TEST_CASE("Exec: the token that was issued before is taken out of later messages") {
    Issuers f(with_exec());
    f.get();
    f.programs->issue(R"({"token": "open sesame"})");
    f.settle();
    f.advance(1h);
    f.refuse();
    ProgramRunner::Result result;
    result.code = 1;
    result.errors = "open sesame is no good";
    f.programs->end(result);
    f.settle();
    CHECK(f.get() == "Bearer open sesame");
    CHECK(f.problem == "exec login: it ended with exit status 1: <redacted> is no good");
    REQUIRE(f.log.size() == 1);
    CHECK_FALSE(contains(f.log[0], "sesame"));
}

TEST_CASE("Exec: a program whose runner never completes has failed") {
    Issuers f(with_exec());
    CHECK(f.get().empty());
    f.advance(64s);  // the program may wait 30 s for other programs, then run for 30 s
    CHECK(f.received->empty());
    CHECK(f.programs->wanted());
    f.advance(1s);
    CHECK(*f.received == "error: exec login: the program has not ended in 65 s; it cannot be "
                         "killed, or too many other programs run");
    CHECK_FALSE(f.programs->wanted());
    f.programs->issue(R"({"token": "late"})");
    f.settle();
    f.advance(10s);
    CHECK(f.get().empty());
    CHECK(f.programs->runs() == 2);
}

TEST_CASE("Exec: the program is killed when the last client goes, and no handler is called") {
    Issuers f(with_exec());
    f.add_client();
    f.get(0);
    f.get(1);
    f.clients.pop_back();
    f.settle();
    CHECK(f.programs->wanted());
    f.clients.pop_back();
    f.settle();
    CHECK_FALSE(f.programs->wanted());
    f.programs->issue(R"({"token": "late"})");
    f.context.restart();
    f.context.run();  // and the context has nothing to wait for
    CHECK(f.received->empty());
}

TEST_CASE("Exec: an answer posted before the end of its issuer calls no handler") {
    boost::asio::io_context context;
    const auto programs = std::make_shared<FakeProgramRunner>();
    Environment environment;
    environment.clock = std::make_shared<ManualClock>();
    environment.programs = programs;
    auto issuer = std::make_unique<detail::ExecIssuer>(with_exec(), context.get_executor(),
                                                       detail::with_defaults(environment));
    bool received = false;
    issuer->async_issue(false, [&](const detail::IssuedCredentials&) { received = true; });
    programs->issue(R"({"token": "late"})");
    issuer.reset();
    settle(context);
    CHECK_FALSE(received);
}

TEST_CASE("Exec: a certificate that does not belong to its key is a failure of the program") {
    Issuers f(with_exec());
    f.get();
    f.programs->issue(R"({"clientCertificateData": "C", "clientKeyData": "K"})");
    f.settle();
    CHECK(*f.received == "error: exec login: clientCertificateData holds no certificate");
    f.advance(10s);
    f.get();
    CHECK(f.programs->runs() == 2);  // the program runs again
}

TEST_CASE("Exec: the end of a context kills the program, and a late answer calls no handler") {
    const auto programs = std::make_shared<FakeProgramRunner>();
    {
        Issuers f(with_exec());
        f.programs = programs;
        f.clients.clear();
        f.settle();
        f.add_client();
        f.get();
        CHECK(programs->wanted());
    }
    CHECK_FALSE(programs->wanted());
    programs->issue(R"({"token": "late"})");
}

TEST_CASE("Exec: a runner that throws has failed, and is asked again after the pause") {
    struct Throwing final : ProgramRunner {
        std::shared_ptr<void> async_run(Program, Handler) override {
            ++asked;
            throw std::runtime_error("no more threads");
        }
        int asked = 0;
    };
    boost::asio::io_context context;
    const auto clock = std::make_shared<ManualClock>();
    const auto runner = std::make_shared<Throwing>();
    Environment environment;
    environment.clock = clock;
    environment.programs = runner;
    detail::Credentials credentials(
        detail::make_credential_source(with_exec(), context.get_executor(),
                                       detail::with_defaults(environment)),
        clock);
    std::vector<std::string> received;
    for (int i = 0; i < 3; ++i) {
        credentials.async_get([&](const auto& answer) { received.push_back(answer.problem); });
        settle(context);
    }
    CHECK(received ==
          std::vector<std::string>(3, "exec login: it could not be started: no more threads"));
    CHECK(runner->asked == 1);
}
