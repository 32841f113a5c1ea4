#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
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

/// Digest of every setting, except the server, that determines the groups and their labels.
Digest digest_of_config(const ResolvedConfig&, Role, const WarmStart&);

/// Loads and saves the snapshots of one configuration, off the strand. Used on the strand, for one
/// operation at a time.
class SnapshotStore {
 public:
    /// \param config  see digest_of_config()
    SnapshotStore(asio::any_io_executor strand, std::shared_ptr<FileCalls>, const WarmStart&,
                  const Digest& config);

    /// \param handler  posted unless end() comes first
    void async_load(const ServerIdentity&,
                    std::function<void(const std::shared_ptr<LoadedGroups>&)> handler);
    /// \param handler  the same; receives the reason of a failure, empty on success
    void async_save(const ServerIdentity&, std::vector<TargetGroupPtr>,
                    std::function<void(const std::string& problem)> handler);
    /// The operation has ended, or its result is no longer wanted.
    void end() noexcept { pending_.cancel(); }

 private:
    SnapshotIdentity identity_of(const ServerIdentity&) const;

    const asio::any_io_executor strand_;
    const std::shared_ptr<FileCalls> calls_;
    const WarmStart options_;
    const Digest config_;
    const std::shared_ptr<const SnapshotFiles> files_;
    LateAnswers::PendingAnswer pending_;
};

}  // namespace k8s_sd::inline v0::detail
