#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The label shared by the Leases of a fleet.
inline constexpr std::string_view fleet_label = "k8s-sd/fleet";
/// The annotation with the state announced by a member.
inline constexpr std::string_view member_state_annotation = "k8s-sd/state";

/// The content of a member's Lease.
struct LeaseRecord {
    std::string fleet{};
    std::string ns{};
    std::string member{};
    MemberState state = MemberState::joining;
    Duration duration{};
    std::string pod_uid{};  ///< of the pod named `member`, the owner; empty: no owner
};

/// The name of a member's Lease.
std::string lease_name(const LeaseRecord&);
/// The JSON of the Lease.
/// \param version  the version to replace; empty: create
std::string lease_text(const LeaseRecord&, std::string_view version,
                       std::chrono::system_clock::time_point renewed);

/// The response to a request for a Lease.
struct LeaseAnswer {
    std::string version{};  ///< of the Lease; empty: the response has none
    std::string message{};  ///< of a Status
};
LeaseAnswer read_lease_answer(std::string_view body);

/// A Lease as seen by other members.
struct LeaseSight {
    std::string member{};  ///< empty: released
    MemberState state = MemberState::active;
    Duration duration{};
    std::string renewed{};  ///< changes with each renewal; never compared with a clock
};
LeaseSight read_lease(const Generic&);

}  // namespace k8s_sd::inline v0::detail
