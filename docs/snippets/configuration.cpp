// Snippets of docs/guide/configuration.md, docs/guide/labels.md and docs/guide/sharing.md.

#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"

#include <cstdint>

namespace snippets::configuration {

[[maybe_unused]] static bool configurations() {
    //[configuration
    k8s_sd::DiscoveryConfig config{
        .role = k8s_sd::Role::endpointslice,
        .namespaces = {"shop", "pay"},
        .selectors = {{k8s_sd::Role::endpointslice, "app=web", ""}},
        .attach_metadata = {.node = true},
    };

    auto same = k8s_sd::load_sd_config("sd.yaml", k8s_sd::LabelDialect::prometheus);
    //]
    return config == same;
}

[[maybe_unused]] static bool versions() {
    //[versions
    k8s_sd::DiscoveryConfig config{.prometheus_version = k8s_sd::PrometheusVersion::v3_14};
    //]
    return config == k8s_sd::DiscoveryConfig();
}

[[maybe_unused]] static bool shares(std::uint64_t replica) {
    //[shares
    k8s_sd::DiscoveryConfig config{.share = k8s_sd::ObjectShare::part(replica, 3)};
    //]
    return config.share.is_all();
}

}  // namespace snippets::configuration
