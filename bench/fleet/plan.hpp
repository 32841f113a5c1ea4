#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace bench {

using k8s_sd::Duration;

/// The delays of the cluster, equal for the library and for the models.
struct Pace {
    Duration pod_start = std::chrono::seconds(10);    ///< from a new pod to its process
    Duration sync = std::chrono::seconds(2);          ///< models: from there to the first scrapes
    Duration probe_period = std::chrono::seconds(5);  ///< of the readiness probe
    Duration probe_fails = std::chrono::seconds(10);  ///< until a dead process becomes unready
    Duration node_fails = std::chrono::seconds(50);   ///< until pods of a dead node become unready
    Duration eviction = std::chrono::seconds(350);    ///< until their deletion is requested
    Duration restart = std::chrono::seconds(60);      ///< from a crash to the next process
    Duration min_ready = std::chrono::seconds(10);    ///< between two pods of an update
    /// library: a process continues after SIGTERM
    Duration drain = std::chrono::seconds(45);
    Duration interval = std::chrono::seconds(15);  ///< of scrapes
};

/// An event in a fleet.
struct Step {
    enum class What {
        restart,    ///< all members, one after the other
        scale,      ///< to `value` members
        crash,      ///< of member `value`, which is restarted
        lose_node,  ///< of member `value`, permanently
        api_away,   ///< no member can reach the API server
        api_back,
        cut,  ///< the first `value` members cannot reach it
        uncut,
    };
    Duration at;
    What what;
    unsigned value = 0;
};

/// A sequence of events, from one quiet state of the fleet to the next.
struct Plan {
    std::string name;
    std::string text;  ///< in a sentence
    unsigned members = 10;
    unsigned replicas = 1;
    Duration slowest{};  ///< each member sees everything with its own delay, up to this one
    std::vector<Step> steps;
    Duration length;
};

/// The scenarios of the tables.
std::vector<Plan> plans();
/// One member joins, and later one crashes: possible with any number of members.
Plan small_plan(unsigned members);

}  // namespace bench
