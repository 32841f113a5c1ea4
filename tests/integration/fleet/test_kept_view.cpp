#include "integration/fleet/fleet_fixture.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "k8s_sd/detail/fleet/kept_view.hpp"
#include "k8s_sd/discoverer.hpp"
#include "support/config_fixtures.hpp"
#include "support/router.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/detached.hpp>
#include <sys/stat.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

/// A fleet in which each member keeps its view in a directory.
struct KeptFleet : Pods {
    MembershipConfig config(const std::string& self = "agent-0") {
        MembershipConfig config;
        config.source = source();
        config.self = self;
        config.snapshot_directory = directory;
        return config;
    }
    /// Runs a member until its view is written to disk.
    void write_view(const std::string& self = "agent-0") {
        Agent agent(*this, config(self));
        settle();
        REQUIRE(metrics->snapshots_written == 1);
        agent.membership.cancel();
        settle();
        metrics->snapshots_written = 0;
    }
    std::string file() const {
        REQUIRE(std::distance(fs::directory_iterator(directory), fs::directory_iterator()) == 1);
        return fs::directory_iterator(directory)->path();
    }
    std::string content() const {
        std::ifstream in(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put_content(const std::string& bytes) const {
        std::ofstream(file(), std::ios::binary) << bytes;
    }
    /// A file of this member, with another time or payload.
    std::string forged(Duration age, const std::string& payload) const {
        const std::string bytes = content();
        detail::SnapshotKey key{"view 1", {}};
        std::copy_n(bytes.begin() + 22, key.identity.size(), key.identity.begin());
        const auto created = std::chrono::system_clock::now() -
                             std::chrono::duration_cast<std::chrono::seconds>(age);
        return detail::snapshot_bytes(key, created, payload);
    }
    static std::string payload(std::vector<std::string> names) {
        return detail::pack_view(FleetView(std::move(names)));
    }

    TemporaryDirectory parent;
    std::string directory = parent.path("views");
};

/// Two members that are ready, and a file of the first one.
struct KeptPair : KeptFleet {
    KeptPair() {
        put("agent-0", ready);
        put("agent-1", ready);
        write_view();
    }
};

}  // namespace

TEST_CASE("Membership: who restarts while the API server is away has its share at once") {
    KeptPair s;
    s.down();
    Agent agent(s, s.config());
    CHECK(agent.view() == "none");
    s.settle();
    CHECK(agent.take() == Views{"agent-0 agent-1"});
    CHECK(agent.membership.share().view()->contains("agent-0"));
    CHECK(agent.hold() == "away");
    CHECK_THAT(agent.membership.status().snapshot,
               ContainsSubstring("the view is from before the restart, "));

    // No other member has been seen, so none may have to give up targets.
    agent.membership.set_synced();
    s.advance(1h);
    CHECK_FALSE(agent.membership.ready());
    CHECK(agent.take().empty());
    CHECK_THAT(agent.membership.status().message,
               ContainsSubstring("the members cannot be listed at present: "));
    const Lines log = s.take_log();
    CHECK(std::count_if(log.begin(), log.end(), [](const std::string& line) {
              return line.starts_with(
                  "fleet: the view is held: the members cannot be listed at present: ");
          }) == 1);

    s.put("agent-1", Pods::terminating);
    s.server.accept_connections(true);
    s.advance(90s);
    CHECK(agent.membership.ready());
    CHECK(agent.take() == Views{"agent-0"});
    CHECK(agent.membership.status().snapshot.empty());
}

TEST_CASE("Membership: without a file, who begins while the API server is away has no share") {
    KeptFleet s;
    s.put("agent-0", Pods::ready);
    s.down();
    Agent agent(s, s.config());
    s.advance(10min);
    CHECK(agent.view() == "none");
    CHECK(agent.hold() == "unknown");
    CHECK(agent.membership.status().snapshot.empty());
    CHECK(s.metrics->snapshots_ignored == 0);
}

TEST_CASE("Membership: who restarts and sees the others keeps its share until it is ready again") {
    KeptPair s;
    s.put("agent-0", Pods::not_ready);
    Agent agent(s, s.config());
    s.settle();
    CHECK(agent.take() == Views{"agent-0 agent-1"});
    CHECK(agent.hold() == "hold_down");
    s.advance(10s);
    agent.membership.set_synced();
    s.put("agent-0", Pods::ready);
    s.advance(1h);
    CHECK(agent.take().empty());
    CHECK(agent.hold() == "none");
    CHECK(agent.membership.status().snapshot.empty());
    CHECK(s.take_log().empty());
}

TEST_CASE("Membership: the file of the view is for its owner alone, and whole") {
    KeptPair s;
    struct stat status {};
    REQUIRE(stat(s.directory.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0700U);
    REQUIRE(stat(s.file().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
    CHECK(s.content().starts_with("k8s_sd view 1\n"));
    CHECK(s.content().size() == 14 + 8 + 32 + 8 + 16 + 32);
}

TEST_CASE("Membership: the view is written at each change, and again at a quarter of its age") {
    KeptPair s;
    Agent agent(s, s.config());
    s.settle();
    CHECK(s.metrics->snapshots_written == 1);
    s.put("agent-2", Pods::ready);
    s.advance(1s);
    CHECK(s.metrics->snapshots_written == 1);
    s.advance(1s);
    CHECK(s.metrics->snapshots_written == 2);
    CHECK_THAT(s.content(), ContainsSubstring("agent-2"));
    s.advance(15min - 1s);
    CHECK(s.metrics->snapshots_written == 2);
    s.advance(1s);
    CHECK(s.metrics->snapshots_written == 3);

    // A program that relies on a stored view while the API server is unreachable keeps using it.
    s.down();
    s.advance(1h);
    CHECK(s.metrics->snapshots_written == 7);
    agent.membership.cancel();
    s.advance(1h);
    CHECK(s.metrics->snapshots_written == 7);
}

TEST_CASE("Membership: a view that changes while it is written is written once more") {
    KeptFleet s;
    s.put("agent-0", Pods::ready);
    s.files->hold();
    Agent agent(s, s.config());
    s.settle();
    s.put("agent-1", Pods::ready);
    s.advance(2s);
    s.put("agent-2", Pods::ready);
    s.advance(2s);
    CHECK(agent.take() == Views{"agent-0", "agent-0 agent-1", "agent-0 agent-1 agent-2"});
    CHECK(s.files->held() == 2);  // the read, and one write
    s.files->release();
    s.settle();
    CHECK(s.metrics->snapshots_written == 2);
    CHECK_THAT(s.content(), ContainsSubstring("agent-2"));
}

TEST_CASE("Membership: a disk that hangs delays nothing, and what it brings late says nothing") {
    KeptPair s;
    s.remove("agent-1");
    s.files->hold();
    Agent agent(s, s.config());
    s.settle();
    CHECK(agent.take() == Views{"agent-0"});
    agent.membership.set_synced();
    CHECK(agent.membership.ready());
    s.files->release();
    s.advance(1min);
    CHECK(agent.take().empty());
    CHECK(agent.membership.status().snapshot.empty());
}

TEST_CASE("Membership: a file that is not as it was written is ignored, with one line") {
    const std::string names = KeptFleet::payload({"agent-0", "agent-1"});
    const auto received = [](const std::function<void(KeptFleet&)>& change) {
        KeptPair s;
        change(s);
        s.down();
        s.take_log();
        Agent agent(s, s.config());
        s.settle();
        CHECK(agent.view() == "none");
        CHECK(s.metrics->snapshots_ignored == 1);
        Lines lines = s.take_log();
        std::erase_if(lines, [](const auto& line) { return !line.starts_with("the fleet view"); });
        REQUIRE(lines.size() == 1);
        CHECK(agent.membership.status().snapshot == lines.front());
        const std::string begin = "the fleet view in " + s.directory + " is ignored: ";
        CHECK(lines.front().starts_with(begin));

        // The ignored file does not prevent a new one, if the directory is usable.
        s.server.accept_connections(true);
        s.advance(2min);
        CHECK(agent.view() == "agent-0 agent-1");
        return lines.front().substr(begin.size());
    };
    const auto with = [&](const std::function<std::string(KeptFleet&)>& bytes) {
        return received([&](KeptFleet& s) { s.put_content(bytes(s)); });
    };
    CHECK(with([](KeptFleet&) { return ""; }) ==
          "the file is not a snapshot of this version of the library");
    CHECK(with([](KeptFleet& s) { return s.content().substr(0, 40); }) == "the file is cut off");
    CHECK(with([](KeptFleet& s) { return s.content() + "x"; }) == "the file is damaged or cut off");
    CHECK(with([](KeptFleet& s) {
              std::string bytes = s.content();
              bytes[70] = static_cast<char>(bytes[70] ^ 1);
              return bytes;
          }) == "the file is damaged or cut off");
    CHECK(with([](KeptFleet& s) { return s.forged(1s, "\x01"); }) == "the file is damaged");
    CHECK(with([&](KeptFleet& s) { return s.forged(61min, names); }) == "the file is too old");
    CHECK(with([&](KeptFleet& s) { return s.forged(-10min, names); }) ==
          "the file is from the future");
    CHECK(with([](KeptFleet&) { return std::string(5'000'000, 'x'); }) == "the file is too large");
    CHECK(with([&](KeptFleet&) {
              return detail::snapshot_bytes({"view 1", detail::digest_of("another fleet")},
                                            std::chrono::system_clock::now(), names);
          }) == "the file is of another cluster or configuration");

    CHECK(received([](KeptFleet& s) { chmod(s.file().c_str(), 0622); }) ==
          "the file is readable by others");
    CHECK(received([](KeptFleet& s) {
              const std::string file = s.file();
              fs::rename(file, s.parent.path("elsewhere"));
              fs::create_symlink(s.parent.path("elsewhere"), file);
          }).starts_with("the file cannot be read: "));
    CHECK(received([](KeptFleet& s) {
              const std::string file = s.file();
              fs::remove(file);
              REQUIRE(mkfifo(file.c_str(), 0600) == 0);
          }) == "the file is not a regular file");
    CHECK(received([](KeptFleet& s) {
              const std::string file = s.file();
              fs::remove(file);
              fs::create_directory(file);
          }) == "the file is not a regular file");
    CHECK(received([](KeptFleet& s) { chmod(s.directory.c_str(), 0755); }) ==
          "the directory is accessible to others; chmod 700 it");
}

TEST_CASE("Membership: a view that was written within the time is used") {
    KeptPair s;
    s.put_content(s.forged(59min, KeptFleet::payload({"agent-0", "agent-7"})));
    s.down();
    Agent agent(s, s.config());
    s.settle();
    CHECK(agent.view() == "agent-0 agent-7");
    CHECK(agent.membership.status().snapshot == "the view is from before the restart, 3540 s old");
}

TEST_CASE("Membership: an empty stored view counts as none") {
    KeptPair s;
    s.put_content(s.forged(1s, ""));
    s.down();
    Agent agent(s, s.config());
    s.settle();
    CHECK(agent.view() == "none");
    CHECK(agent.hold() == "unknown");
}

TEST_CASE("Membership: the view of another fleet, member or number of replicas is not used") {
    KeptPair s;
    s.down();
    const auto view = [&](MembershipConfig config) {
        Agent agent(s, std::move(config));
        s.settle();
        return agent.view();
    };
    const auto of_service = [&](const std::string& service, const std::string& ns) {
        MembershipConfig config = s.config();
        WatcherConfig where = s.where();
        where.namespaces = {ns};
        config.source = service_members(s.context.get_executor(), service, where);
        return config;
    };
    CHECK(view(of_service("agents", "monitoring")) == "agent-0 agent-1");
    CHECK(view(of_service("others", "monitoring")) == "none");
    CHECK(view(of_service("agents", "elsewhere")) == "none");
    CHECK(view(s.config("agent-1")) == "none");
    MembershipConfig two = s.config();
    two.replicas = 2;
    CHECK(view(two) == "none");
    MembershipConfig leases = s.config();
    leases.source = lease_members(s.context.get_executor(),
                                  {.fleet = "agents", .self = "agent-0", .where = s.where()});
    CHECK(view(leases) == "none");
    // None of them has a file, which is not worth a log line.
    CHECK(s.metrics->snapshots_ignored == 0);
    CHECK(view(s.config()) == "agent-0 agent-1");
}

TEST_CASE("Membership: members that are named anew have nothing to do with those of before") {
    KeptFleet s;
    const auto run = [&](std::vector<std::string> names) {
        MembershipConfig config = s.config("a");
        config.source = static_members(s.context.get_executor(), std::move(names));
        Agent agent(s, std::move(config));
        s.settle();
        return agent.take().front();
    };
    CHECK(run({"a", "b", "c"}) == "a b c");
    CHECK(run({"a", "b"}) == "a b");
}

TEST_CASE("Membership: a failed write is reported once, and so is the next success") {
    KeptPair s;
    Agent agent(s, s.config());
    s.settle();
    REQUIRE(s.take_log().empty());
    // A file cannot replace a directory that is not empty.
    const std::string file = s.file();
    fs::rename(file, s.parent.path("kept"));
    fs::create_directories(file + "/in-the-way");
    s.put("agent-2", Pods::ready);
    s.advance(5min);
    CHECK(agent.view() == "agent-0 agent-1 agent-2");
    const Lines lines = s.take_log();
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines.front(),
               ContainsSubstring("the fleet view in " + s.directory + " is not written: "));
    CHECK(agent.membership.status().snapshot == lines.front());
    CHECK(s.metrics->snapshot_failures == 5);

    fs::remove_all(file);
    s.advance(1min);
    CHECK(agent.membership.status().snapshot.empty());
    CHECK(s.take_log().empty());
    CHECK_THAT(s.content(), ContainsSubstring("agent-2"));
}

TEST_CASE("Membership: a name that cannot be kept is no reason to end") {
    KeptFleet s;
    MembershipConfig config = s.config("a");
    config.source = static_members(s.context.get_executor(), {"a", std::string(2000, 'b')});
    Agent agent(s, std::move(config));
    s.settle();
    CHECK(agent.membership.share().view()->size() == 2);
    CHECK_THAT(agent.membership.status().snapshot, ContainsSubstring("is not written: "));
}

TEST_CASE("Membership: is cancelled and destroyed while a file is read or written") {
    auto s = std::make_unique<KeptPair>();
    s->files->hold();
    {
        Agent agent(*s, s->config());
        s->settle();
        agent.membership.cancel();
    }
    s->settle();
    s->files->release();
    s->settle();
    s->files->hold();
    auto last = std::make_unique<Agent>(*s, s->config());
    s->settle();
    last.reset();
    const auto files = s->files;
    s.reset();
    files->release();
}

TEST_CASE("Membership: keeps its view beside the targets of a warm start") {
    KeptFleet s;
    s.put("agent-0", Pods::ready);
    s.server.apply(sim::pod("shop", "web").ip("10.0.0.9").container("web", "web:1", 80));
    DiscoveryConfig pods;
    pods.api_server.url = s.server.url();
    const auto files = [&] {
        return std::distance(fs::directory_iterator(s.directory), fs::directory_iterator());
    };
    {
        Agent agent(s, s.config());
        Discoverer discoverer(s.context.get_executor(), pods, [](const TargetGroupDiff&) {},
                              {.directory = s.directory});
        discoverer.async_run(boost::asio::detached);
        s.advance(1min);
        CHECK(files() == 2);
        discoverer.cancel();
        s.settle();
    }
    s.down();
    Agent agent(s, s.config());
    std::size_t groups = 0;
    Discoverer discoverer(s.context.get_executor(), pods,
                          [&](const TargetGroupDiff& diff) { groups += diff.updated.size(); },
                          {.directory = s.directory});
    discoverer.async_run(boost::asio::detached);
    s.advance(10s);
    CHECK(agent.view() == "agent-0");
    CHECK(groups == 1);
}

TEST_CASE("Membership: an age that cannot be is refused") {
    KeptFleet s;
    MembershipConfig config = s.config();
    config.snapshot_max_age = -1s;
    CHECK(config_error([&] {
              Membership(s.context.get_executor(), config, [](const FleetShare&) {});
          }) == "snapshot_max_age: must not be negative");
}

namespace {

/// Two clusters with an agent "agent-0" each, beside others.
struct MovingFleet : TwoServers {
    MovingFleet() {
        put(server, {"agent-0", "agent-1"});
        put(second, {"agent-0", "agent-2"});
    }
    static void put(sim::ApiServer& api, const std::vector<std::string>& pods) {
        auto slice = sim::endpoint_slice("monitoring", "agents-1", "agents");
        for (const std::string& pod : pods)
            slice.endpoint("10.0.0.1").pod(pod).ready(true).serving(true);
        api.apply(std::move(slice));
    }
    MembershipConfig config() {
        WatcherConfig where;
        where.kubeconfig_file = kubeconfig();
        where.namespaces = {"monitoring"};
        MembershipConfig config;
        config.source = service_members(context.get_executor(), "agents", where);
        config.self = "agent-0";
        config.snapshot_directory = directory.path("views");
        return config;
    }
    void put_away() {
        for (sim::ApiServer* api : {&server, &second}) {
            api->accept_connections(false);
            api->disconnect_all();
        }
        settle();
    }
    /// The view used by a program that starts now.
    std::string remembered() {
        Agent agent(*this, config());
        advance(1s);
        return agent.view();
    }
};

}  // namespace

TEST_CASE("Membership: after a kubeconfig has moved the view is kept as one of the new server") {
    MovingFleet s;
    std::string there = "agent-0 agent-2";
    SECTION("with other members") {}
    SECTION("with the same members") {
        MovingFleet::put(s.second, {"agent-0", "agent-1"});
        there = "agent-0 agent-1";
    }
    {
        Agent agent(s, s.config());
        s.advance(1min);
        CHECK(agent.view() == "agent-0 agent-1");
        s.lead_to("https://second");
        s.advance(10min);
        agent.membership.cancel();
        s.settle();
    }
    s.put_away();
    CHECK(s.remembered() == there);
    s.lead_to("https://first");
    CHECK(s.remembered() == "agent-0 agent-1");
}
