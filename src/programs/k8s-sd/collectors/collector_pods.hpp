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

namespace k8s_sd_program {

/// Decides which pods of collectors have targets: those with a node, if they are ready or have not
/// been unready for long. The time comes from the pod, so it is the same in every replica, and
/// after a restart. Not thread-safe; has no clock.
class CollectorPods {
 public:
    using TimePoint = std::chrono::system_clock::time_point;

    /// \param grace  how long an unready pod keeps its targets
    explicit CollectorPods(std::chrono::nanoseconds grace)
        : grace_(std::chrono::duration_cast<TimePoint::duration>(grace)) {}

    void set(const k8s_sd::api::Pod&, TimePoint now);
    void remove(const k8s_sd::api::Pod&);

    std::vector<Collector> members(TimePoint now) const;
    /// The collectors without targets.
    std::set<std::string, std::less<>> idle(TimePoint now) const;
    /// When time alone removes a member; nullopt: never.
    std::optional<TimePoint> next_change(TimePoint now) const;

 private:
    /// When a pod became unready.
    struct Unready {
        std::string uid;                              ///< a new pod of the same name starts anew
        std::optional<k8s_sd::api::Time> recorded{};  ///< as recorded in the pod
        TimePoint since{};                            ///< likewise, but not later than first seen
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

}  // namespace k8s_sd_program
