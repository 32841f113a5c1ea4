#pragma once

#include "job_parts.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "options.hpp"
#include "scrape_job.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace scraper {

/// All jobs of a configuration: runs the discovery, and passes each job its diffs. Its functions
/// are for one strand; the jobs run on strands of their own.
class ScrapeJobs {
 public:
    /// \param strand   strand of the caller
    /// \param workers  executor of the jobs' strands
    ScrapeJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
               const Options&, k8s_sd::FleetShare, JobEvents);

    /// Replaces the jobs; unchanged ones continue. Reports unusable configurations.
    void apply(const k8s_sd::ScrapeConfigFile&);
    /// Sets the share of this program.
    void share(const k8s_sd::FleetShare&);
    /// Prints the state, with a line for each job and one for each target that is down.
    /// \param then  called afterwards, on the strand
    void report(std::function<void()> then) const;
    /// Prints the effect of each job's rules on its first target.
    void explain() const;
    /// Whether every configuration of every job has been listed, as far as this member discovers
    /// it.
    bool complete(const k8s_sd::FleetStatus&) const;
    /// Stops all jobs, so the executors have no work left.
    void stop();

 private:
    struct Entry {
        std::shared_ptr<ScrapeJob> job;
        k8s_sd::ScrapeConfig config;
        bool wanted = true;  ///< whether the configuration has it
        bool begun = false;  ///< between its first and its last diff
    };

    void discover();
    void on_diff(k8s_sd::JobDiff);
    void report_configs() const;

    boost::asio::any_io_executor strand_;
    boost::asio::any_io_executor workers_;
    const k8s_sd::Sharding sharding_;
    const Unconfirmed unconfirmed_;
    k8s_sd::FleetShare share_;
    JobEvents events_;
    JobParts parts_;
    std::map<std::string, Entry, std::less<>> jobs_;
    k8s_sd::DiscoveryManager manager_;
};

}  // namespace scraper
