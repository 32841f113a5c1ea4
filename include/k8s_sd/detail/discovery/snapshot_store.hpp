#pragma once

#include "k8s_sd/detail/discovery/snapshot_file.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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

/// What a snapshot is of.
struct SnapshotIdentity {
    Digest config{};        ///< of the server's URL and the configuration
    std::string ca_file{};  ///< its content tells clusters apart that have one URL
};

/// The snapshots of one directory. Its functions block; they may be called on any thread, and after
/// the end of every context.
class SnapshotStore {
 public:
    explicit SnapshotStore(std::string path) : path_(std::move(path)) {}

    LoadedGroups load(const SnapshotIdentity&, const WarmStart&) const;
    /// \returns why they are not there; empty: they are
    std::string save(const SnapshotIdentity&, const std::vector<TargetGroupPtr>&,
                     const WarmStart&) const;

    /// The one of this directory that others of the context have.
    static std::shared_ptr<const SnapshotStore> of(const boost::asio::any_io_executor&,
                                                   const std::string& path);

 private:
    std::shared_ptr<const SnapshotDirectory> directory(std::string& problem) const;

    const std::string path_;
    mutable std::mutex mutex_;
    mutable std::mutex writing_;  ///< one file at a time; locked before the other
    mutable std::shared_ptr<const SnapshotDirectory> directory_;  // null: not opened yet
};

}  // namespace k8s_sd::inline v0::detail
