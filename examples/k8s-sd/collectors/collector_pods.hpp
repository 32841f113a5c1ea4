#pragma once

#include "k8s_sd/api/pod.hpp"
#include "lists/collectors.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

/// Which pods of collectors have targets: those that have a node, and are ready or have not been
/// unready for long. Since when, the pod says: so it is the same in every replica, and after a
/// restart. Not thread-safe; has no clock.
class CollectorPods {
 public:
    using TimePoint = std::chrono::system_clock::time_point;

    /// \param grace  how long an unready pod keeps its targets
    explicit CollectorPods(std::chrono::nanoseconds grace)
        : grace_(std::chrono::duration_cast<TimePoint::duration>(grace)) {}

    void set(const k8s_sd::api::Pod&, TimePoint now);
    void remove(const k8s_sd::api::Pod&);

    std::vector<Collector> members(TimePoint now) const;
    /// The others.
    std::set<std::string, std::less<>> idle(TimePoint now) const;
    /// When a member ceases to be one although nothing happens; nullopt: never.
    std::optional<TimePoint> next_change(TimePoint now) const;

 private:
    /// When a pod ceased to be ready.
    struct Unready {
        std::string uid;                          ///< another pod of the name begins anew
        std::optional<k8s_sd::api::Time> told{};  ///< by the pod
        TimePoint since{};                        ///< the same, but not later than it was seen
    };
    struct State {
        std::string node;
        bool ended = false;
        std::optional<Unready> unready{};
    };

    TimePoint end_of(const State&) const;

    const TimePoint::duration grace_;
    std::map<std::string, State> pods_;
};

}  // namespace bridge
