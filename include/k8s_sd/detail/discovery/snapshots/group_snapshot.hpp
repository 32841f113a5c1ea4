#pragma once

#include "k8s_sd/detail/discovery/snapshots/snapshot_files.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/warm_start.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The target groups of a file, or the problem of loading them.
struct LoadedGroups {
    std::vector<TargetGroupPtr> groups{};
    std::chrono::seconds age{};
    std::string problem{};  ///< empty: none
    bool is_missing = false;
};

/// The configuration and the server of a snapshot.
struct SnapshotIdentity {
    Digest config{};        ///< of the server's URL and the configuration
    std::string ca_file{};  ///< its content distinguishes clusters with the same URL
};

// Both block, like SnapshotFiles.
LoadedGroups load_groups(const SnapshotFiles&, const SnapshotIdentity&, const WarmStart&);
/// \returns the reason of a failure; empty on success
std::string save_groups(const SnapshotFiles&, const SnapshotIdentity&,
                        const std::vector<TargetGroupPtr>&, const WarmStart&);

}  // namespace k8s_sd::inline v0::detail
