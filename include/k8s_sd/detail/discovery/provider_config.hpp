#pragma once

#include "k8s_sd/discovery_manager.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace k8s_sd::inline v0::detail {

using StaticConfigs = std::vector<StaticConfig>;

/// The configuration of one provider. The alternatives are in the order of TargetOrigin.
using ProviderConfig =
    std::variant<DiscoveryConfig, TargetSource, StaticConfigs, FileSdConfig, HttpSdConfig>;

inline TargetOrigin origin_of(const ProviderConfig& config) noexcept {
    return static_cast<TargetOrigin>(config.index());
}

/// A configuration and its index in its member of Job.
using NumberedConfig = std::pair<ProviderConfig, std::size_t>;

/// All configurations of a job, in the order of JobStatus::configs. Drops settings of the job from
/// them.
inline std::vector<NumberedConfig> provider_configs(const Job& job) {
    std::vector<NumberedConfig> all;
    const auto add = [&all](const auto& configs) {
        for (std::size_t i = 0; i < configs.size(); ++i) all.emplace_back(configs[i], i);
    };
    for (std::size_t i = 0; i < job.configs.size(); ++i) {
        DiscoveryConfig config = job.configs[i];
        // Keep negative intervals: validation rejects them later.
        config.min_update_interval = std::min(config.min_update_interval, Duration{});
        all.emplace_back(std::move(config), i);
    }
    add(job.sources);
    if (!job.static_configs.empty()) all.emplace_back(job.static_configs, 0);
    add(job.file_sd_configs);
    add(job.http_sd_configs);
    return all;
}

}  // namespace k8s_sd::inline v0::detail
