#pragma once

#include "child.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace bench::soak {

/// A simulated server in a child process, whose virtual time passes in steps of five minutes, each
/// with changes: rollouts, drained nodes, heartbeats, ends of watches, and each hour the loss of
/// the history (410), so that every client lists again.
struct Server : Child {
    unsigned short port = 0;

    /// Lets a step pass. Its last change is the label `step` of the pod `marker_name`: its number.
    void pass_step() const;
};
Server serve(std::size_t pods);

inline constexpr std::chrono::minutes step_time{5};
inline const std::string marker_name = "marker";

}  // namespace bench::soak
