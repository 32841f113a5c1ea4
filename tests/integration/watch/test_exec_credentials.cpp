#include "k8s_sd/api_client.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "support/certificates.hpp"
#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/scripts.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <sys/wait.h>
#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

const std::string planted = "Pl4nted-Secr3t-0f-This-Test";

/// Watches of a real server with credentials from a script.
struct ExecHost {
    struct Watch final : WatchObserver {
        explicit Watch(const std::shared_ptr<ApiClient>& client) {
            watcher.emplace(client, WatchQuery{}, plain_lists(),
                            static_cast<WatchObserver&>(*this));
        }
        void on_change(const ObjectChange&) override {}
        void on_synced() override { synced = true; }
        void on_batch_end() override {}
        void on_status() override {
            const WatchStatus status = watcher->status();
            if (status.error) problem = status.message;
        }
        bool synced = false;
        std::string problem;
        std::optional<URLWatcher> watcher;
    };

    explicit ExecHost(sim::ApiServerOptions options = {})
        : server(context.get_executor(), std::move(options)) {
        server.apply(pod({.name = "a"}));
        server.listen();
        config.url = server.url();
        config.auth.exec.emplace();
        config.auth.exec->api_version = "client.authentication.k8s.io/v1";
        config.auth.exec->timeout = 1s;
    }
    void start(const std::string& command, int count = 1) {
        config.auth.exec->command = command;
        Environment environment;
        environment.logger.write = [this](LogLevel, std::string_view line) {
            (log += line) += '\n';
        };
        const auto client =
            std::make_shared<ApiClient>(context.get_executor(), config, environment);
        for (int i = 0; i < count; ++i) watches.emplace_back(client).watcher->start();
    }
    template <class Done>
    bool run_until(Done done) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!done()) {
            context.restart();
            context.run_one_for(10ms);
            if (std::chrono::steady_clock::now() > deadline) return false;
        }
        return true;
    }
    bool run_until_synced() {
        return run_until([&] {
            return std::all_of(watches.begin(), watches.end(),
                               [](const Watch& w) { return w.synced; });
        });
    }
    /// The first error that a watch reports.
    std::string run_until_problem() {
        CHECK(run_until([&] { return !watches.front().problem.empty(); }));
        return watches.front().problem;
    }

    boost::asio::io_context context;
    sim::ApiServer server;
    ApiServerConfig config;
    std::string log;
    std::list<Watch> watches;
};

std::string credential(const boost::json::object& status,
                       const std::string& version = "client.authentication.k8s.io/v1") {
    return boost::json::serialize(boost::json::object{
        {"kind", "ExecCredential"}, {"apiVersion", version}, {"status", status}});
}

std::string runs(const Scripts& scripts) { return scripts.read("runs"); }

}  // namespace

TEST_CASE("Exec: ten watches of a real server begin with one run of a real script") {
    const Scripts scripts;
    scripts.write("answer", credential({{"token", planted}}));
    ExecHost host({.token = planted});
    host.start(scripts.script("echo run >> " + scripts.path("runs") + "; sleep 0.1; cat " +
                              scripts.path("answer")),
               10);
    CHECK(host.run_until_synced());
    CHECK(runs(scripts) == "run\n");
    CHECK(host.log.empty());
}

TEST_CASE("Exec: a client certificate of the program opens connections") {
    const Scripts scripts;
    const CertificateAuthority ca;
    const Identity identity = ca.server({"127.0.0.1"});
    const auto issue = [&](const Identity& client) {
        scripts.write("answer", credential({{"clientCertificateData", client.certificate},
                                            {"clientKeyData", client.key}}));
    };
    ExecHost host({.tls_certificate = identity.certificate,
                   .tls_key = identity.key,
                   .tls_client_ca = ca.certificate()});
    host.config.tls.ca = ca.certificate();
    issue(ca.client("jane"));
    host.start(scripts.script("cat " + scripts.path("answer")));
    CHECK(host.run_until_synced());
    INFO(host.watches.front().problem);
    CHECK(host.watches.front().problem.empty());
}

TEST_CASE("Exec: whatever a program does, the watch says what is wrong, and no secret") {
    const Scripts scripts;
    const std::string token = credential({{"token", planted}});
    scripts.write("answer", token);
    std::string text, expected;
    const auto play = [&](const std::string& script, const std::string& problem) {
        text = script;
        expected = problem;
    };
    SECTION("it fails and shows the token") {
        play("cat " + scripts.path("answer") + " >&2; exit 3", "it ended with exit status 3: ");
    }
    SECTION("it hangs") { play("echo " + planted + "; sleep 1000", "it did not end in 1 s"); }
    SECTION("it ignores SIGTERM") {
        play("trap '' TERM; while :; do sleep 1000; done", "it did not end in 1 s");
    }
    SECTION("it closes its output and hangs") {
        play("exec >&-; sleep 1000", "it did not end in 1 s");
    }
    SECTION("garbage") { play("echo " + planted, "its output is not JSON"); }
    SECTION("half a JSON") {
        play("head -c 120 " + scripts.path("answer"), "its output is not JSON");
    }
    SECTION("much") { play("yes " + planted + " | head -c 10000000", "more than 1 MiB"); }
    SECTION("nothing") { play("true", "it printed nothing"); }
    SECTION("another version") {
        scripts.write("answer",
                      credential({{"token", planted}}, "client.authentication.k8s.io/v1alpha1"));
        play("cat " + scripts.path("answer"),
             "it printed apiVersion \"client.authentication.k8s.io/v1alpha1\"");
    }
    SECTION("no credentials") {
        scripts.write("answer", credential({}));
        play("cat " + scripts.path("answer"), "neither a token nor a client certificate");
    }
    ExecHost host({.token = planted});
    host.start(scripts.script(text));
    const std::string problem = host.run_until_problem();
    INFO(problem);
    CHECK(contains(problem, "exec " + scripts.path("plugin") + ": "));
    CHECK(contains(problem, expected));
    CHECK_FALSE(contains(problem + host.log, planted));
    CHECK_FALSE(contains(problem + host.log, planted.substr(0, 12)));
}

TEST_CASE("Exec: a program that cannot be run is named, with what to do") {
    const Scripts scripts;
    ExecHost host;
    host.config.auth.exec->install_hint = "See https://example.com/login";
    SECTION("missing") {
        host.start("k8s-sd-no-such-login");
        const std::string problem = host.run_until_problem();
        CHECK(contains(problem,
                       "exec k8s-sd-no-such-login: there is no such program: not in PATH ("));
        CHECK(contains(problem, "; See https://example.com/login"));
    }
    SECTION("no execute permission") {
        host.start(scripts.write("plain", "#!/bin/sh"));
        CHECK(contains(host.run_until_problem(), "chmod +x may be missing"));
    }
}

TEST_CASE("Exec: credentials that had expired when they came serve, if the server takes them") {
    const Scripts scripts;
    scripts.write("answer", credential({{"token", planted},
                                        {"expirationTimestamp", "2001-01-01T00:00:00Z"}}));
    ExecHost host({.token = planted});
    host.start(
        scripts.script("echo run >> " + scripts.path("runs") + "; cat " + scripts.path("answer")),
        3);
    CHECK(host.run_until_synced());
    CHECK(runs(scripts) == "run\n");
    CHECK(contains(host.log, "the clock of this machine wrong?"));
}

TEST_CASE("Exec: a refused token is reported as such, and the program is not run again at once") {
    const Scripts scripts;
    scripts.write("answer", credential({{"token", "Wr0ng-Secr3t-0f-This-Test"}}));
    ExecHost host({.token = planted});
    host.start(
        scripts.script("echo run >> " + scripts.path("runs") + "; cat " + scripts.path("answer")),
        10);
    CHECK(contains(host.run_until_problem(), "401"));
    CHECK(runs(scripts) == "run\n");
    CHECK_FALSE(contains(host.watches.front().problem + host.log, "Wr0ng-Secr3t"));
}

TEST_CASE("Exec: the arguments of the program hold no secret, and its environment what it must") {
    const Scripts scripts;
    ExecHost host({.token = planted});
    host.config.auth.exec->provide_cluster_info = true;
    host.config.auth.bearer_token.clear();
    host.config.headers = {{.name = "X-Key", .value = planted}};
    scripts.write("answer", credential({{"token", planted}}));
    host.start(scripts.script("cat /proc/$$/cmdline > " + scripts.path("cmdline") +
                              "; cat /proc/$$/environ > " + scripts.path("environ") + "; cat " +
                              scripts.path("answer")));
    CHECK(host.run_until_synced());
    CHECK_FALSE(contains(scripts.read("cmdline"), planted));
    CHECK_FALSE(contains(scripts.read("environ"), planted));
    CHECK(contains(scripts.read("environ"), "KUBERNETES_EXEC_INFO={"));
    CHECK(contains(scripts.read("environ"), host.server.url()));
}

TEST_CASE("Exec: the end of the host's context ends a program that hangs, with all it started") {
    const Scripts scripts;
    const auto before = open_descriptors();
    {
        ExecHost host;
        host.config.auth.exec->timeout = 1000s;
        host.start(scripts.script("sleep 1000 & echo $! > " + scripts.path("new") + "; mv " +
                                  scripts.path("new") + " " + scripts.path("number") +
                                  "; sleep 1000"));
        CHECK(host.run_until([&] { return !scripts.read("number").empty(); }));
    }
    const std::string number = scripts.read("number");
    REQUIRE_FALSE(number.empty());
    CHECK(wait_until([&] { return !is_running(number.substr(0, number.size() - 1)); }));
    CHECK(wait_until([&] { return open_descriptors() == before; }));
    CHECK(wait_until([] {
        siginfo_t info{};
        return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
    }));
}
