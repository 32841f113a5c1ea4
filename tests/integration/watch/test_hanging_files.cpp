#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <list>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Watches with a token file that hangs on the test's command.
struct HangingToken : Simulation {
    explicit HangingToken(int count = 1) {
        server.set_token("one");
        server.apply(pod({.name = "a"}));
        api_server.auth.bearer_token_file = directory.write("token", "one");
        for (int i = 0; i < count; ++i)
            watches.emplace_back(*this, WatchQuery{}, plain_lists(), api_server);
    }
    void start() {
        for (WatchProbe& watch : watches) watch.start();
    }
    WatchProbe& watch() { return watches.front(); }
    bool all_follow(const std::string& name) {
        server.apply(pod({.name = name}));
        settle();
        for (const WatchProbe& w : watches) {
            if (!w.names().contains(name) || w.status().error) return false;
        }
        return true;
    }

    TemporaryDirectory directory;
    const std::string path = directory.path("token");
    const std::string problem = "bearer_token_file " + path + ": reading it takes longer than 10 s";
    ApiServerConfig api_server;
    std::list<WatchProbe> watches;
};

}  // namespace

TEST_CASE("Hanging files: an open watch is undisturbed, the next one has the token read before") {
    HangingToken sim;
    sim.start();
    CHECK(sim.all_follow("b"));
    sim.advance(61s);  // the token has to be read again
    sim.files->hold();
    CHECK(sim.all_follow("c"));
    sim.take_requests();

    sim.server.end_watches();
    sim.advance(9s);
    CHECK(sim.take_requests().empty());
    CHECK(sim.take_log().empty());
    sim.advance(2s);
    CHECK(sim.take_requests().size() == 1);
    CHECK(sim.all_follow("d"));
    CHECK(sim.take_log() ==
          std::vector<std::string>{sim.problem + "; the value read before stays in use"});

    for (int i = 0; i < 3; ++i) {  // no caller waits for it again
        sim.server.end_watches();
        sim.advance(1min);
        CHECK(sim.all_follow("e" + std::to_string(i)));
    }
    CHECK(sim.files->held() == 1);
    CHECK(sim.take_log().empty());

    sim.directory.write("token", "two");
    sim.server.set_token("two");
    sim.files->release();
    sim.server.end_watches();
    sim.advance(2s);
    CHECK(sim.all_follow("f"));
    CHECK(sim.take_log() ==
          std::vector<std::string>{"bearer_token_file " + sim.path + ": usable again"});
}

TEST_CASE("Hanging files: a token that was never read is an error after 10 s, until it comes") {
    HangingToken sim;
    sim.files->hold();
    sim.start();
    sim.advance(9s);
    CHECK_FALSE(sim.watch().status().error);
    sim.advance(1s);
    CHECK(sim.watch().status().error == errc::credentials_unavailable);
    CHECK(contains(sim.watch().status().message, sim.problem));
    sim.advance(1h);
    CHECK(sim.files->calls() == 1);
    sim.files->release();
    sim.advance(1min);
    CHECK(sim.all_follow("b"));
    CHECK(sim.server.open_watches() == 1);
}

TEST_CASE("Hanging files: a file is read once for all watches of a context") {
    HangingToken sim(10);  // each with credentials of its own
    sim.files->hold();
    sim.start();
    CHECK(sim.files->calls() == 1);
    sim.advance(5min);
    CHECK(sim.files->calls() == 1);
    sim.files->release();
    sim.advance(1min);
    CHECK(sim.all_follow("b"));
}

TEST_CASE("Hanging files: a watch that is dropped does not wait for its token") {
    HangingToken sim(2);
    sim.files->hold();
    sim.start();
    SECTION("one of two") {
        sim.watches.pop_front();
        sim.files->release();
        sim.settle();
        CHECK(sim.all_follow("b"));
        CHECK(sim.server.open_watches() == 1);
    }
    SECTION("all of them, before the answer") {
        sim.watches.clear();
        sim.files->release();
        sim.settle();
        CHECK(sim.server.requests().empty());
    }
}
