#pragma once

#include "k8s_sd/detail/fleet/lease_text.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// What is seen of the Leases of a fleet. A Lease has expired when it has not changed for its
/// duration, by the clock of who sees it, as in client-go: what it says of the time never counts.
class LeaseSights {
 public:
    explicit LeaseSights(std::string self) : self_(std::move(self)) {}

    /// \param name  of the Lease
    /// \param is_news  it was created or renewed now; false: it is of the first list, and may be
    /// that
    ///                 of a member which is dead
    void put(const std::string& name, LeaseSight, bool is_news, TimePoint now);
    void remove(const std::string& name) { seen_.erase(name); }
    void clear() { seen_.clear(); }
    /// Whether the own renewals are seen. If not, that the others' are not says nothing.
    bool sees_itself(TimePoint now) const;
    /// Whether it is known of every Lease whether somebody renews it.
    bool is_whole(TimePoint now) const;
    /// Time has passed in which renewals were seen: Leases that have expired stay so until they are
    /// renewed.
    void expire(TimePoint now);
    /// After a time in which nothing could be seen: what had not expired counts as just seen.
    void begin_again(TimePoint now);
    /// Of Leases that have not expired.
    std::vector<FleetMember> members(TimePoint now) const;
    /// When the next one expires; nullopt: there is none.
    std::optional<TimePoint> next_expiry(TimePoint now) const;

 private:
    struct Seen {
        LeaseSight sight;
        TimePoint changed;
        bool proven = false;  ///< a renewal was seen
        bool expired = false;
    };
    static TimePoint end_of(const Seen&) noexcept;
    static bool is_alive(const Seen&, TimePoint now) noexcept;

    const std::string self_;
    std::map<std::string, Seen> seen_;
};

}  // namespace k8s_sd::inline v0::detail
