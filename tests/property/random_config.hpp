#pragma once

#include "k8s_sd/config.hpp"
#include "property/random_cluster.hpp"

#include <chrono>
#include <string>

namespace k8s_sd::test {

inline Selector random_selector(Random& random, Role role) {
    Selector selector;
    selector.role = role;
    if (!random.one_in(3)) {
        selector.label =
            random.pick<std::string>({"app=x", "app in (x,y)", "!tier", "app!=x,tier",
                                      "app=", "tier notin (x,)", "a.b/c", "app,a.b/c!=y"});
    }
    if (random.one_in(3)) selector.field = "metadata.name!=" + random.numbered("p", 3);
    if (random.one_in(9)) selector.field = "metadata.name=" + random.numbered("p", 3);
    if (role == Role::pod && random.one_in(3)) {
        selector.field = random.pick<std::string>(
            {"spec.nodeName=n1", "spec.nodeName!=n1", "status.phase=Running",
             "status.phase!=Pending,metadata.namespace=a", "status.podIP=10.0.0.1"});
    }
    return selector;
}

/// A configuration that finds some objects of a RandomCluster.
inline DiscoveryConfig random_config(Random& random, const std::string& url) {
    DiscoveryConfig config;
    config.api_server.url = url;
    config.role = static_cast<Role>(random.below(8));
    config.dialect =
        random.pick<LabelDialect>({LabelDialect::prometheus, LabelDialect::victoriametrics});
    const bool of_gateway_api = config.role == Role::gateway || config.role == Role::httproute;
    if (of_gateway_api) config.dialect = LabelDialect::prometheus;
    if (config.dialect == LabelDialect::prometheus) {
        config.prometheus_version = random.pick<PrometheusVersion>(
            {PrometheusVersion::v3_5, PrometheusVersion::v3_11, PrometheusVersion::v3_15});
    }
    config.attach_metadata = {.node = random.one_in(2),
                              .namespace_ = random.one_in(2),
                              .deployment = random.one_in(2),
                              .job = random.one_in(2),
                              .cronjob = random.one_in(2)};
    if (random.one_in(3)) config.namespaces = {"a"};
    if (random.one_in(6)) config.namespaces = {"b", "a"};
    if (random.one_in(2)) config.selectors.push_back(random_selector(random, config.role));
    if (config.role == Role::pod && random.one_in(3)) {
        config.selectors.push_back(random_selector(random, Role::node));
    }
    const bool behind_service =
        config.role == Role::endpoints || config.role == Role::endpointslice;
    if (behind_service && random.one_in(3)) {
        config.selectors.push_back(
            random_selector(random, random.pick<Role>({Role::pod, Role::service})));
    }
    if (config.role == Role::httproute && random.one_in(3))
        config.selectors.push_back(random_selector(random, Role::gateway));
    config.watch.page_size = random.below(4);
    config.watch.watch_list = random.one_in(2);
    config.watch.protobuf = !random.one_in(3);
    config.watch.gzip = random.pick<Compression>({Compression::automatic, Compression::always});
    using enum SelectorSharing;
    config.watch.share_selectors = random.pick<SelectorSharing>({automatic, always, never});
    if (random.one_in(2)) config.watch.cluster_wide_from = 1;
    if (random.one_in(3)) config.min_update_interval = std::chrono::seconds(2);
    return config;
}

}  // namespace k8s_sd::test
