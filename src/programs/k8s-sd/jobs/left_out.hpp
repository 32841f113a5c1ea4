#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// Jobs of the configuration left out because of a mistake. They are not treated as removed: agents
/// keep their targets.
class LeftOut {
 public:
    LeftOut() = default;
    explicit LeftOut(const std::vector<k8s_sd::ScrapeConfigFailure>&);

    bool empty() const noexcept { return jobs_.empty() && unnamed_.empty(); }
    std::set<std::string> names() const;
    /// Why the job is left out, in words; nullopt: the configuration has no such job. A mistake
    /// without a job's name may belong to any job.
    /// \param job  not among the valid jobs of the configuration
    std::optional<std::string> why(std::string_view job) const;
    /// The mistakes, one a line.
    std::string lines() const;

 private:
    std::map<std::string, std::string, std::less<>> jobs_;  ///< by name: the mistakes
    std::string unnamed_;                                   ///< mistakes without the name of a job
};

}  // namespace k8s_sd_program
