#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "scrape_loop.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace scraper {

/// All jobs of a configuration: discovers, keeps a pool of targets for each, scrapes them. For one
/// thread.
class ScrapeJobs {
 public:
    using Print = std::function<void(const std::string& line)>;

    ScrapeJobs(boost::asio::any_io_executor, k8s_sd::Sharding, Print,
               std::function<void()> on_scrape);
    ~ScrapeJobs();

    /// Makes these the jobs; what is not touched goes on. Says what cannot be used.
    void apply(const k8s_sd::ScrapeConfigFile&);
    /// What there is now, a line for each job, and one for each target that is down.
    void report() const;
    /// What the rules of each job do to the first target there is.
    void explain() const;
    /// Whether every configuration of every job has been listed.
    bool complete() const;
    /// Ends everything, so that the executor has nothing left to do.
    void stop();

 private:
    class ScrapeJob;

    void on_diff(const k8s_sd::JobDiff&);

    boost::asio::any_io_executor executor_;
    k8s_sd::Sharding sharding_;
    Print print_;
    std::function<void()> on_scrape_;
    std::map<std::string, std::unique_ptr<ScrapeJob>, std::less<>> jobs_;
    k8s_sd::DiscoveryManager manager_;
};

}  // namespace scraper
