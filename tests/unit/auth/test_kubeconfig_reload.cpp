#include "k8s_sd/detail/auth/kubeconfig_reload.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/allocations.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail::kubeconfig_reload_tests {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

/// A kubeconfig of a server and a token.
std::string text_of(const std::string& token, const std::string& server = "https://h",
                    const std::string& current = "c") {
    return "clusters: [{name: k, cluster: {server: '" + server +
           "'}}]\nusers: [{name: u, user: {token: " + token +
           "}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}, {name: d, context: "
           "{cluster: k}}]\ncurrent-context: " +
           current + "\n";
}

/// A kubeconfig that is read with a manual clock, and its changes.
struct Fixture {
    using Prepare = std::function<void(test::TemporaryDirectory&)>;
    explicit Fixture(
        const std::string& list = "kc", const Prepare& prepare = [](auto&) {},
        const ApiServerConfig& own = {}) {
        directory.write("kc", text_of("one"));
        prepare(directory);
        std::string paths;
        for (const std::string& name : split_path_list(list)) paths += directory.path(name) + ":";
        Logger logger;
        logger.level = LogLevel::info;
        logger.write = [this](LogLevel, std::string_view line) { log.emplace_back(line); };
        reload = std::make_unique<KubeconfigReload>(
            load_kubeconfig(paths, "", own), context.get_executor(), clock, files, logger,
            [this](const ApiServerConfig& before, const ApiServerConfig& now) {
                changes.push_back(before.auth.bearer_token + before.url + " -> " +
                                  now.auth.bearer_token + now.url);
                present = now;
                if (on_change) on_change();
            });
    }
    /// Reads the file after this time.
    void check(Duration after = 60s) {
        clock->advance(after);
        reload->async_check([this] { ++checks; });
        settle();
    }
    void check_now() {
        reload->async_check_now([this] { ++checks; });
        settle();
    }
    void settle() { test::settle(context); }
    std::string said(const std::string& what) const {
        return "kubeconfig " + directory.path("kc") + ": " + what;
    }
    Lines take_log() { return std::exchange(log, {}); }
    Lines take_changes() { return std::exchange(changes, {}); }

    test::TemporaryDirectory directory;
    asio::io_context context;
    std::shared_ptr<sim::ManualFiles> files = std::make_shared<sim::ManualFiles>();
    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    Lines log, changes;
    ApiServerConfig present;
    int checks = 0;
    std::function<void()> on_change;
    std::unique_ptr<KubeconfigReload> reload;
};

TEST_CASE("kubeconfig: without memory a check ends, and a later one reports the change") {
    for (long left = 0; left < 200; left = left < 40 ? left + 1 : left + 7) {
        INFO(left);
        Fixture f;
        f.directory.write("kc", text_of("two"));
        f.changes.reserve(2);
        const KubeconfigReload::CheckHandler handler = [&f] { ++f.checks; };
        f.clock->advance(60s);
        bool begun = false;
        test::allocations_left = left;
        try {
            f.reload->async_check(handler);
            begun = true;
            f.settle();
        } catch (const std::bad_alloc&) {
        }
        test::allocations_left = -1;
        f.clock->advance(11s);  // a file takes at most 10 s
        f.settle();
        CHECK((f.checks == 1 || (f.checks == 0 && !begun)));
        f.check();
        CHECK(f.take_changes() == Lines{"onehttps://h -> twohttps://h"});
    }
}

TEST_CASE("kubeconfig: a caller that throws keeps no other one from the end of the check") {
    Fixture f;
    f.reload->async_check_now([] { throw std::bad_alloc(); });
    f.reload->async_check_now([&f] { ++f.checks; });
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    f.settle();
    CHECK(f.checks == 1);
    f.check_now();
    CHECK(f.checks == 2);
}

}  // namespace

TEST_CASE("KubeconfigReload: files are read when a minute has passed, and not before") {
    Fixture f;
    f.directory.write("kc", text_of("two"));
    f.check(59s);
    CHECK(f.checks == 1);
    CHECK(f.files->calls() == 0);
    f.check(1s);
    CHECK(f.checks == 2);
    CHECK(f.files->calls() == 1);
    CHECK(f.take_changes() == Lines{"onehttps://h -> twohttps://h"});
    CHECK(f.take_log() == Lines{f.said("it has changed")});
    f.check(59s);
    CHECK(f.files->calls() == 1);
}

TEST_CASE("KubeconfigReload: what says the same, in other words too, is no change") {
    Fixture f;
    f.check();
    f.directory.write("kc", "# a comment\nfuture: 1\n" + text_of("one"));
    f.check();
    CHECK(f.files->calls() == 2);
    CHECK(f.changes.empty());
    CHECK(f.log.empty());
}

TEST_CASE("KubeconfigReload: a file that is gone or wrong replaces nothing and is said once") {
    Fixture f;
    f.directory.write("kc", text_of("two") + "users: [sesame");
    f.check();
    f.check();
    REQUIRE(f.log.size() == 1);
    CHECK(f.log.front().starts_with(f.said(f.directory.path("kc") + ":")));
    CHECK(f.log.front().ends_with("; the previous content stays in use"));
    CHECK_FALSE(test::contains(f.take_log().front(), "sesame"));

    std::filesystem::remove(f.directory.path("kc"));
    f.check();
    f.check();
    CHECK(f.take_log() ==
          Lines{f.said(f.directory.path("kc") +
                       ": No such file or directory; the previous content stays in use")});
    CHECK(f.changes.empty());

    f.directory.write("kc", text_of("one"));
    f.check();
    CHECK(f.take_log() == Lines{f.said("usable again")});
    CHECK(f.changes.empty());
    f.directory.write("kc", text_of("three"));
    f.check();
    CHECK(f.take_changes() == Lines{"onehttps://h -> threehttps://h"});
}

TEST_CASE("KubeconfigReload: a wrong file that comes back after it was gone is said again") {
    Fixture f;
    f.directory.write("kc", "a: [");
    f.check();
    std::filesystem::remove(f.directory.path("kc"));
    f.check();
    f.directory.write("kc", "a: [");
    f.check();
    CHECK(f.log.size() == 3);
}

TEST_CASE("KubeconfigReload: after a refusal it checks at once, once for all waiting calls") {
    Fixture f;
    f.files->hold();
    f.directory.write("kc", text_of("two"));
    f.check_now();
    f.check_now();
    f.check(1s);
    CHECK(f.checks == 0);
    f.files->release();
    f.settle();
    CHECK(f.checks == 3);
    CHECK(f.files->calls() == 1);
    CHECK(f.take_changes().size() == 1);
    f.check_now();
    CHECK(f.files->calls() == 2);
}

TEST_CASE("KubeconfigReload: while the server is not reached it checks every 5 s") {
    Fixture f;
    f.reload->doubt();
    f.check(4s);
    CHECK(f.files->calls() == 0);
    f.directory.write("kc", text_of("one", "https://other"));
    f.check(1s);
    CHECK(f.take_changes() == Lines{"onehttps://h -> onehttps://other"});
    CHECK(f.take_log() == Lines{f.said("it has changed; the server is https://other")});
    f.check(5s);
    CHECK(f.files->calls() == 1);
    f.reload->doubt();
    f.check(0s);
    CHECK(f.files->calls() == 2);
}

TEST_CASE("KubeconfigReload: keep_checking() checks every minute") {
    Fixture f;
    f.clock->advance(10min);
    f.settle();
    CHECK(f.files->calls() == 0);
    CHECK(f.clock->next_expiry() == TimePoint::max());
    f.reload->keep_checking();
    f.reload->keep_checking();
    f.settle();
    CHECK(f.files->calls() == 1);
    f.directory.write("kc", text_of("two"));
    f.clock->advance(59s);
    f.settle();
    CHECK(f.files->calls() == 1);
    f.check(0s);  // calls in between do not read the file more often
    f.clock->advance(1s);
    f.settle();
    CHECK(f.take_changes() == Lines{"onehttps://h -> twohttps://h"});
    f.clock->advance(60s);
    f.settle();
    CHECK(f.files->calls() == 3);
    f.reload->rest();
    CHECK(f.clock->next_expiry() == TimePoint::max());
    f.clock->advance(10min);
    f.settle();
    CHECK(f.files->calls() == 3);
}

TEST_CASE("KubeconfigReload: a hanging file is not read twice, and the checks go on") {
    Fixture f;
    f.reload->keep_checking();
    f.files->hold();
    for (int i = 0; i < 70; ++i) {
        f.clock->advance(1s);
        f.settle();
    }
    CHECK(f.files->calls() == 1);
    CHECK(f.take_log().size() == 1);
    f.files->release();
    f.settle();
    f.directory.write("kc", text_of("two"));
    f.clock->advance(60s);
    f.settle();
    CHECK(f.take_changes() == Lines{"onehttps://h -> twohttps://h"});
}

TEST_CASE("KubeconfigReload: another current context is for those who start later") {
    Fixture f;
    f.directory.write("kc", text_of("one", "https://h", "d"));
    f.check();
    CHECK(f.changes.empty());
    CHECK(f.log.empty());
}

TEST_CASE("KubeconfigReload: what the configuration says itself stays") {
    ApiServerConfig own;
    own.headers = {{.name = "X-Team", .value = "shop"}};
    own.impersonate.user = "jane";
    own.proxy.url = "http://proxy:1";
    Fixture f(
        "kc", [](auto&) {}, own);
    std::string text = text_of("two, as: joe");
    text.replace(text.find("server:"), 0, "proxy-url: 'http://other', ");
    f.directory.write("kc", text);
    f.check();
    REQUIRE(f.changes.size() == 1);
    CHECK(f.present.headers == own.headers);
    CHECK(f.present.impersonate == own.impersonate);
    CHECK(f.present.proxy == own.proxy);
}

TEST_CASE("KubeconfigReload: of several files each counts, but for those that were not there") {
    Fixture f("none:first:kc", [](auto& directory) { directory.write("first", "{}"); });
    f.directory.write("none", "users: [{name: u, user: {token: three}}]");
    f.check();
    CHECK(f.files->calls() == 2);
    CHECK(f.changes.empty());
    f.directory.write("first", "users: [{name: u, user: {token: two}}]");
    f.check();
    CHECK(f.take_changes() == Lines{"onehttps://h -> twohttps://h"});
    f.directory.write("kc", text_of("four"));
    f.check();
    CHECK(f.changes.empty());
}

TEST_CASE("KubeconfigReload: the handler of a change may destroy it") {
    Fixture f;
    f.directory.write("kc", text_of("two"));
    bool received = false;
    f.on_change = [&] {
        received = true;
        f.reload.reset();
    };
    int after = 0;
    f.reload->async_check_now([&] { ++after; });
    f.settle();
    CHECK(received);
    CHECK(after == 0);
    CHECK(f.changes.size() == 1);
}

TEST_CASE("KubeconfigReload: a file that cannot be read is tried again after 5 s") {
    Fixture f;
    std::filesystem::remove(f.directory.path("kc"));
    f.check();
    f.directory.write("kc", text_of("two"));
    f.check(4s);
    CHECK(f.changes.empty());
    f.check(1s);
    CHECK(f.take_changes() == Lines{"onehttps://h -> twohttps://h"});
}

TEST_CASE("KubeconfigReload: who waits may destroy it") {
    Fixture f;
    int after = 0;
    f.reload->async_check_now([&] { f.reload.reset(); });
    f.reload->async_check_now([&] { ++after; });
    f.settle();
    CHECK_FALSE(f.reload);
    CHECK(after == 0);

    Fixture g;
    g.files->hold();
    g.reload->async_check_now([&] { ++after; });
    g.reload.reset();
    g.files->release();
    g.settle();
    CHECK(after == 0);
}

}  // namespace k8s_sd::detail::kubeconfig_reload_tests
