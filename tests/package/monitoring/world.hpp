#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "stalling_connector.hpp"
#include "support/config_fixtures.hpp"
#include "support/router.hpp"
#include "support/simulation.hpp"

#include <boost/asio/io_context.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::monitoring {

using namespace std::chrono_literals;

class World;

/// A program with metrics of its own, as in a process of its own.
class Instance {
 public:
    explicit Instance(World&, const ServerLimits& = {});
    virtual ~Instance() = default;
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    /// The answer to a scrape.
    virtual std::string metrics() { return to_prometheus_text(*metrics_of(context)); }
    /// Ends the program, so that its context runs out of work.
    virtual void stop() = 0;

    asio::io_context context;

 protected:
    World& world_;
};

struct WithStalls {
    const std::shared_ptr<bool> stalls = std::make_shared<bool>(false);  ///< on the way to "blue"
};

/// Two API servers, https://blue and https://green, and programs on a common clock.
class World : test::WithRouter, public WithStalls, test::Simulation {
 public:
    World()
        : Simulation({}, {}, {},
                     [this](const Environment& environment) {
                         router->servers["blue"] = std::make_shared<StallingConnector>(
                             environment.connector, environment.clock, stalls);
                         return router;
                     }),
          green(context.get_executor(), {.protobuf = false, .clock = clock}),
          backup(context.get_executor(), {.clock = clock}) {
        router->servers["green"] = green.connector();
    }
    ~World() {
        while (!programs_.empty()) stop(programs_.begin()->first);
        router->servers.clear();
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    using Simulation::clock;
    using Simulation::environment;

    sim::ApiServer& blue = server;
    sim::ApiServer green;   ///< in JSON
    sim::ApiServer backup;  ///< see restore_backup()
    const test::TemporaryDirectory directory;

    using Make = std::function<std::unique_ptr<Instance>(World&)>;
    /// Starts a program. Its name is the instance of its metrics.
    void start(const std::string& name, Make make) {
        programs_[name] = {make, make(*this)};
        settle();
    }
    void stop(const std::string& name) {
        programs_.at(name).instance->stop();
        settle();
        programs_.erase(name);
    }
    /// A new process of the same program, a minute later.
    void restart(const std::string& name) {
        const Make make = programs_.at(name).make;
        stop(name);
        after(1min, [this, name, make] { start(name, make); });
    }
    /// \param action  called once this time has passed
    void after(Duration time, std::function<void()> action) {
        later_.emplace(clock->now() + time, std::move(action));
    }
    std::map<std::string, std::string> scrape() {
        std::map<std::string, std::string> texts;
        for (auto& [name, program] : programs_) texts[name] = program.instance->metrics();
        return texts;
    }

    /// "green" becomes a server with the same pods, whose versions begin anew.
    void restore_backup() {
        for (auto& pod : green.list("pods")) backup.apply(std::move(pod));
        router->servers["green"] = backup.connector();
        green.disconnect_all();
    }

    /// Runs all that is ready in each program, and in the servers.
    void settle() {
        bool ran = true;
        while (ran) {
            ran = Simulation::settle() > 0;
            for (auto& [name, program] : programs_)
                ran = clock->advance(program.instance->context, {}) > 0 || ran;
        }
    }
    void advance(Duration time) {
        const TimePoint end = clock->now() + time;
        while (!later_.empty() && later_.begin()->first <= end) {
            const auto next = later_.extract(later_.begin());
            advance_to(next.key());
            next.mapped()();
        }
        advance_to(end);
    }

 private:
    struct Program {
        Make make;
        std::unique_ptr<Instance> instance;
    };
    void advance_to(TimePoint end) {
        settle();
        for (TimePoint next = clock->next_expiry(); next <= end; next = clock->next_expiry()) {
            clock->advance(std::max(next - clock->now(), Duration{}));
            settle();
        }
        clock->advance(end - clock->now());
        settle();
    }

    std::map<std::string, Program> programs_;
    std::multimap<TimePoint, std::function<void()>> later_;
};

inline Instance::Instance(World& world, const ServerLimits& limits) : world_(world) {
    Environment own = world.environment();
    own.metrics = std::make_shared<Metrics>();
    own.limits = limits;
    install(context, std::move(own));
}

}  // namespace k8s_sd::monitoring
