#pragma once

#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// The jobs in the format for collectors: a JSON object by job name, each with the members of an
/// entry of Prometheus' `scrape_configs`, without discovery: a collector adds its own.
/// \param show_secrets  false: secrets are replaced by "<secret>"
/// \param problems      in words: jobs left out because only vmagent could scrape them, and keys
///                      left out because they are unknown to Prometheus or may be secret
std::string collector_configs(const k8s_sd::ScrapeConfigFile&, bool show_secrets,
                              std::vector<std::string>& problems);

/// The configurations of jobs of monitors, in the same format. Each is made once.
class MonitorConfigs {
 public:
    /// One job; empty texts: it is not for collectors.
    struct Texts {
        std::shared_ptr<const k8s_sd::ScrapeJob> job{};
        std::string masked{};  ///< with "<secret>" in place of secrets
        std::string unmasked{};
    };
    /// Replaces the jobs. \returns the new ones left out, in words
    std::vector<std::string> set(const std::vector<k8s_sd::MonitorJobPtr>&);
    /// By the name of the job.
    const std::map<std::string, Texts>& all() const noexcept { return texts_; }

 private:
    std::map<std::string, Texts> texts_;
};

/// collector_configs() of all jobs; those of the file have precedence.
std::string collector_configs(const k8s_sd::ScrapeConfigFile&, const MonitorConfigs&,
                              bool show_secrets, std::vector<std::string>& problems);

}  // namespace k8s_sd_program
