#include "support/shop_jobs.hpp"

#include <chrono>

namespace support {

using k8s_sd::DiscoveryConfig;
using k8s_sd::Role;

std::vector<Step> shop_steps(const std::string& url) {
    const auto config_for = [&](Role role, const std::string& ns) {
        return DiscoveryConfig{.role = role, .api_server = {.url = url}, .namespaces = {ns}};
    };
    const auto shop = config_for(Role::pod, "shop");
    const auto payments = config_for(Role::pod, "payments");
    const auto slices = config_for(Role::endpointslice, "shop");
    auto selected = shop;
    selected.selectors = {{Role::pod, "app.kubernetes.io/name=cart", ""}};
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
