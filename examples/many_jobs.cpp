// Many named jobs on one DiscoveryManager, whose configuration is changed while it runs: each step
// applies another one and shows what every job is told, and what that cost.
//
//     many_jobs [--steps N] [--interval SECONDS] [--timeout SECONDS] [URL]
//
// without URL: a simulated cluster

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_groups.hpp"
#include "support/simulated_cluster.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using Seconds = std::chrono::duration<double>;

constexpr const char* usage =
    "usage: many_jobs [--steps N] [--interval SECONDS] [--timeout SECONDS] [URL]\n"
    "\n"
    "Changes the configuration of many discovery jobs step by step and prints what each job is\n"
    "told. Without URL it starts a simulated cluster.\n"
    "\n"
    "  --steps N           end after N configurations; otherwise follow the last one\n"
    "  --interval SECONDS  time between two configurations, if the first has been listed (1)\n"
    "  --timeout SECONDS   end after this time\n"
    "  --help              show this text\n";

struct Options {
    std::string url;  ///< empty: a simulated cluster
    std::size_t steps = 0;
    Seconds interval{1};
    Seconds timeout{0};
};

/// A number from 0 to a million; nullopt if the text is something else.
std::optional<double> number(const char* text) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1e6)) return std::nullopt;
    return value;
}

/// nullopt if that cannot be understood.
std::optional<Options> parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with('-')) {
            if (!options.url.empty()) return std::nullopt;
            options.url = argument;
            continue;
        }
        const auto value = ++i < argc ? number(argv[i]) : std::nullopt;
        if (!value) return std::nullopt;
        if (argument == "--steps") {
            options.steps = static_cast<std::size_t>(*value);
        } else if (argument == "--interval") {
            options.interval = Seconds(*value);
        } else if (argument == "--timeout") {
            options.timeout = Seconds(*value);
        } else {
            return std::nullopt;
        }
    }
    return options;
}

struct Step {
    std::string what;
    std::vector<k8s_sd::Job> jobs;
};

/// What happens to a configuration in the course of time.
std::vector<Step> steps(const std::string& url) {
    using k8s_sd::Role;
    const auto config_for = [&](Role role, const std::string& ns) {
        k8s_sd::DiscoveryConfig config;
        config.role = role;
        config.api_server.url = url;
        config.namespaces = {ns};
        return config;
    };
    const auto shop = config_for(Role::pod, "shop");
    const auto payments = config_for(Role::pod, "payments");
    const auto slices = config_for(Role::endpointslice, "shop");
    auto selected = shop;
    selected.selectors = {{Role::pod, "app.kubernetes.io/name=cart", ""}};
    auto bad = shop;
    bad.selectors = {{Role::pod, "app.kubernetes.io/name==!cart", ""}};
    return {
        {"three jobs, two of them for the same pods",
         {{"shop", {shop}}, {"all", {shop, payments}}, {"slices", {slices}}}},
        {"rename shop to webshop: it keeps its targets",
         {{"webshop", {shop}}, {"all", {shop, payments}}, {"slices", {slices}}}},
        {"copy webshop to audit, which wants at most one diff in five seconds",
         {{"webshop", {shop}},
          {"audit", {shop}, std::chrono::seconds(5)},
          {"all", {shop, payments}},
          {"slices", {slices}}}},
        {"give webshop a selector: its old targets stay until the new ones are there",
         {{"webshop", {selected}}, {"audit", {shop}}, {"all", {shop, payments}}}},
        {"a selector that is wrong: webshop keeps what it has, the others do not care",
         {{"webshop", {bad}}, {"audit", {shop}}, {"all", {shop, payments}}}},
        {"mend it, and take the payments out of all",
         {{"webshop", {selected}}, {"audit", {shop}}, {"all", {shop}}}},
        {"remove all jobs but webshop", {{"webshop", {selected}}}},
    };
}

class Host {
 public:
    Host(asio::io_context& io, const Options& options, const std::string& url,
         std::function<void()> on_end)
        : options_(options),
          steps_(steps(url)),
          last_(options.steps > 0 ? std::min(options.steps, steps_.size()) : steps_.size()),
          metrics_(k8s_sd::metrics_of(io)),
          signals_(io, SIGINT, SIGTERM),
          step_timer_(io),
          end_timer_(io),
          on_end_(std::move(on_end)),
          manager_(io.get_executor(), [this](const k8s_sd::JobDiff& diff) { on_diff(diff); }) {}

    void start() {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) end();
        });
        if (options_.timeout > Seconds(0))
            call_after(end_timer_, options_.timeout, [this] { end(); });
        manager_.async_run([](k8s_sd::error_code ec) {
            std::cout << "discovery ended: " << ec.message() << std::endl;
        });
        next_step();
    }

 private:
    template <class Call>
    static void call_after(asio::steady_timer& timer, Seconds time, Call call) {
        timer.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(time));
        timer.async_wait([call](boost::system::error_code ec) {
            if (!ec) call();
        });
    }

    void next_step() {
        if (const std::string trouble = not_listed(); !trouble.empty()) {
            std::cout << "  not listed yet: " << trouble << std::endl;
            return call_after(step_timer_, options_.interval, [this] { next_step(); });
        }
        if (step_ > 0) show_costs();
        if (step_ == last_) {
            if (options_.steps > 0) end();
            return;
        }
        const Step& step = steps_[step_++];
        std::cout << "step " << step_ << ": " << step.what << std::endl;
        for (const auto& failure : manager_.apply_config(step.jobs)) {
            std::cout << "  " << failure.job << ": configuration " << failure.config
                      << " cannot be used: " << failure.message << std::endl;
        }
        call_after(step_timer_, options_.interval, [this] { next_step(); });
    }

    /// The first configuration that can be used but has not been listed; "" without one.
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
        for (const k8s_sd::ProviderDiff& part : diff.providers) {
            // Groups of one source can come from two providers, so each has its own state.
            job[part.provider].apply(part.diff);
            if (part.last) job.erase(part.provider);
            updated += part.diff.updated.size();
            removed += part.diff.removed.size();
        }
        std::size_t targets = 0;
        for (const auto& [provider, state] : job) targets += state.target_count();
        std::cout << "  " << diff.job << (diff.full ? ", first diff" : "")
                  << (diff.last ? ", last diff" : "") << ": " << updated
                  << " groups came or changed, " << removed << " went, " << targets
                  << " targets are there" << std::endl;
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

    // Everything that is outstanding ends, so that io_context::run() returns by itself.
    void end() {
        signals_.cancel();
        step_timer_.cancel();
        end_timer_.cancel();
        manager_.cancel();
        on_end_();
    }

    Options options_;
    std::vector<Step> steps_;
    std::size_t last_;
    std::size_t step_ = 0;
    std::uint64_t lists_ = 0;
    std::map<std::string, std::map<k8s_sd::ProviderId, k8s_sd::TargetGroups>> jobs_;
    std::shared_ptr<k8s_sd::Metrics> metrics_;
    asio::signal_set signals_;
    asio::steady_timer step_timer_;
    asio::steady_timer end_timer_;
    std::function<void()> on_end_;
    k8s_sd::DiscoveryManager manager_;
};

void run(const Options& options) {
    asio::io_context io;
    std::optional<SimulatedCluster> simulation;
    std::string url = options.url;
    if (url.empty()) {
        simulation.emplace(io.get_executor());
        simulation->start_changes(std::chrono::milliseconds(400));
        url = simulation->url();
    }
    Host host(io, options, url, [&] { simulation.reset(); });
    host.start();
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
        std::cout << usage;
        return 0;
    }
    const auto options = parse(argc, argv);
    if (!options) {
        std::cerr << usage;
        return 2;
    }
    try {
        run(*options);
    } catch (const std::exception& e) {
        std::cerr << "many_jobs: " << e.what() << '\n';
        return 1;
    }
}
