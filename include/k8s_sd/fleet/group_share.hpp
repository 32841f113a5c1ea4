#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_groups.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The share of one member of a fleet in the target groups of a job, for hosts without a
/// scrape::TargetPool: reduces each diff to the part of this member. The key of a group is
/// TargetGroup::share_key() if members divide the discovered objects, otherwise a hash of the job
/// and the group's source. So all targets of an object have one owner.
///
/// Not thread-safe, but tied to no thread. After an exception, only possible for lack of memory,
/// the object can only be destroyed.
class K8S_SD_EXPORT GroupShare {
 public:
    /// Owns nothing.
    /// \param job       the same text in all members
    /// \param handover  how long to keep a group now owned by others
    explicit GroupShare(std::string job, Duration handover = std::chrono::seconds(30));

    /// Applies a diff and returns the changes of this member's groups. Of a diff in parts they come
    /// with the last part; until then the result has only `more`.
    TargetGroupDiff apply(const TargetGroupDiff&);
    /// Sets the share of this member. \returns the gained groups
    TargetGroupDiff share(const FleetShare&, TimePoint now);
    /// When to call finish_handovers(); nullopt: no group is moving.
    std::optional<TimePoint> next_handover() const noexcept;
    /// \returns the groups whose hand-over has ended, as `removed`
    TargetGroupDiff finish_handovers(TimePoint now);

    /// The groups of this member, including moving ones.
    const TargetGroups& groups() const noexcept { return groups_; }
    /// Number of groups of other members only.
    std::size_t others_count() const noexcept { return all_.group_count() - groups_.group_count(); }
    /// Number of groups kept by this member but now owned by others.
    std::size_t moving_count() const noexcept { return moving_.size(); }

 private:
    bool owns(const TargetGroup&) const noexcept;
    bool has(const TargetGroup&) const;
    TargetGroupDiff apply_whole(const TargetGroupDiff&);
    void put(const GroupChange&, TargetGroupDiff& diff);
    void remove(const TargetGroupPtr&, TargetGroupDiff& diff);
    void drop(const TargetGroupPtr&, TargetGroupDiff& diff);

    const std::string job_;
    const Duration handover_;
    FleetShare share_;
    DiffJoiner joiner_;
    TargetGroups all_;
    TargetGroups groups_;
    std::map<std::string, TimePoint, std::less<>> moving_;  ///< end of the hand-over by source
};

}  // namespace k8s_sd::inline v0
