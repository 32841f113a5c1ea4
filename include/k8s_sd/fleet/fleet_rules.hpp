#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0 {

/// When changes of the visible members of a fleet become its view. All members need the same rules.
struct FleetRules {
    /// A change is adopted after this time without further changes: an update of many members is
    /// one change.
    Duration debounce = std::chrono::seconds(2);
    /// A change is adopted after this time despite further changes. Must be shorter than a
    /// hand-over, so a member with a late view starts before a member with an early view stops.
    Duration debounce_limit = std::chrono::seconds(15);
    /// A member gone, or no longer ready, without an announcement keeps its share for this time: it
    /// may come back.
    Duration hold_down = std::chrono::seconds(15);
    /// An implausible change is adopted after this time: no member is left, this member is missing
    /// although it runs, or more than half of the members have vanished without an announcement.
    Duration alarm_hold = std::chrono::seconds(60);
    /// No member owns anything until this number of members is active: the first ones of a fleet
    /// would be overloaded. Zero or one: the first member starts at once.
    std::size_t wait_for_size = 0;
    /// The first view is made after this time despite fewer members. Zero: never.
    Duration wait_timeout = std::chrono::minutes(5);
    auto operator<=>(const FleetRules&) const = default;
};

/// The recommended start jitter for a number of members, see WatchOptions::start_jitter: 50 ms for
/// each of them, at most 30 s. A server cannot answer the first lists of a large fleet at once.
constexpr Duration fleet_start_jitter(std::size_t members) noexcept {
    constexpr std::size_t max_members = 600;
    if (members <= 1) return Duration::zero();
    return std::chrono::milliseconds(50) * (members < max_members ? members : max_members);
}

/// The reason a view differs from the visible members of the fleet.
enum class ViewHold : std::uint8_t {
    none,              ///< the view is current
    unknown,           ///< no view: the members have not been visible yet
    no_active_member,  ///< no view: no member is active yet
    wait_for_size,     ///< no view: see FleetRules::wait_for_size
    away,              ///< the members are not visible now; the view stays as it is
    debounce,          ///< see FleetRules::debounce
    hold_down,         ///< see FleetRules::hold_down
    empty,             ///< no member is left; see FleetRules::alarm_hold
    self_missing,      ///< this member is missing; see FleetRules::alarm_hold
    half_missing,      ///< more than half have vanished; see FleetRules::alarm_hold
};
inline constexpr std::size_t view_hold_count = 10;  ///< number of values of ViewHold

/// The name of the enumerator.
constexpr std::string_view to_string(ViewHold hold) noexcept {
    constexpr std::string_view names[view_hold_count] = {
        "none",      "unknown", "no_active_member", "wait_for_size", "away", "debounce",
        "hold_down", "empty",   "self_missing",     "half_missing"};
    return names[static_cast<std::size_t>(hold)];
}
/// Whether an operator should look: the view is held although the members are visible.
constexpr bool is_alarm(ViewHold hold) noexcept {
    return hold == ViewHold::empty || hold == ViewHold::self_missing ||
           hold == ViewHold::half_missing;
}

}  // namespace k8s_sd::inline v0
