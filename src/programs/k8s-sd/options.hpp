#pragma once

#include "access/access.hpp"
#include "cli/cluster_options.hpp"
#include "cli/command_line.hpp"
#include "cli/event_log.hpp"
#include "cli/profile_options.hpp"
#include "cli/recording.hpp"
#include "cli/service_manager.hpp"
#include "collectors/target_allocator.hpp"
#include "http/http_server.hpp"
#include "http/tls_files.hpp"
#include "jobs/served_job.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "monitors/monitors_config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace k8s_sd_program {

/// The options of the command line.
struct Options {
    bool sim = false;
    k8s_sd::DiscoveryConfig server;  ///< the server of configurations without one
    cli::ClusterOptions clusters;
    cli::ProfileOptions profiles;  ///< with clusters.profiles
    std::string config_file;
    bool strict = false;
    bool check = false;  ///< check the file instead of serving it
    bool ready_with_left_out_jobs = false;
    cli::LogOptions log;
    cli::RecordOptions record;
    k8s_sd::LabelDialect dialect = k8s_sd::LabelDialect::prometheus;
    k8s_sd::PrometheusVersion prometheus_version = k8s_sd::PrometheusVersion::v3_5;
    std::chrono::nanoseconds check_interval = std::chrono::seconds(5);
    k8s_sd::DiscoveryConfig discovery;  ///< of the single job
    bool single_job = false;            ///< some option describes a single job
    std::string job_name;               ///< of the single job; empty: its role
    std::string listen;                 ///< empty: see listen_endpoint()
    /// For a single question: the address is not printed, and a simulated cluster does not change.
    bool one_question = false;
    http::HttpLimits http;
    http::TlsFiles tls;
    AccessOptions access;
    ServeOptions serve;
    TargetAllocatorOptions allocator;
    MonitorsOptions monitors;
    std::string page_directory;  ///< empty: the built-in page
    std::string write_folder;    ///< for one file a job; empty: none
    std::optional<ListForm> write_form;
    boost::asio::any_io_executor file_worker{};  ///< for files; empty: a thread of the program
    cli::ServiceManager::Address service_manager{};
    unsigned threads = 1;
};

/// The command line of the program; it sets these options.
cli::CommandLine command_line(Options&);

/// How to read the configuration file.
k8s_sd::ScrapeConfigOptions scrape_config_options(const Options&);

/// A file without a list of jobs may be truncated: an empty list must be explicit.
/// \throws k8s_sd::ConfigError
void check_lists_jobs(const k8s_sd::ScrapeConfigFile&, const std::string& path);

/// Refuses incomplete or conflicting options. \throws cli::UsageError
void check(const Options&);

}  // namespace k8s_sd_program
