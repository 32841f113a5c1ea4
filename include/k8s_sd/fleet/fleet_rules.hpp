#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0 {

/// When what is seen of the members of a fleet becomes its view. All members need the same rules.
struct FleetRules {
    /// A change counts when nothing else has changed for so long: an update of many members is one
    /// change.
    Duration debounce = std::chrono::seconds(2);
    /// A change counts after this time although others go on. Less than a hand-over: who sees a
    /// change late begins before who sees it early has stopped.
    Duration debounce_limit = std::chrono::seconds(15);
    /// A member that is not ready any more, or not there, and has not said goodbye, keeps its share
    /// for so long: it may be back.
    Duration hold_down = std::chrono::seconds(15);
    /// An unlikely change counts after this time: nobody is left, this member is not there although
    /// it is, or more than half of the members have vanished without a goodbye.
    Duration alarm_hold = std::chrono::seconds(60);
    /// Nobody owns anything before so many members are active: the first ones of a fleet would be
    /// given more than they can bear. Zero or one: the first one begins.
    std::size_t wait_for_size = 0;
    /// The first view is made after this time although there are fewer. Zero: never.
    Duration wait_timeout = std::chrono::minutes(5);
    auto operator<=>(const FleetRules&) const = default;
};

/// How far the starts of many members are to be spread, see WatchOptions::start_jitter: 50 ms for
/// each of them, at most 30 s. A server cannot answer the first lists of a large fleet at once.
constexpr Duration fleet_start_jitter(std::size_t members) noexcept {
    constexpr std::size_t most = 600;
    if (members <= 1) return Duration::zero();
    return std::chrono::milliseconds(50) * (members < most ? members : most);
}

/// Why the view of a fleet is not what is seen of its members.
enum class ViewHold : std::uint8_t {
    none,           ///< it is
    unknown,        ///< there is no view: the members have not been seen yet
    nobody,         ///< there is no view: no member is active yet
    wait_for_size,  ///< there is no view: see FleetRules::wait_for_size
    away,           ///< the members cannot be seen now; the view stays as it is
    debounce,       ///< see FleetRules::debounce
    hold_down,      ///< see FleetRules::hold_down
    empty,          ///< nobody is left; see FleetRules::alarm_hold
    self_missing,   ///< this member is not seen; see FleetRules::alarm_hold
    shrunken,       ///< more than half have vanished; see FleetRules::alarm_hold
};
inline constexpr std::size_t view_hold_count = 10;  ///< number of values of ViewHold

/// The name of the enumerator.
constexpr std::string_view to_string(ViewHold hold) noexcept {
    constexpr std::string_view names[view_hold_count] = {
        "none",     "unknown",   "nobody", "wait_for_size", "away",
        "debounce", "hold_down", "empty",  "self_missing",  "shrunken"};
    return names[static_cast<std::size_t>(hold)];
}
/// Whether somebody should look: the view is held although the members are seen.
constexpr bool is_alarm(ViewHold hold) noexcept {
    return hold == ViewHold::empty || hold == ViewHold::self_missing || hold == ViewHold::shrunken;
}

}  // namespace k8s_sd::inline v0
