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

/// Which pods of collectors have targets: those that run, and are ready or have not been unready
/// for long. Not thread-safe; has no clock.
class CollectorPods {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// \param grace  how long an unready pod keeps its targets
    explicit CollectorPods(std::chrono::nanoseconds grace) : grace_(grace) {}

    void set(const k8s_sd::api::Pod&, TimePoint now);
    void remove(const k8s_sd::api::Pod&);

    std::vector<Collector> members(TimePoint now) const;
    /// The others.
    std::set<std::string, std::less<>> idle(TimePoint now) const;
    /// When a member ceases to be one although nothing happens; nullopt: never.
    std::optional<TimePoint> next_change(TimePoint now) const;

 private:
    struct State {
        std::string node;
        bool ended = false;
        std::optional<TimePoint> unready_since;
    };

    TimePoint end_of(const State&) const;

    const std::chrono::nanoseconds grace_;
    std::map<std::string, State> pods_;
};

}  // namespace bridge
