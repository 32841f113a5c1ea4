#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/generic.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The label by which members of a fleet find each other's Leases.
inline constexpr std::string_view fleet_label = "k8s-sd/fleet";
/// The annotation that says what a member is about to do.
inline constexpr std::string_view member_state_annotation = "k8s-sd/state";

/// What the Lease of a member says.
struct LeaseRecord {
    std::string fleet{};
    std::string ns{};
    std::string member{};
    MemberState state = MemberState::joining;
    Duration duration{};
    std::string pod_uid{};  ///< of the pod named `member`, which owns it; empty: nothing owns it
};

/// The name of a member's Lease.
std::string lease_name(const LeaseRecord&);
/// The JSON of the Lease.
/// \param version  that is replaced; empty: it is new
std::string lease_text(const LeaseRecord&, std::string_view version,
                       std::chrono::system_clock::time_point renewed);

/// What an answer to a request for a Lease says.
struct LeaseAnswer {
    std::string version{};  ///< of the Lease; empty: it is none
    std::string message{};  ///< of a Status
};
LeaseAnswer read_lease_answer(std::string_view body);

/// What others see of a Lease.
struct LeaseSight {
    std::string member{};  ///< empty: it was released
    MemberState state = MemberState::active;
    Duration duration{};
    std::string renewed{};  ///< changes with each renewal; never compared with a clock
};
LeaseSight read_lease(const Generic&);

}  // namespace k8s_sd::inline v0::detail
