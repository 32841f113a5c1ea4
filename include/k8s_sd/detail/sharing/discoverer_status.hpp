#pragma once

#include "k8s_sd/status.hpp"

#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The status of a discoverer based on exactly these watches.
inline DiscovererStatus discoverer_status(std::vector<WatchStatus> watches) {
    DiscovererStatus status;
    status.watches = std::move(watches);
    status.synced = !status.watches.empty();
    if (status.synced) status.server = status.watches.front().server;
    for (const WatchStatus& watch : status.watches) {
        status.synced = status.synced && watch.synced;
        if (!watch.error || status.error) continue;
        status.error = watch.error;
        status.message = watch.message;
        status.since = watch.since;
    }
    return status;
}

}  // namespace k8s_sd::inline v0::detail
