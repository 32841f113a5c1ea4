#include "cli/profile_options.hpp"

namespace cli {

Section profile_options(ProfileOptions& options, bool& enabled, const std::string& meaning) {
    return {"Clusters from ClusterProfiles of a hub (experimental)",
            {{"--cluster-profiles", "", meaning, [&](const std::string&) { enabled = true; }},
             {"--cluster-profiles-namespace", "NAME",
              "only ClusterProfiles and Secrets of this namespace; repeatable",
              [&](const std::string& name) {
                  options.namespaces.push_back(name);
                  enabled = true;
              }},
             {"--cluster-profiles-selector", "LABELS", "only ClusterProfiles with these labels",
              [&](const std::string& labels) {
                  options.selector = labels;
                  enabled = true;
              }}}};
}

k8s_sd::InventoryConfig inventory_of(const k8s_sd::DiscoveryConfig& hub,
                                     const ProfileOptions& options) {
    k8s_sd::InventoryConfig inventory;
    inventory.api_server = hub.api_server;
    inventory.kubeconfig_file = hub.kubeconfig_file;
    inventory.kubeconfig_context = hub.kubeconfig_context;
    inventory.namespaces = options.namespaces;
    inventory.label_selector = options.selector;
    return inventory;
}

}  // namespace cli
