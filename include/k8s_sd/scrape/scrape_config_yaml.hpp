#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// One entry of `scrape_configs`.
struct ScrapeJob {
    ScrapeConfig scrape;  ///< what becomes of the targets
    Job discovery;        ///< where they come from; of the same name
    auto operator<=>(const ScrapeJob&) const = default;
};

/// Something in a file that k8s_sd has no use for, and has ignored.
struct ConfigNote {
    std::string where;  ///< "file:line: key"
    std::string text;   ///< what is ignored, and why
    auto operator<=>(const ConfigNote&) const = default;
};

/// What a configuration file of Prometheus or vmagent says about Kubernetes discovery, relabelling
/// and targets.
struct K8S_SD_EXPORT ScrapeConfigFile {
    std::vector<ScrapeJob> jobs;    ///< in the order of the file
    std::vector<ConfigNote> notes;  ///< what was ignored
    auto operator<=>(const ScrapeConfigFile&) const = default;

    /// For DiscoveryManager::apply_config().
    std::vector<Job> discovery_jobs() const;
};

/// How to read a configuration file.
struct ScrapeConfigOptions {
    LabelDialect dialect = LabelDialect::prometheus;  ///< whose file it is
    /// Also what Prometheus and vmagent know and k8s_sd has no use for is an error.
    bool strict = false;
};

/// Reads a configuration file: `global` and `scrape_configs`, with their defaults. What else the
/// two programs know is ignored with a note; what none of them knows is an error. Relative paths
/// are relative to the directory of `file_name`. docs/scrape-configs.md lists all keys.
/// Thread-safe.
/// \throws ConfigError where "file:line: key"
K8S_SD_EXPORT ScrapeConfigFile parse_scrape_configs(std::string_view yaml,
                                                    const ScrapeConfigOptions& = {},
                                                    const std::string& file_name = "<yaml>");

/// Reads the file, which must not exceed 4 MiB; blocks. See parse_scrape_configs().
/// \throws ConfigError also where the file cannot be read
K8S_SD_EXPORT ScrapeConfigFile load_scrape_configs(const std::string& path,
                                                   const ScrapeConfigOptions& = {});

}  // namespace k8s_sd::inline v0
