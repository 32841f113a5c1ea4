#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace bench {

using k8s_sd::Duration;

/// How fast a cluster does what it does: the same for the library and for the models.
struct Pace {
    Duration pod_start = std::chrono::seconds(10);    ///< from a new pod to its process
    Duration sync = std::chrono::seconds(2);          ///< models: from there to the first scrapes
    Duration probe_period = std::chrono::seconds(5);  ///< of the readiness probe
    Duration probe_fails = std::chrono::seconds(10);  ///< until a dead process is not ready
    Duration node_fails = std::chrono::seconds(50);   ///< until pods of a dead node are not ready
    Duration eviction = std::chrono::seconds(350);    ///< until their eviction
    Duration restart = std::chrono::seconds(60);      ///< from a crash to the next process
    Duration min_ready = std::chrono::seconds(10);    ///< between two pods of an update
    Duration drain = std::chrono::seconds(45);        ///< library: a process goes on after SIGTERM
    Duration interval = std::chrono::seconds(15);     ///< of scrapes
};

/// Something that happens to a fleet.
struct Step {
    enum class What {
        restart,    ///< all members, one after the other
        scale,      ///< to `value` members
        crash,      ///< of member `value`, which is restarted
        lose_node,  ///< of member `value`, for good
        api_away,   ///< nobody can ask the API server
        api_back,
        cut,  ///< the first `value` members cannot ask it
        uncut,
    };
    Duration at;
    What what;
    unsigned value = 0;
};

/// What happens to a fleet, from when it is quiet until it is quiet again.
struct Plan {
    std::string name;
    std::string text;  ///< in a sentence
    unsigned members = 10;
    unsigned replicas = 1;
    Duration slowest{};  ///< members see everything up to so much later, each by its own delay
    std::vector<Step> steps;
    Duration length;
};

/// The scenarios of the tables.
std::vector<Plan> plans();
/// One joins, and later one crashes: what can be done with any number of members.
Plan small_plan(unsigned members);

}  // namespace bench
