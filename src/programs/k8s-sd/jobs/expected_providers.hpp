#pragma once

#include "k8s_sd/discovery_manager.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_program {

/// The providers whose targets a job needs before its lists are served.
struct ExpectedProviders {
    /// The providers of a cluster with a name. With several of them a job may start without some.
    struct Cluster {
        std::string name;  ///< see DiscoveryConfig::cluster
        std::vector<k8s_sd::ProviderId> providers{};
        bool usable = true;  ///< all of its configurations are
    };

    std::vector<k8s_sd::ProviderId> needed{};  ///< of servers without a name, and of other targets
    bool usable = true;                        ///< false: the job cannot become complete
    std::vector<Cluster> clusters{};

    /// Whether the job can become complete, if need be without some clusters.
    bool can_complete() const noexcept;
};

/// The unusable configurations of a job: the members of Job, with indices.
using FailedConfigs = std::set<std::pair<k8s_sd::TargetOrigin, std::size_t>>;

/// \param providers  DiscoveryManager::providers() of the job
ExpectedProviders expected_providers(const k8s_sd::Job& job,
                                     const std::vector<k8s_sd::ProviderId>& providers,
                                     const FailedConfigs& failed);

}  // namespace k8s_sd_program
