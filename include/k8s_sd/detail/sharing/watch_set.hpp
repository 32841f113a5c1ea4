#pragma once

#include "k8s_sd/detail/sharing/kind_view.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The watched objects of one scope by kind: one view of the server's watches. Strand-confined,
/// except for status().
class WatchSet {
 public:
    using Kinds = std::vector<Kind>;
    using Observer = KindView::Observer;

    /// \param dialect  of the objects' labels
    WatchSet(std::shared_ptr<SharedWatches> watches, const WatchScope& scope,
             VersionedDialect dialect, Observer& observer);
    WatchSet(const WatchSet&) = delete;
    WatchSet& operator=(const WatchSet&) = delete;

    /// Starts watches for kinds not yet watched.
    void start(const Kinds&);
    void stop_all_but(const Kinds&);
    /// Whether all these kinds have been listed.
    bool synced(const Kinds&) const;
    /// Whether the client's current server has listed all these kinds.
    bool know_present_server(const Kinds&) const;
    /// The object of that name, or null. Cluster-scoped kinds ignore `ns`.
    const Object* find(Kind, std::string_view ns, std::string_view name) const;
    void for_each(Kind, const std::function<void(const ObjectPtr&)>&) const;

    /// The status of the watches of these kinds. Any thread.
    std::vector<WatchStatus> status(const Kinds&) const;

 private:
    const KindView* of(Kind kind) const { return kinds_[static_cast<std::size_t>(kind)].get(); }

    const std::shared_ptr<SharedWatches> watches_;
    const WatchScope scope_;
    const VersionedDialect dialect_;
    Observer& observer_;
    mutable std::mutex mutex_;  ///< guards changes of kinds_, made on the strand only
    std::array<std::unique_ptr<KindView>, kind_count> kinds_;
};

}  // namespace k8s_sd::inline v0::detail
