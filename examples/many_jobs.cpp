// Many named jobs on one DiscoveryManager with changes of the configuration at run time: each step
// applies another configuration and shows the diffs of each job and their cost.
//
//     many_jobs [OPTION]... [URL]      without a server: a simulated cluster

#include "cli/cluster.hpp"
#include "cli/option_values.hpp"
#include "cli/server_options.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_groups.hpp"
#include "support/shop_jobs.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;

struct Options {
    k8s_sd::DiscoveryConfig server;
    support::Shop shop;
    unsigned steps = 0;
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
    std::chrono::nanoseconds timeout{};
};

class Host {
 public:
    Host(asio::io_context& io, const Options& options, cli::Cluster& cluster)
        : options_(options),
          cluster_(cluster),
          steps_(support::shop_steps(cluster.config(), options.shop)),
          metrics_(k8s_sd::metrics_of(io)),
          signals_(io, SIGINT, SIGTERM),
          step_timer_(io),
          end_timer_(io),
          manager_(io.get_executor(), [this](const k8s_sd::JobDiff& diff) { on_diff(diff); }) {
        if (options.steps > 0 && options.steps < steps_.size()) steps_.resize(options.steps);
    }

    void start() {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) end();
        });
        if (options_.timeout.count() > 0) call_after(end_timer_, options_.timeout, &Host::end);
        manager_.async_run([](k8s_sd::error_code ec) {
            std::cout << "discovery ended: " << ec.message() << std::endl;
        });
        next_step();
    }

 private:
    void next_step() {
        if (const std::string job = not_listed(); !job.empty()) {
            std::cout << "  not listed yet: " << job << std::endl;
        } else {
            if (step_ > 0) show_costs();
            if (step_ == steps_.size()) return options_.steps > 0 ? end() : void();
            apply(steps_[step_++]);
        }
        call_after(step_timer_, options_.interval, &Host::next_step);
    }

    void call_after(asio::steady_timer& timer, std::chrono::nanoseconds time,
                    void (Host::*call)()) {
        timer.expires_after(time);
        timer.async_wait([this, call](boost::system::error_code ec) {
            if (!ec) (this->*call)();
        });
    }

    void apply(const support::Step& step) {
        std::cout << "step " << step_ << ": " << step.what << std::endl;
        for (const k8s_sd::ConfigFailure& failure : manager_.apply_config(step.jobs)) {
            std::cout << "  " << failure.job << ": configuration " << failure.config
                      << " cannot be used: " << failure.message << std::endl;
        }
    }

    /// The first job with a usable configuration that has not been listed; "" if there is none.
    std::string not_listed() const {
        for (const k8s_sd::JobStatus& job : manager_.status()) {
            for (const k8s_sd::JobConfigStatus& config : job.configs) {
                if (!config.provider || config.status.synced) continue;
                return job.name + (config.status.error ? ": " + config.status.message : "");
            }
        }
        return {};
    }

    void on_diff(const k8s_sd::JobDiff& diff) {
        auto& job = jobs_[std::string(diff.job)];
        std::size_t updated = 0;
        std::size_t removed = 0;
        for (const k8s_sd::ProviderDiff& provider : diff.providers) {
            // Two providers can have groups of the same source, so each has its own state.
            job[provider.provider].apply(provider.diff);
            if (provider.last) job.erase(provider.provider);
            updated += provider.diff.updated.size();
            removed += provider.diff.removed.size();
        }
        std::size_t targets = 0;
        for (const auto& [provider, groups] : job) targets += groups.target_count();
        std::cout << "  " << diff.job << (diff.full ? ", first diff" : "")
                  << (diff.last ? ", last diff" : "") << ": " << updated
                  << " groups added or changed, " << removed << " removed; " << targets
                  << " targets" << std::endl;
        if (diff.last) jobs_.erase(std::string(diff.job));
    }

    void show_costs() {
        std::uint64_t lists = 0;
        for (const auto& kind : metrics_->kinds) lists += kind.lists;
        std::cout << "  (" << lists - lists_ << " new lists; " << metrics_->jobs << " jobs; "
                  << metrics_->providers << " configurations run, " << metrics_->failed_configs
                  << " cannot be used)" << std::endl;
        lists_ = lists;
    }

    // Ends all pending operations, so io_context::run() returns by itself.
    void end() {
        signals_.cancel();
        step_timer_.cancel();
        end_timer_.cancel();
        manager_.cancel();
        cluster_.stop();
    }

    const Options& options_;
    cli::Cluster& cluster_;
    std::vector<support::Step> steps_;
    std::size_t step_ = 0;
    std::uint64_t lists_ = 0;
    std::map<std::string, std::map<k8s_sd::ProviderId, k8s_sd::TargetGroups>> jobs_;
    std::shared_ptr<k8s_sd::Metrics> metrics_;
    asio::signal_set signals_;
    asio::steady_timer step_timer_;
    asio::steady_timer end_timer_;
    k8s_sd::DiscoveryManager manager_;
};

cli::ExitStatus run(const Options& options) {
    asio::io_context io;
    cli::Cluster cluster(io.get_executor(), options.server);
    cluster.start_changes(std::chrono::milliseconds(400));
    Host host(io, options, cluster);
    host.start();
    io.run();
    return cli::exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    const cli::CommandLine command{
        .program = "many_jobs",
        .about = "Changes the configuration of many discovery jobs step by step and prints the "
                 "diffs of each job.\n",
        .sections = {cli::server_options(options.server, "a simulated cluster in this process"),
                     cli::credential_options(options.server),
                     support::shop_options(options.shop),
                     {"Run",
                      {{"--steps", "N", "end after N configurations; default: follow the last one",
                        [&](const auto& value) { options.steps = cli::count(value); }},
                       {"--interval", "SECONDS",
                        "least time between two configurations (default 1)",
                        [&](const auto& value) { options.interval = cli::seconds(value); }},
                       {"--timeout", "SECONDS", "end after this time",
                        [&](const auto& value) { options.timeout = cli::seconds(value); }}}}},
        .positional = cli::url_of_cluster(options.server)};
    return cli::run_program(command, argc, argv, [&] { return run(options); });
}
