#pragma once

#include "k8s_sd/objects/object.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The groups of one role that several views with equal settings have in common: jobs with
/// different selectors often select the same object. A group made from its object alone is the same
/// in each of these views, so the first one generates it, and the others take it over.
///
/// Each view counts as a user of the groups it has added or taken over, until the object changes or
/// leaves the view; the last user removes the group from the table. A single view adds none.
/// Strand-confined.
class SharedGroups {
 public:
    SharedGroups() = default;
    SharedGroups(const SharedGroups&) = delete;
    SharedGroups& operator=(const SharedGroups&) = delete;

    void add_view() noexcept { ++views_; }
    void remove_view() noexcept { --views_; }
    bool has_several_views() const noexcept { return views_ > 1; }

    /// The view becomes a user of the object's group.
    /// \returns the group; null if no view has added one
    TargetGroupPtr join(const Object& object) {
        const auto it = groups_.find(&object);
        if (it == groups_.end()) return nullptr;
        ++it->second.users;
        return it->second.group;
    }
    /// The view becomes the first user. \pre join() has found nothing
    void add(const Object& object, TargetGroupPtr group) {
        groups_.emplace(&object, Shared{std::move(group), 1});
    }
    /// The view ceases to be a user of the object's group.
    void leave(const Object& object) {
        const auto it = groups_.find(&object);
        if (--it->second.users == 0) groups_.erase(it);
    }
    std::size_t size() const noexcept { return groups_.size(); }

 private:
    struct Shared {
        TargetGroupPtr group;
        std::uint32_t users;
    };

    boost::unordered_flat_map<const Object*, Shared> groups_;  // their users hold the objects
    std::size_t views_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
