// Snippets of docs/guide/target-sources.md.

//[jobs
#include "k8s_sd/discovery_manager.hpp"

//]
#include "k8s_sd/target_group.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace snippets::target_sources {

[[maybe_unused]] static void apply_jobs(k8s_sd::DiscoveryManager& manager,
                                        const k8s_sd::TargetSource& inventory) {
    //[jobs
    k8s_sd::Job job{"nodes", {}};
    job.sources = {inventory};  // of the host
    job.static_configs = {{{"gateway:9100", "backup:9100"}, {{"env", "office"}}}};
    job.file_sd_configs.resize(1);
    job.file_sd_configs[0].files = {"/etc/targets/*.json"};
    job.http_sd_configs.resize(1);
    job.http_sd_configs[0].url = "https://lists.example.com/targets";
    job.http_sd_configs[0].auth.bearer_token_file = "/var/run/lists/token";
    manager.apply_config({job});
    //]
}

[[maybe_unused]] static void make_groups(k8s_sd::TargetSource& source) {
    //[groups
    k8s_sd::TargetGroupMaker maker;
    const k8s_sd::TargetGroupPtr group =
        maker.make("dns/db.example.com", {{"team", "storage"}, {"__scheme__", "https"}},
                   {{{"__address__", "10.0.0.1:9104"}},
                    {{"__address__", "10.0.0.2:9104"}, {"__meta_dns_srv_record_port", "9104"}}});

    source.set({group});                                         // the complete state
    source.update({maker.make("dns/old.example.com", {}, {})});  // an empty group is deleted
    source.fail("the server of example.com does not answer");
    //]
}

[[maybe_unused]] static void print_status(const k8s_sd::DiscoveryManager& manager) {
    //[status
    for (const k8s_sd::JobStatus& job : manager.status()) {
        for (const k8s_sd::JobConfigStatus& config : job.configs) {
            if (!config.status.error) continue;
            std::cerr << job.name << ": " << to_string(config.origin) << ": "
                      << config.status.message << '\n';
        }
    }
    //]
}

}  // namespace snippets::target_sources
