#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/watch_query.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The namespaces to watch for a kind, one watch each; "" is one watch of all namespaces.
/// \param wanted  from the configuration; empty: all
/// \param cluster_wide_from  see WatchOptions; 0: a watch of all namespaces is refused
inline std::vector<std::string> watched_namespaces(Kind kind,
                                                   const std::vector<std::string>& wanted,
                                                   std::size_t cluster_wide_from) {
    const bool together = cluster_wide_from != 0 && wanted.size() >= cluster_wide_from;
    if (wanted.empty() || together || !resource_of(kind).namespaced) return {""};
    return wanted;
}

/// The query for one of these namespaces.
WatchQuery query_of(const WatchScope&, Kind, const std::string& ns);

}  // namespace k8s_sd::inline v0::detail
