#include "follow.hpp"

#include "cli/cluster.hpp"
#include "cli/signals.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/target_filter.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monitors {

namespace {

namespace asio = boost::asio;

/// Stands for a scraper.
class Printer final : public k8s_sd::TargetHandler {
 public:
    explicit Printer(std::string job) : job_(std::move(job)) {}
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target,
              k8s_sd::StopReason) noexcept override {
        std::cout << "- " << job_ << " " << target->url() << std::endl;
    }
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target) noexcept override {
        std::cout << "+ " << job_ << " " << target->url() << std::endl;
    }

 private:
    std::string job_;
};

struct Job {
    Job(const std::string& name, std::shared_ptr<const k8s_sd::ScrapeConfig> config)
        : printer(name), pool(std::move(config), printer) {}
    Printer printer;
    k8s_sd::TargetPool pool;
    std::set<k8s_sd::ProviderId> listed{};  ///< providers with targets, or without any
};

class Scraper {
 public:
    Scraper(asio::io_context& io, k8s_sd::MonitorSourceConfig config, bool once)
        : once_(once),
          manager_(io.get_executor(), [this](const k8s_sd::JobDiff& diff) { on_targets(diff); }),
          source_(io.get_executor(), config,
                  [this](const k8s_sd::MonitorDiff& diff) { on_jobs(diff); }),
          signals_(io.get_executor()) {
        manager_.async_run(asio::detached);
        source_.async_run(asio::detached);
        signals_.wait([this](int) { end(); });
    }

    std::function<void()> on_end;

 private:
    void on_jobs(const k8s_sd::MonitorDiff& diff) {
        std::vector<k8s_sd::Job> discovery;
        for (const k8s_sd::MonitorJobPtr& made : diff.updated) {
            discovery.push_back(k8s_sd::filtered_discovery(*made->job));
        }
        for (const k8s_sd::ConfigFailure& failure : manager_.change_jobs(discovery, diff.removed)) {
            std::cout << "# " << failure.job << " is unusable: " << failure.message << std::endl;
        }
        for (const k8s_sd::MonitorJobPtr& made : diff.updated) {
            // A copy: the pool keeps an equal one, but not the former secrets of the job.
            const auto config = std::make_shared<const k8s_sd::ScrapeConfig>(made->job->scrape);
            auto& job = jobs_[made->origin];
            if (!job) job = std::make_unique<Job>(made->origin, config);
            job->pool.reload(config, {}, manager_.providers(made->origin));
        }
        for (const k8s_sd::MonitorObjectStatus& object : source_.objects()) {
            if (object.state != k8s_sd::MonitorState::refused) continue;
            std::cout << "# " << to_string(object.kind) << " " << object.object_namespace << "/"
                      << object.name << " is refused: " << object.why.reason << std::endl;
        }
        is_known_ = true;
        end_if_complete();
    }

    void on_targets(const k8s_sd::JobDiff& diff) {
        const auto job = jobs_.find(diff.job);
        if (job == jobs_.end()) return;
        job->second->pool.apply(diff);
        for (const k8s_sd::ProviderDiff& provider : diff.providers) {
            job->second->listed.insert(provider.provider);
        }
        if (diff.last) jobs_.erase(job);
        end_if_complete();
    }

    void end_if_complete() {
        if (!once_ || !is_known_) return;
        for (const auto& [name, job] : jobs_) {
            for (const k8s_sd::ProviderId provider : manager_.providers(name)) {
                if (!job->listed.contains(provider)) return;
            }
        }
        std::cout << jobs_.size() << " jobs" << std::endl;
        end();
    }

    void end() {
        source_.cancel();
        manager_.cancel();
        signals_.cancel();
        if (on_end) on_end();
    }

    const bool once_;
    bool is_known_ = false;
    std::map<std::string, std::unique_ptr<Job>> jobs_;
    k8s_sd::DiscoveryManager manager_;
    k8s_sd::MonitorSource source_;
    cli::Signals signals_;
};

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw cli::Unusable(path + ": cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

k8s_sd::MonitorOwnerInput owner_of(const ClusterOptions& options) {
    if (!options.owner_file.empty()) {
        return k8s_sd::parse_monitor_owner(text_of(options.owner_file), options.owner_file);
    }
    if (!options.owner.empty()) {
        const std::size_t last = options.owner.rfind('/');
        const std::size_t first = options.owner.find('/');
        if (last == options.owner.npos) {
            throw cli::UsageError("--owner: must be [KIND/]NAMESPACE/NAME");
        }
        const bool has_kind = first != last;
        const std::size_t begin = has_kind ? first + 1 : 0;
        const std::string kind = has_kind ? options.owner.substr(0, first) : "Prometheus";
        k8s_sd::MonitorOwnerObject object{options.owner.substr(begin, last - begin),
                                          options.owner.substr(last + 1)};
        for (const k8s_sd::MonitorOwnerKind known : k8s_sd::monitor_owner_kinds) {
            if (kind != to_string(known)) continue;
            object.kind = known;
            return object;
        }
        throw cli::UsageError(
            "--owner: KIND must be Prometheus, PrometheusAgent, VMAgent or VMSingle");
    }
    k8s_sd::MonitorOwner all;
    all.owner_namespace = "default";
    all.endpoint_slice_role = true;
    for (k8s_sd::MonitorSelection& selection : all.selections) {
        selection.objects.emplace();
        selection.namespaces.emplace();
    }
    return all;
}

void follow(const ClusterOptions& options) {
    asio::io_context io(1);
    cli::Cluster cluster(io.get_executor(), options.server);
    k8s_sd::MonitorSourceConfig config;
    config.api_server = cluster.server();
    config.owner = owner_of(options);
    config.shard = 0;  // the only one
    // The only output must be complete, on a busy machine, too.
    if (options.once) config.sync_timeout = config.reference_timeout = std::chrono::minutes(1);
    Scraper scraper(io, config, options.once);
    scraper.on_end = [&] { cluster.stop(); };
    if (!options.once) cluster.start_changes(std::chrono::seconds(1));
    io.run();
}

}  // namespace monitors
