#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

/// For targets of namespaced objects.
inline void add_kinds_attached_to_objects(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    if (attach.namespace_) kinds.push_back(Kind::namespace_);
}

/// For targets of pods, or with pods behind them.
inline void add_kinds_attached_to_pods(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    if (attach.node) kinds.push_back(Kind::node);
    add_kinds_attached_to_objects(attach, kinds);
    if (attach.deployment) kinds.push_back(Kind::replicaset);
    if (attach.cronjob) kinds.push_back(Kind::job);
}

/// For targets of a service's endpoints.
inline void add_kinds_behind_service(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    kinds.insert(kinds.end(), {Kind::service, Kind::pod});
    add_kinds_attached_to_pods(attach, kinds);
}

}  // namespace k8s_sd::inline v0::detail
