#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

constexpr auto grace = 60s;  // between SIGTERM and the end of a pod
constexpr auto probe = 10s;  // until a dead process is detected
constexpr auto latest = 5s;  // maximum delay of one member's view
const std::vector<std::string> shops{"shop-0", "shop-1", "shop-2", "shop-3", "shop-4", "shop-5"};

/// A source with delayed reports. Destroyed with the process that uses it.
class LateSource final : public MemberSource {
 public:
    LateSource(Simulation& sim, std::shared_ptr<MemberSource> source, Duration delay)
        : sim_(sim), source_(std::move(source)), delay_(delay) {}
    void start(Callback callback) override {
        callback_ = std::make_shared<Callback>(std::move(callback));
        source_->start([this, weak = std::weak_ptr(callback_)](const FleetSighting& sighting) {
            auto timer = std::shared_ptr(sim_.clock->make_timer(sim_.context.get_executor()));
            timers_.push_back(timer);
            timer->expires_at(sim_.clock->now() + delay_, [weak, sighting] {
                if (const auto alive = weak.lock()) (*alive)(sighting);
            });
        });
    }
    void stop() noexcept override {
        callback_.reset();
        source_->stop();
    }
    std::string identity() const override { return source_->identity(); }

 private:
    Simulation& sim_;
    const std::shared_ptr<MemberSource> source_;
    const Duration delay_;
    std::shared_ptr<Callback> callback_;
    std::vector<std::shared_ptr<Timer>> timers_;
};

/// The running targets.
struct Running final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr& target, StopReason) noexcept override {
        --count[std::string(target->get("__address__"))];
    }
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
    void start(TargetId, const ScrapeTargetPtr& target) noexcept override {
        ++count[std::string(target->get("__address__"))];
    }
    bool has(const std::string& address) const {
        const auto it = count.find(address);
        return it != count.end() && it->second > 0;
    }
    std::map<std::string, int> count;
};

/// Settings shared by all members.
struct FleetSetup {
    unsigned replicas = 1;
    Division division{};
};

/// A process: discovers all or its part, and scrapes its share.
class Scraper {
 public:
    /// \param directory  keeps view and targets across restarts; empty: none
    Scraper(Simulation& sim, const std::string& name, const FleetSetup& setup, Duration delay,
            const std::string& directory)
        : clock_(*sim.clock),
          config_(pods(sim, setup.division)),
          pool_(job(), running_),
          membership_(sim.context.get_executor(),
                      {.source = std::make_shared<LateSource>(sim, source(sim), delay),
                       .self = name,
                       .replicas = setup.replicas,
                       .snapshot_directory = directory},
                      [this](const FleetShare& share) { learn(share); }),
          manager_(sim.context.get_executor(), [this](const JobDiff& diff) { pool_.apply(diff); }) {
        manager_.set_warm_start({.directory = directory});
        learn(membership_.share());
        membership_.async_run(asio::detached);
        manager_.async_run(asio::detached);
    }
    void tick() {
        pool_.finish_handovers(clock_.now());
        discovery_.finish_handovers(clock_.now());
        discover();
        if (discovery_.knows_part(membership_.status()) && manager_.status().front().synced) {
            membership_.set_synced();
        }
    }
    bool ready() const { return membership_.ready(); }
    FleetStatus status() const { return membership_.status(); }
    bool runs(const std::string& address) const { return running_.has(address); }

 private:
    static ScrapeConfig job() {
        ScrapeConfig config;
        config.job_name = "job";
        config.scrape_interval = 15s;
        config.scrape_timeout = 10s;
        return config;
    }
    static std::shared_ptr<MemberSource> source(Simulation& sim) {
        WatcherConfig where;
        where.api_server.url = sim.server.url();
        where.namespaces = {"monitoring"};
        return service_members(sim.context.get_executor(), "agents", where);
    }
    static DiscoveryConfig pods(Simulation& sim, const Division& division) {
        DiscoveryConfig config;
        config.api_server.url = sim.server.url();
        config.division = division;
        if (division.by == DivideBy::namespaces) config.namespaces = shops;
        return config;
    }
    void learn(const FleetShare& share) {
        pool_.share(share, clock_.now());
        discovery_.share(share, clock_.now());
        discover();
    }
    void discover() {
        const std::vector<Job> jobs{{.name = "job",
                                     .configs = discovery_.parts_of({config_}),
                                     .supersede_timeout = std::nullopt}};
        if (std::exchange(jobs_, jobs) != jobs) manager_.apply_config(jobs_);
    }

    Clock& clock_;
    const DiscoveryConfig config_;
    Running running_;
    TargetPool pool_;
    DividedDiscovery discovery_;
    std::vector<Job> jobs_;
    Membership membership_;
    DiscoveryManager manager_;
};

/// Members of a StatefulSet that join, leave, die and see changes late, and the cluster's reports
/// about them.
class FleetScenario {
 public:
    /// \param may_fail  members die, and the API server becomes unreachable
    /// \param keeps     members keep view and targets across restarts
    FleetScenario(std::uint64_t seed, bool may_fail, bool keeps)
        : random_(seed), may_fail_(may_fail), keeps_(keeps) {
        setup_.replicas = 1 + random_.below(2);
        setup_.division.by =
            random_.pick<DivideBy>({DivideBy::nothing, DivideBy::objects, DivideBy::namespaces});
        setup_.division.slots = random_.pick<unsigned>({1, 8, 256});
        using Gate = sim::ApiServer::ShardGate;
        sim_.server.set_shard_gate(random_.pick<Gate>({Gate::off, Gate::on, Gate::mixed}));
        for (unsigned i = 0; i < 40; ++i) add_target();
        for (unsigned i = 2 + random_.below(3); i > 0; --i) join();
        pass_until_quiet();
        begun_ = true;
    }

    void run() {
        for (unsigned i = 0; i < 25; ++i) {
            change();
            pass(std::chrono::seconds(1 + random_.below(random_.one_in(3) ? 90 : 8)));
        }
        if (is_away_) come_back();
        pass_until_quiet();
    }

    void check() {
        std::set<std::string> members;
        for (const auto& [name, pod] : pods_) {
            if (!pod.scraper || pod.leaving_since) continue;
            members.insert(name);
        }
        for (const auto& [name, pod] : pods_) {
            if (!pod.scraper) continue;
            const FleetStatus status = pod.scraper->status();
            CAPTURE(name, to_string(status.hold));
            REQUIRE(status.view);
            CHECK(std::set<std::string>(status.view->members().begin(),
                                        status.view->members().end()) == members);
            CHECK(status.hold == ViewHold::none);
        }
        for (const std::string& address : targets_) {
            CHECK(owners(address) == std::min<std::size_t>(setup_.replicas, members.size()));
        }
    }

    /// A member dies and is restarted while the API server is unreachable. \returns how long
    /// targets have no owner; 5 min: longer
    Duration gap_of_restart_in_outage() {
        go_away();
        pass(20s);
        while (deaths_.empty()) die();
        pass(60s);
        restart();
        for (Duration gap{}; gap < 5min; gap += 1s) {
            const auto has_owner = [&](const auto& address) { return owners(address) > 0; };
            if (std::all_of(targets_.begin(), targets_.end(), has_owner)) return gap;
            pass(1s);
        }
        return 5min;
    }

    /// A member has joined, and before the others have handed over, the API server is unreachable
    /// for an hour. \returns how long a target has no owner
    Duration gap_of_join_before_outage() {
        join();
        pass(20s);
        go_away();
        Duration gap{};
        for (Duration away{}; away < 1h; away += 10s) {
            const auto has_owner = [&](const auto& address) { return owners(address) > 0; };
            if (!std::all_of(targets_.begin(), targets_.end(), has_owner)) gap += 10s;
            pass(10s);
        }
        return gap;
    }

    unsigned replicas() const { return setup_.replicas; }
    /// The time without an owner beyond the detection time.
    Duration excess() const { return excess_; }

 private:
    struct Pod {
        std::unique_ptr<Scraper> scraper;  // null: the process is dead
        bool ready = false;
        std::optional<TimePoint> leaving_since;
        std::optional<TimePoint> dead_since;
    };

    void change() {
        switch (random_.below(may_fail_ ? 9 : 5)) {
            case 0:
            case 1: return join();
            case 2: return leave();
            case 3: return add_target();
            case 4: return remove_target();
            case 5: return die();
            case 6: return restart();
            case 7: return is_away_ ? come_back() : go_away();
            default: return;
        }
    }

    // --- events of members --------------------------------------------------------------------

    void join() {
        for (unsigned i = 0; i < 7; ++i) {
            const std::string name = "agent-" + std::to_string(i);
            if (pods_.contains(name)) continue;
            begin(pods_[name], name);
            return write_slice();
        }
    }
    void begin(Pod& pod, const std::string& name) {
        const auto delay = std::chrono::milliseconds(random_.below(5000));
        pod.scraper = std::make_unique<Scraper>(sim_, name, setup_, delay,
                                                keeps_ ? kept_.path(name) : std::string());
        pod.ready = false;
        pod.dead_since.reset();
    }
    /// If enough members remain to take over.
    void leave() {
        Pod* chosen = nullptr;
        unsigned staying = 0;
        for (auto& [name, pod] : pods_) {
            if (!pod.scraper || !pod.ready || pod.leaving_since) continue;
            ++staying;
            if (!chosen || random_.one_in(2)) chosen = &pod;
        }
        if (staying < 2 || is_away_) return;
        chosen->leaving_since = sim_.clock->now();
        write_slice();
    }
    void die() {
        unsigned living = 0;
        for (const auto& [name, pod] : pods_) living += pod.scraper && pod.ready ? 1U : 0U;
        if (living < 2) return;
        for (auto& [name, pod] : pods_) {
            if (!pod.scraper || !pod.ready || !random_.one_in(2)) continue;
            pod.scraper.reset();
            pod.dead_since = sim_.clock->now();
            deaths_.push_back(*pod.dead_since);
            return;
        }
    }
    void restart() {
        for (auto& [name, pod] : pods_) {
            if (!pod.scraper && !pod.leaving_since) return begin(pod, name);
        }
    }
    void go_away() {
        is_away_ = true;
        away_since_ = sim_.clock->now();
        sim_.server.accept_connections(false);
        sim_.server.disconnect_all();
    }
    void come_back() {
        blindness_ = blindness();
        is_away_ = false;
        sim_.server.accept_connections(true);
        write_slice();
    }
    /// The time without observation: outages, each with a backoff, and every wait once more.
    Duration blindness() const {
        return blindness_ + (is_away_ ? sim_.clock->now() - away_since_ + 140s : 0s);
    }

    /// Acts as kubelet and the controllers.
    void manage_pods() {
        const TimePoint now = sim_.clock->now();
        for (auto it = pods_.begin(); it != pods_.end();) {
            Pod& pod = it->second;
            if (pod.scraper) pod.ready = pod.ready || pod.scraper->ready();
            if (!pod.scraper && pod.dead_since && now - *pod.dead_since >= probe) pod.ready = false;
            const bool ended = pod.leaving_since && now - *pod.leaving_since >= grace;
            it = ended ? pods_.erase(it) : std::next(it);
        }
        if (!is_away_) write_slice();
    }
    void write_slice() {
        if (is_away_) return;
        auto slice = sim::endpoint_slice("monitoring", "agents", "agents");
        for (const auto& [name, pod] : pods_) {
            slice.endpoint("10.0.0.1")
                .pod(name)
                .ready(pod.ready && !pod.leaving_since)
                .serving(pod.ready)
                .terminating(pod.leaving_since.has_value());
        }
        sim_.server.apply(std::move(slice));
    }

    // --- targets ------------------------------------------------------------------------------

    static const std::string& shop_of(unsigned target) { return shops[target % shops.size()]; }
    void add_target() {
        const std::string ip = "10.1.0." + std::to_string(next_target_);
        sim_.server.apply(sim::pod(shop_of(next_target_), "web-" + std::to_string(next_target_))
                              .ip(ip)
                              .container("web", "web:1", 80));
        targets_.insert(ip + ":80");
        ++next_target_;
        unowned_since_[ip + ":80"] = sim_.clock->now() + 130s;
    }
    void remove_target() {
        if (targets_.empty()) return;
        const std::string address = *targets_.begin();
        targets_.erase(targets_.begin());
        unowned_since_.erase(address);
        const auto number = address.substr(7, address.find(':') - 7);
        sim_.server.remove("pods", shop_of(static_cast<unsigned>(std::stoul(number))),
                           "web-" + number);
    }
    std::size_t owners(const std::string& address) const {
        std::size_t count = 0;
        for (const auto& [name, pod] : pods_) {
            count += pod.scraper && pod.scraper->runs(address) ? 1U : 0U;
        }
        return count;
    }
    /// A new target has until `unowned_since_` to reach every member.
    void measure() {
        const TimePoint now = sim_.clock->now();
        for (const std::string& address : targets_) {
            TimePoint& since = unowned_since_[address];
            if (!has_members()) {
                since = now + 30s;  // the first member to join needs as long
            } else if (owners(address) > 0) {
                since = now;
            } else if (begun_) {
                excess_ = std::max(excess_, now - since - allowed_gap(since, now));
            }
        }
    }
    /// Whether any member is left to own targets.
    bool has_members() const {
        return std::any_of(pods_.begin(), pods_.end(), [](const auto& pod) {
            return pod.second.scraper && pod.second.ready && !pod.second.leaving_since;
        });
    }
    /// The member that takes over from a dead one may have died itself. Everything is checked once
    /// a second.
    Duration allowed_gap(TimePoint since, TimePoint now) const {
        const FleetRules rules;
        const Duration detection = probe + rules.hold_down + rules.debounce_limit + latest + 1s;
        const auto deaths = std::count_if(deaths_.begin(), deaths_.end(), [&](TimePoint when) {
            return when > since - detection - rules.alarm_hold && when <= now;
        });
        // Simultaneous deaths of several members need confirmation.
        const Duration doubt = deaths > 1 ? rules.alarm_hold : Duration();
        return deaths * detection + doubt + blindness();
    }

    void pass(Duration time) {
        for (Duration passed{}; passed < time; passed += 1s) {
            sim_.advance(1s);
            for (const auto& [name, pod] : pods_) {
                if (pod.scraper) pod.scraper->tick();
            }
            manage_pods();
            sim_.settle();
            measure();
        }
    }
    void pass_until_quiet() { pass(5min); }

    Random random_;
    const bool may_fail_;
    const bool keeps_;
    const TemporaryDirectory kept_;
    FleetSetup setup_;
    Simulation sim_;
    std::map<std::string, Pod> pods_;
    std::set<std::string> targets_;
    std::map<std::string, TimePoint> unowned_since_;
    unsigned next_target_ = 0;
    bool begun_ = false;
    bool is_away_ = false;
    TimePoint away_since_;
    Duration excess_{};
    std::vector<TimePoint> deaths_;
    Duration blindness_{};
};

}  // namespace

TEST_CASE("Fleet: members that join and leave in any order leave no target without an owner") {
    for_each_seed("FLEETS", 15, [&](std::uint64_t seed) {
        FleetScenario fleet(seed, false, seed % 2 == 0);
        fleet.run();
        fleet.check();
        CHECK(fleet.excess() == 0s);
    });
}

TEST_CASE("Fleet: members that die, see late, or cannot ask the API server leave targets alone for "
          "no longer than it takes to find out") {
    for_each_seed("FLEETS", 15, [&](std::uint64_t seed) {
        for (const bool keeps : {false, true}) {
            CAPTURE(seed, keeps);
            FleetScenario fleet(seed, true, keeps);
            fleet.run();
            fleet.check();
            CHECK(fleet.excess() == 0s);
        }
    });
}

TEST_CASE("Fleet: members that have another part, and cannot list it, go on with the one before") {
    for_each_seed("FLEETS", 7, [&](std::uint64_t seed) {
        CHECK(FleetScenario(seed, true, false).gap_of_join_before_outage() == 0s);
    });
}

TEST_CASE("Fleet: who restarts while the API server is away goes on with what it had, if it keeps "
          "it") {
    for_each_seed("FLEETS", 5, [&](std::uint64_t seed) {
        // Its targets start once the API server has not responded for 5 s.
        CHECK(FleetScenario(seed, true, true).gap_of_restart_in_outage() <= 6s);
        FleetScenario forgetful(seed, true, false);
        CHECK(forgetful.gap_of_restart_in_outage() == (forgetful.replicas() == 1 ? 5min : 0min));
    });
}
