#pragma once

#include "access/guard.hpp"
#include "cli/cluster.hpp"
#include "cli/event_log.hpp"
#include "cli/line_writer.hpp"
#include "cli/service_manager.hpp"
#include "cli/signals.hpp"
#include "clusters/profile_clusters.hpp"
#include "collectors/allocation_count.hpp"
#include "collectors/target_allocator.hpp"
#include "files/list_files.hpp"
#include "http/http_server.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/time.hpp"
#include "monitors/idle_monitors.hpp"
#include "monitors/monitor_jobs.hpp"
#include "options.hpp"
#include "routes.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// The program: follows its configuration, serves its jobs, and ends on request. Everything but the
/// jobs runs on one strand.
class Program {
 public:
    /// \throws cli::Unusable, k8s_sd::ConfigError, std::runtime_error if it cannot listen
    Program(boost::asio::io_context&, Options);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// All routes. On its strand.
    const http::HttpRoutes& routes() const noexcept { return routes_; }
    /// Whether the jobs are known: until then the routes have none. On its strand.
    bool is_configured() const noexcept { return configured_; }
    /// Whether stop() was called, by the host or by a signal.
    bool is_ended() const noexcept { return ended_; }
    /// Like SIGTERM: cancels everything, so that the context runs out of work. On its strand.
    /// \param why  for the log
    void stop(const std::string& why);

 private:
    void start();
    void find_cluster();
    /// Adds the servers of the options to configurations without one: a configuration for each.
    /// \return whether there were such configurations
    bool add_servers(k8s_sd::SharedList<k8s_sd::DiscoveryConfig>&,
                     std::vector<std::string>& notes) const;
    k8s_sd::ScrapeConfigFile fixed_config() const;
    void follow_config();
    void on_update(const k8s_sd::ScrapeConfigUpdate&);
    void refuse(const k8s_sd::ConfigError&, std::uint64_t checks);
    void stay(const k8s_sd::ConfigError&);
    /// \param removed  previous jobs missing in the file
    void use(k8s_sd::ScrapeConfigFile, const std::vector<std::string>& removed = {});
    /// Makes it the file in use, with the present servers.
    void take(k8s_sd::ScrapeConfigFile);
    void apply();
    void on_clusters(const k8s_sd::InventoryDiff&, const std::vector<std::string>& problems);
    void use_servers(std::vector<k8s_sd::DiscoveryConfig>, bool more_follow);
    void log_job_changes();
    std::vector<k8s_sd::ServerHealth> servers() const;
    void on_monitors(const k8s_sd::MonitorDiff&);
    void follow_jobs_later();
    void log_new(const std::vector<std::string>& problems);
    void log_more(const std::vector<std::string>& problems);
    void log_changes(const std::vector<std::string>& removed);
    const boost::asio::any_io_executor& file_worker();
    void warn(cli::Event, const std::string& text) const;
    std::function<void(const std::string&)> warning_writer(cli::Event) const;
    void report_notes(const k8s_sd::ScrapeConfigFile&, std::vector<std::string> more);
    RouteEvents route_events();
    void reload(const http::HttpServer::Respond&);
    void answer_reloads(const http::HttpServer::Reply&, std::uint64_t checks);
    void reload_on_signal();
    std::string status_line() const;

    Options options_;
    std::vector<k8s_sd::DiscoveryConfig> servers_;  ///< of configurations without one
    boost::asio::any_io_executor executor_;
    boost::asio::any_io_executor strand_;
    const cli::EventLog log_;
    cli::LineWriter out_;
    ServeMetrics metrics_;
    cli::ServiceManager service_manager_;
    cli::Signals signals_;
    const boost::asio::ip::tcp::endpoint listen_;
    Guard guard_;
    std::optional<cli::Cluster> cluster_;  ///< simulated
    ProfileClusters profiles_;
    MonitorJobs monitors_;
    IdleMonitors idle_monitors_;
    const std::unique_ptr<k8s_sd::Timer> follow_timer_;  ///< for lists of all jobs
    bool follows_jobs_later_ = false;
    ServedJobs jobs_;
    TargetAllocator allocator_;
    const std::shared_ptr<AllocationCount> allocation_count_;
    const std::shared_ptr<SlowWork> slow_;
    std::optional<boost::asio::thread_pool> file_worker_;  ///< the disk may block it
    std::optional<ListFiles> files_;
    const http::HttpRoutes routes_;
    std::shared_ptr<http::HttpServer> server_;
    std::optional<k8s_sd::ScrapeConfigReloader> reloader_;
    /// Pending reload requests, by the numbers of ScrapeConfigReloader::check().
    std::map<std::uint64_t, http::HttpServer::Respond> reloads_;
    k8s_sd::ScrapeConfigFile file_;   ///< in use
    k8s_sd::ScrapeConfigFile read_;   ///< the same without servers of ClusterProfiles, if wanted
    UnusableClusters unusable_;       ///< among those of ClusterProfiles
    std::set<std::string> problems_;  ///< since the last apply(), already logged
    std::string trouble_;             ///< with the configuration, a line each
    std::set<std::string> notes_;     ///< notes on the configuration already logged
    bool configured_ = false;
    bool ended_ = false;
};

}  // namespace k8s_sd_program
