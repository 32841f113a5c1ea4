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

/// The share of one member of a fleet in the target groups of a job, for hosts that have no
/// scrape::TargetPool: makes of each diff the one that this member is concerned with. The key of a
/// group is TargetGroup::share_key() where members divide what they discover, else the job and the
/// group's source. So all targets of an object have one owner.
///
/// Not thread-safe, but tied to no thread. Where a function throws, which is for want of memory,
/// the object can only be destroyed.
class K8S_SD_EXPORT GroupShare {
 public:
    /// Owns nothing.
    /// \param job       the same text in all members
    /// \param handover  how long a group that others own now stays
    explicit GroupShare(std::string job, Duration handover = std::chrono::seconds(30));

    /// What a diff means for this member: what changes of the groups that it has.
    TargetGroupDiff apply(const TargetGroupDiff&);
    /// What this member owns from now on. \returns the groups that it gains
    TargetGroupDiff share(const FleetShare&, TimePoint now);
    /// When finish_handovers() has something to do; nullopt: nothing moves.
    std::optional<TimePoint> next_handover() const noexcept;
    /// \returns the groups that have moved away by now, as `removed`
    TargetGroupDiff finish_handovers(TimePoint now);

    /// The groups that this member has, those that move among them.
    const TargetGroups& groups() const noexcept { return groups_; }
    /// Groups that only other members have.
    std::size_t others_count() const noexcept { return all_.group_count() - groups_.group_count(); }
    /// Groups that others own now and that this member still has.
    std::size_t moving_count() const noexcept { return moving_.size(); }

 private:
    bool owns(const TargetGroup&) const noexcept;
    bool has(const TargetGroup&) const;
    void put(const GroupChange&, TargetGroupDiff& diff);
    void remove(const TargetGroupPtr&, TargetGroupDiff& diff);
    void drop(const TargetGroupPtr&, TargetGroupDiff& diff);

    const std::string job_;
    const Duration handover_;
    FleetShare share_;
    TargetGroups all_;
    TargetGroups groups_;
    std::map<std::string, TimePoint, std::less<>> moving_;  ///< by source: until when
};

}  // namespace k8s_sd::inline v0
