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

/// All jobs of a configuration: discovers, and gives each job its share. Its functions are for one
/// strand; the jobs work on strands of their own.
class ScrapeJobs {
 public:
    /// \param strand   of the caller
    /// \param workers  whose threads work on the jobs
    ScrapeJobs(boost::asio::any_io_executor strand, boost::asio::any_io_executor workers,
               const Options&, k8s_sd::FleetShare, JobEvents);

    /// Makes these the jobs; what is not touched goes on. Says what cannot be used.
    void apply(const k8s_sd::ScrapeConfigFile&);
    /// What this program owns from now on.
    void share(const k8s_sd::FleetShare&);
    /// Prints what there is now, a line for each job, and one for each target that is down.
    /// \param then  called afterwards, on the strand
    void report(std::function<void()> then) const;
    /// What the rules of each job do to the first target there is.
    void explain() const;
    /// Whether every configuration of every job has been listed, as far as this member discovers
    /// it.
    bool complete(const k8s_sd::FleetStatus&) const;
    /// Ends everything, so that the executors have nothing left to do.
    void stop();

 private:
    struct Entry {
        std::shared_ptr<ScrapeJob> job;
        k8s_sd::ScrapeConfig config;
        bool wanted = true;  ///< is in the configuration
        bool begun = false;  ///< has had its first diff, and not yet its last one
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
