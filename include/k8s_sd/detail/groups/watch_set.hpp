#pragma once

#include "k8s_sd/detail/groups/kind_view.hpp"
#include "k8s_sd/detail/groups/shared_watches.hpp"

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The objects of one scope, by kind, as far as they are watched: what a view sees of the watches
/// of a server. Strand-confined, except for status().
class WatchSet {
 public:
    using Kinds = std::vector<Kind>;
    using Observer = KindView::Observer;

    /// \param dialect  that the objects are for
    WatchSet(std::shared_ptr<SharedWatches> watches, const WatchScope& scope, LabelDialect dialect,
             Observer& observer);
    WatchSet(const WatchSet&) = delete;
    WatchSet& operator=(const WatchSet&) = delete;

    /// Starts to watch kinds that are not watched yet.
    void start(const Kinds&);
    void stop_all_but(const Kinds&);
    /// Whether all of these have been listed completely.
    bool synced(const Kinds&) const;
    /// Whether all of these were listed by the server that the client leads to now.
    bool know_present_server(const Kinds&) const;
    /// The object of that name, or null. `ns` does not matter for kinds without namespaces.
    const Object* find(Kind, std::string_view ns, std::string_view name) const;
    void for_each(Kind, const std::function<void(const ObjectPtr&)>&) const;

    /// Of the watches that have these kinds. Any thread.
    std::vector<WatchStatus> status(const Kinds&) const;

 private:
    const KindView* of(Kind kind) const { return kinds_[static_cast<std::size_t>(kind)].get(); }

    const std::shared_ptr<SharedWatches> watches_;
    const WatchScope scope_;
    const LabelDialect dialect_;
    Observer& observer_;
    mutable std::mutex mutex_;  ///< kinds_ are changed on the strand only, under it
    std::array<std::unique_ptr<KindView>, kind_count> kinds_;
};

}  // namespace k8s_sd::inline v0::detail
