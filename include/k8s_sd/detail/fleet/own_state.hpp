#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"

#include <deque>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The state of this member, and its changes that the source has not announced yet. No I/O; guarded
/// by the mutex of its owner.
class OwnState {
 public:
    void set_synced(bool synced) noexcept { synced_ = synced; }
    /// The source has seen the members.
    void on_seen() noexcept { seen_ = true; }
    bool seen() const noexcept { return seen_; }
    bool is_ready() const noexcept { return synced_ && seen_; }

    /// \returns whether there is a change to announce; a member that has left stays away
    bool note_readiness() {
        const bool now = is_ready();
        if (left_ || std::exchange(announced_, now) == now) return false;
        pending_.push_back(now ? MemberState::active : MemberState::joining);
        return true;
    }
    /// \returns whether there is a change to announce
    bool leave() {
        if (std::exchange(left_, true)) return false;
        pending_.push_back(MemberState::leaving);
        return true;
    }

    /// Begins announcing; false: another caller announces.
    bool begin_announcing() noexcept { return !std::exchange(announcing_, true); }
    /// The next state to announce; nullopt: none, and announcing ends.
    std::optional<MemberState> next() {
        if (pending_.empty()) {
            announcing_ = false;
            return std::nullopt;
        }
        const MemberState state = pending_.front();
        pending_.pop_front();
        return state;
    }
    /// An announcement has failed; the next one begins with the state after it.
    void stop_announcing() noexcept { announcing_ = false; }

 private:
    bool synced_ = false;
    bool seen_ = false;
    bool left_ = false;
    bool announced_ = false;  ///< as ready
    bool announcing_ = false;
    std::deque<MemberState> pending_;
};

}  // namespace k8s_sd::inline v0::detail
