#pragma once

#include "k8s_sd/detail/net/snapshot_files.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/warm_start.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Target groups of a file, or why there are none.
struct LoadedGroups {
    std::vector<TargetGroupPtr> groups{};
    std::chrono::seconds age{};
    std::string problem{};  ///< empty: none
    bool is_missing = false;
};

/// The configuration and the server that a snapshot is of.
struct SnapshotIdentity {
    Digest config{};        ///< of the server's URL and the configuration
    std::string ca_file{};  ///< its content tells clusters apart that have one URL
};

// Both block, as SnapshotFiles does.
LoadedGroups load_groups(const SnapshotFiles&, const SnapshotIdentity&, const WarmStart&);
/// \returns why they are not there; empty: they are
std::string save_groups(const SnapshotFiles&, const SnapshotIdentity&,
                        const std::vector<TargetGroupPtr>&, const WarmStart&);

}  // namespace k8s_sd::inline v0::detail
