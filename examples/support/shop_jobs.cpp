#include "support/shop_jobs.hpp"

#include "cli/option_values.hpp"

#include <chrono>

namespace support {

using k8s_sd::DiscoveryConfig;
using k8s_sd::Role;

cli::Section shop_options(Shop& shop) {
    return {"What the jobs discover",
            {{"--namespace", "NAME", "most of it is in this namespace (default " + shop.ns + ")",
              cli::text(shop.ns)},
             {"--other-namespace", "NAME", "the rest (default " + shop.other_ns + ")",
              cli::text(shop.other_ns)},
             {"--selector", "SELECTOR",
              "labels of some pods in the first namespace (default " + shop.selector + ")",
              cli::text(shop.selector)}}};
}

std::vector<Step> shop_steps(const DiscoveryConfig& server, const Shop& names) {
    const auto config_for = [&](Role role, const std::string& ns) {
        DiscoveryConfig config = server;
        config.role = role;
        config.namespaces = {ns};
        return config;
    };
    const auto shop = config_for(Role::pod, names.ns);
    const auto payments = config_for(Role::pod, names.other_ns);
    const auto slices = config_for(Role::endpointslice, names.ns);
    auto selected = shop;
    selected.selectors = {{Role::pod, names.selector, ""}};
    auto bad = shop;
    bad.selectors = {{Role::pod, "app.kubernetes.io/name==!cart", ""}};
    return {
        {"three jobs, two of them for the same pods",
         {{"shop", {shop}}, {"all", {shop, payments}}, {"slices", {slices}}}},
        {"rename shop to webshop: it keeps its targets",
         {{"webshop", {shop}}, {"all", {shop, payments}}, {"slices", {slices}}}},
        {"copy webshop to audit, which wants at most one diff in five seconds",
         {{"webshop", {shop}},
          {"audit", {shop}, std::chrono::seconds(5)},
          {"all", {shop, payments}},
          {"slices", {slices}}}},
        {"give webshop a selector: its old targets stay until the new ones are there",
         {{"webshop", {selected}}, {"audit", {shop}}, {"all", {shop, payments}}}},
        {"a selector that is wrong: webshop keeps what it has, the others do not care",
         {{"webshop", {bad}}, {"audit", {shop}}, {"all", {shop, payments}}}},
        {"mend it, and take the payments out of all",
         {{"webshop", {selected}}, {"audit", {shop}}, {"all", {shop}}}},
        {"remove all jobs but webshop", {{"webshop", {selected}}}},
    };
}

}  // namespace support
