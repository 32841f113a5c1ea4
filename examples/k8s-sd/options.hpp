#pragma once

#include "access/access.hpp"
#include "collectors/allocator.hpp"
#include "jobs/served_job.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "support/command_line.hpp"
#include "support/http_server.hpp"
#include "support/tls_files.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace bridge {

/// What the command line asks for.
struct Options {
    bool sim = false;
    k8s_sd::DiscoveryConfig server;  ///< names the one of configurations that name none
    std::string config_file;
    bool strict = false;
    bool check = false;  ///< the file, instead of serving it
    bool ready_with_left_out_jobs = false;
    bool log_times = true;
    k8s_sd::LabelDialect dialect = k8s_sd::LabelDialect::prometheus;
    std::chrono::nanoseconds check_interval = std::chrono::seconds(5);
    k8s_sd::DiscoveryConfig discovery;  ///< of the single job that options describe
    bool single_job = false;            ///< they do
    std::string job_name;               ///< of it; empty: its role
    std::string listen;                 ///< empty: see listen_endpoint()
    support::HttpLimits http;
    support::TlsFiles tls;
    AccessOptions access;
    ServeOptions serve;
    AllocatorOptions allocator;
    std::string page_directory;  ///< empty: the page of the program
    std::string write_folder;    ///< for a file of each job; empty: none
    std::optional<ListForm> write_form;
    boost::asio::any_io_executor file_worker{};  ///< writes them; empty: a thread of the program
    unsigned threads = 1;
};

/// The options of the program, which set these.
support::CommandLine command_line(Options&);

/// How to read the file of the configuration.
k8s_sd::ScrapeConfigOptions scrape_config_options(const Options&);

/// A file without a list of jobs may be cut: that there are none must be said.
/// \throws k8s_sd::ConfigError
void check_lists_jobs(const k8s_sd::ScrapeConfigFile&, const std::string& path);

/// Refuses what is not enough, and what does not go together. \throws support::UsageError
void check(const Options&);

}  // namespace bridge
