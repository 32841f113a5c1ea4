#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The state of a member of a fleet.
enum class MemberState : std::uint8_t {
    joining,  ///< present but not ready yet: owns nothing
    active,   ///< has a share
    leaving,  ///< about to end: owns nothing any more
};
inline constexpr std::size_t member_state_count = 3;  ///< number of values of MemberState

/// The name of the enumerator.
constexpr std::string_view to_string(MemberState state) noexcept {
    constexpr std::string_view names[member_state_count] = {"joining", "active", "leaving"};
    return names[static_cast<std::size_t>(state)];
}

/// One of the programs sharing the targets.
struct FleetMember {
    /// A name stable across restarts, if possible: the name of its pod. The names determine the
    /// owners.
    std::string name{};
    MemberState state = MemberState::active;  ///< see above
    auto operator<=>(const FleetMember&) const = default;
};

/// The key of an owned thing, the same in every process. Computed from parts that stay the same as
/// long as the thing exists. Boundaries of parts matter: {"ab", "c"} is not {"a", "bc"}.
K8S_SD_EXPORT std::uint64_t share_key(std::span<const std::string_view> parts) noexcept;
/// The same for two parts.
inline std::uint64_t share_key(std::string_view job, std::string_view what) noexcept {
    const std::string_view parts[] = {job, what};
    return share_key(parts);
}

/// The active members of a fleet, at one time. Programs with the same view assign every key to the
/// same owners. Immutable; thread-safe.
///
/// Owners are chosen by highest random weight (rendezvous hashing): when the Nth member joins, one
/// key in N moves to it. When a member leaves, its keys are spread over the others, and no other
/// key moves.
class K8S_SD_EXPORT FleetView {
 public:
    /// The names in any order; duplicates are dropped.
    explicit FleetView(std::vector<std::string> members);

    /// The members sorted by name.
    std::span<const std::string> members() const noexcept { return members_; }
    /// Number of members.
    std::size_t size() const noexcept { return members_.size(); }
    /// The same number for the same members, in every process.
    std::uint64_t epoch() const noexcept { return epoch_; }
    /// Whether this is one of the members.
    bool contains(std::string_view member) const noexcept { return index_of(member) != size(); }
    /// The owners of a key, the first choice first.
    /// \param replicas  owners of each key; limited by the number of members
    std::vector<std::string_view> owners(std::uint64_t key, unsigned replicas = 1) const;
    /// Whether the member is one of the owners(); false for a member outside of the view.
    bool owns(std::string_view member, std::uint64_t key, unsigned replicas = 1) const noexcept {
        return owns(index_of(member), key, replicas);
    }
    /// The same for the member at this index of members(); false for size().
    bool owns(std::size_t member, std::uint64_t key, unsigned replicas = 1) const noexcept;
    /// The member's index in members(); size() if it is not in the view.
    std::size_t index_of(std::string_view member) const noexcept;

    /// Whether both have the same members.
    friend bool operator==(const FleetView& a, const FleetView& b) noexcept {
        return a.members_ == b.members_;
    }

 private:
    std::vector<std::string> members_;
    std::vector<std::uint64_t> seeds_;  ///< seeds of the members' weights
    std::uint64_t epoch_;
};

/// Shared ownership of a view. Null: the members are not known yet.
using FleetViewPtr = std::shared_ptr<const FleetView>;

/// The share of one member. Immutable except for assignment; a copy is cheap.
class K8S_SD_EXPORT FleetShare {
 public:
    /// Everything: there is no fleet.
    FleetShare() = default;
    /// \param view      null: owns nothing
    /// \param self      the name of this member; it owns nothing unless it is in the view
    /// \param replicas  owners of each key, at least one
    FleetShare(FleetViewPtr view, std::string self, unsigned replicas = 1);

    /// Whether there is a fleet.
    bool is_shared() const noexcept { return shared_; }
    /// The view given at construction.
    const FleetViewPtr& view() const noexcept { return view_; }
    /// The name given at construction.
    const std::string& self() const noexcept { return self_; }
    /// The number of replicas given at construction.
    unsigned replicas() const noexcept { return replicas_; }
    /// Whether this member owns the targets with this key.
    bool owns(std::uint64_t key) const noexcept {
        return !shared_ || (view_ && view_->owns(index_, key, replicas_));
    }
    /// Whether both own the same keys.
    friend bool operator==(const FleetShare& a, const FleetShare& b) noexcept {
        return a.equals(b);
    }

 private:
    bool equals(const FleetShare&) const noexcept;

    bool shared_ = false;
    FleetViewPtr view_;
    std::string self_;
    std::size_t index_ = 0;  ///< index of `self_` in the view
    unsigned replicas_ = 1;
};

}  // namespace k8s_sd::inline v0
