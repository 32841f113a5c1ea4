#pragma once

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "program.hpp"
#include "programs/k8s-sd/client.hpp"
#include "support/held_executor.hpp"
#include "world.hpp"

#include <boost/asio/detached.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::monitoring {

/// k8s-sd with the file jobs.yml of the world.
class K8sSd final : public Instance {
 public:
    using Options = k8s_sd_program::Options;
    explicit K8sSd(World& world, Options options = {}, const ServerLimits& limits = {})
        : Instance(world, limits) {
        options.config_file = world.directory.path("jobs.yml");
        options.listen = "127.0.0.1:0";
        options.one_question = true;  // prints no address
        options.serve.clock = world.clock;
        options.file_worker = context.get_executor();
        options.server.api_server.url = "https://blue";
        program_.emplace(context, std::move(options));
    }

    std::string metrics() override {
        std::string text;
        k8s_sd_program::test::ask(program_->routes(), {.url = "/metrics"},
                                  [&](const auto& answer) { text = answer.body; });
        world_.settle();
        return text;
    }
    void stop() override { program_->stop("the test ends"); }

 private:
    std::optional<k8s_sd_program::Program> program_;
};

/// A program of a fleet; its members are the endpoints of the service "agents" of a cluster.
class FleetMember final : public Instance {
 public:
    FleetMember(World& world, const std::string& name, const std::string& cluster)
        : Instance(world),
          membership_(context.get_executor(), config(name, cluster), [](auto&) {}) {
        membership_.async_run(asio::detached);
        membership_.set_synced();
    }
    void stop() override { membership_.cancel(); }

 private:
    MembershipConfig config(const std::string& name, const std::string& cluster) {
        WatcherConfig where;
        where.api_server.url = "https://" + cluster;
        where.namespaces = {"monitoring"};
        return {.source = service_members(context.get_executor(), "agents", where), .self = name};
    }

    Membership membership_;
};

/// A program of one's own. Its thread for callbacks is busy with other work for some time.
class BusyHost final : public Instance {
 public:
    /// \param busy  this time; may change
    BusyHost(World& world, std::shared_ptr<const Duration> busy)
        : Instance(world),
          busy_(std::move(busy)),
          executor_(context),
          timer_(world.clock->make_timer(context.get_executor())),
          discoverer_(executor_, config(), [](const TargetGroupDiff&) {}) {
        discoverer_.async_run(asio::detached);
        work();
    }
    void stop() override {
        timer_->cancel();
        discoverer_.cancel();
        executor_.let_go();
    }

 private:
    static DiscoveryConfig config() {
        DiscoveryConfig config;
        config.api_server.url = "https://blue";
        return config;
    }
    void work() {
        executor_.release();
        timer_->expires_at(world_.clock->now() + *busy_, [this] { work(); });
    }

    const std::shared_ptr<const Duration> busy_;
    const test::HeldExecutor executor_;
    const std::unique_ptr<Timer> timer_;
    Discoverer discoverer_;
};

}  // namespace k8s_sd::monitoring
