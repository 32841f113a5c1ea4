#include "jobs/expected_providers.hpp"

#include <algorithm>

namespace k8s_sd_program {

namespace {

ExpectedProviders::Cluster& cluster_named(const std::string& name,
                                          std::vector<ExpectedProviders::Cluster>& clusters) {
    const auto known = std::find_if(clusters.begin(), clusters.end(),
                                    [&](const auto& cluster) { return cluster.name == name; });
    return known == clusters.end() ? clusters.emplace_back(ExpectedProviders::Cluster{.name = name})
                                   : *known;
}

}  // namespace

bool ExpectedProviders::can_complete() const noexcept {
    return usable &&
           (clusters.empty() || std::any_of(clusters.begin(), clusters.end(),
                                            [](const Cluster& cluster) { return cluster.usable; }));
}

ExpectedProviders expected_providers(const k8s_sd::Job& job,
                                     const std::vector<k8s_sd::ProviderId>& providers,
                                     const FailedConfigs& failed) {
    using enum k8s_sd::TargetOrigin;
    ExpectedProviders expected;
    // Providers are in the order of the configurations, without the unusable ones.
    auto provider = providers.begin();
    for (std::size_t i = 0; i < job.configs.size(); ++i) {
        const std::string& name = job.configs[i].cluster.name;
        auto* const cluster = name.empty() ? nullptr : &cluster_named(name, expected.clusters);
        if (failed.contains({kubernetes, i}) || provider == providers.end()) {
            (cluster ? cluster->usable : expected.usable) = false;
        } else {
            (cluster ? cluster->providers : expected.needed).push_back(*provider++);
        }
    }
    expected.needed.insert(expected.needed.end(), provider, providers.end());
    expected.usable = expected.usable &&
                      std::all_of(failed.begin(), failed.end(),
                                  [](const auto& config) { return config.first == kubernetes; });
    return expected;
}

}  // namespace k8s_sd_program
