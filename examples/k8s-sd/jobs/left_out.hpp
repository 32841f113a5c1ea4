#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The jobs that a configuration has but that cannot be served because of a mistake. They are not
/// removed: agents keep their targets.
class LeftOut {
 public:
    LeftOut() = default;
    explicit LeftOut(const std::vector<k8s_sd::ScrapeConfigFailure>&);

    bool empty() const noexcept { return jobs_.empty() && unnamed_.empty(); }
    /// In words, why the job is left out; nullopt: the configuration has no such job. A mistake
    /// that hides the name of a job may hide any name.
    /// \param job  that the configuration does not have without a mistake
    std::optional<std::string> why(std::string_view job) const;
    /// In words, a line for each mistake.
    std::string lines() const;

 private:
    std::map<std::string, std::string, std::less<>> jobs_;  ///< by name: the mistakes
    std::string unnamed_;                                   ///< mistakes without a job's name
};

}  // namespace bridge
