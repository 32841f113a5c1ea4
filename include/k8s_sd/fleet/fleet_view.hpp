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

/// What a member of a fleet is about to do.
enum class MemberState : std::uint8_t {
    joining,  ///< it is there, and not ready yet: it owns nothing
    active,   ///< it has a share
    leaving,  ///< it says goodbye: it owns nothing any more
};
inline constexpr std::size_t member_state_count = 3;  ///< number of values of MemberState

/// The name of the enumerator.
constexpr std::string_view to_string(MemberState state) noexcept {
    constexpr std::string_view names[member_state_count] = {"joining", "active", "leaving"};
    return names[static_cast<std::size_t>(state)];
}

/// One of the programs that share the targets.
struct FleetMember {
    /// Stays when the program is restarted, where anything does: the name of its pod. The names
    /// decide who owns what.
    std::string name{};
    MemberState state = MemberState::active;  ///< see there
    auto operator<=>(const FleetMember&) const = default;
};

/// What is owned, as a number: the same in every process. Made of what does not change as long as
/// the thing exists. The parts count one by one: {"ab", "c"} is not {"a", "bc"}.
K8S_SD_EXPORT std::uint64_t share_key(std::span<const std::string_view> parts) noexcept;
/// The same of two parts.
inline std::uint64_t share_key(std::string_view job, std::string_view what) noexcept {
    const std::string_view parts[] = {job, what};
    return share_key(parts);
}

/// The active members of a fleet, at one time. Who has the same view gives every key to the same
/// owners. Immutable; thread-safe.
///
/// Owners are chosen by highest random weight (rendezvous hashing): when the Nth member joins, one
/// key in N changes its owner, and goes to the new one. When a member leaves, its keys are spread
/// over the others, and no other key moves.
class K8S_SD_EXPORT FleetView {
 public:
    /// In any order; one that is named twice counts once.
    explicit FleetView(std::vector<std::string> members);

    /// Sorted by name.
    std::span<const std::string> members() const noexcept { return members_; }
    /// Number of members.
    std::size_t size() const noexcept { return members_.size(); }
    /// The same number for the same members, in every process.
    std::uint64_t epoch() const noexcept { return epoch_; }
    /// Whether this is one of the members.
    bool contains(std::string_view member) const noexcept { return index_of(member) != size(); }
    /// The owners of a key, the first choice first.
    /// \param replicas  owners of each key; all members, if there are no more
    std::vector<std::string_view> owners(std::uint64_t key, unsigned replicas = 1) const;
    /// Whether the member is one of the owners(); false for one that is not in the view.
    bool owns(std::string_view member, std::uint64_t key, unsigned replicas = 1) const noexcept {
        return owns(index_of(member), key, replicas);
    }
    /// The same for the member at this place of members(); false for size().
    bool owns(std::size_t member, std::uint64_t key, unsigned replicas = 1) const noexcept;
    /// Its place in members(); size() if it is not there.
    std::size_t index_of(std::string_view member) const noexcept;

    /// Whether the members are the same.
    friend bool operator==(const FleetView& a, const FleetView& b) noexcept {
        return a.members_ == b.members_;
    }

 private:
    std::vector<std::string> members_;
    std::vector<std::uint64_t> seeds_;  ///< of their weights
    std::uint64_t epoch_;
};

/// Shared ownership of a view. Null: nobody knows yet who the members are.
using FleetViewPtr = std::shared_ptr<const FleetView>;

/// What one member owns. Immutable but for assignment; a copy is cheap.
class K8S_SD_EXPORT FleetShare {
 public:
    /// Everything: there is no fleet.
    FleetShare() = default;
    /// \param view      null: nothing is owned
    /// \param self      the name of this member; it owns nothing while it is not in the view
    /// \param replicas  owners of each key, at least one
    FleetShare(FleetViewPtr view, std::string self, unsigned replicas = 1);

    /// Whether there is a fleet.
    bool is_shared() const noexcept { return shared_; }
    /// As it was given.
    const FleetViewPtr& view() const noexcept { return view_; }
    /// As it was given.
    const std::string& self() const noexcept { return self_; }
    /// As it was given.
    unsigned replicas() const noexcept { return replicas_; }
    /// Whether this member owns what has that key.
    bool owns(std::uint64_t key) const noexcept {
        return !shared_ || (view_ && view_->owns(index_, key, replicas_));
    }
    /// Whether the same keys are owned.
    friend bool operator==(const FleetShare& a, const FleetShare& b) noexcept {
        return a.equals(b);
    }

 private:
    bool equals(const FleetShare&) const noexcept;

    bool shared_ = false;
    FleetViewPtr view_;
    std::string self_;
    std::size_t index_ = 0;  ///< of `self_` in the view
    unsigned replicas_ = 1;
};

}  // namespace k8s_sd::inline v0
