#pragma once

#include "k8s_sd/detail/fleet/lease_text.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

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
