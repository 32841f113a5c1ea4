#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Tracks the Leases of a fleet. As in client-go, a Lease expires when it has not changed for its
/// duration by the observer's own clock; the timestamps in it are ignored.
class LeaseSights {
 public:
    explicit LeaseSights(std::string self) : self_(std::move(self)) {}

    /// \param name  of the Lease
    /// \param is_news  it was created or renewed now; false: it is from the first list, and its
    ///                 member may be dead
    void put(const std::string& name, LeaseSight, bool is_news, TimePoint now);
    void remove(const std::string& name) { seen_.erase(name); }
    void clear() { seen_.clear(); }
    /// Whether this member's own renewals are seen. Otherwise missing renewals of others prove
    /// nothing.
    bool sees_itself(TimePoint now) const;
    /// Whether every Lease was either renewed within sight or has expired.
    bool is_whole(TimePoint now) const;
    /// Marks Leases as expired after a time with visible renewals; they stay expired until renewed.
    void expire(TimePoint now);
    /// After an outage: unexpired Leases count as just renewed.
    void begin_again(TimePoint now);
    /// The members with unexpired Leases.
    std::vector<FleetMember> members(TimePoint now) const;
    /// The next time of an expiry; nullopt: none.
    std::optional<TimePoint> next_expiry(TimePoint now) const;

 private:
    struct Seen {
        LeaseSight sight;
        TimePoint changed;
        bool proven = false;  ///< a renewal was observed
        bool expired = false;
    };
    static TimePoint end_of(const Seen&) noexcept;
    static bool is_alive(const Seen&, TimePoint now) noexcept;

    const std::string self_;
    std::map<std::string, Seen> seen_;
};

}  // namespace k8s_sd::inline v0::detail
