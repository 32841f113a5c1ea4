#pragma once

#include "k8s_sd/config.hpp"
#include "scale/server.hpp"

#include <cstddef>

/// The measurements of bench_scale, each in a process of its own.
namespace bench::scale {

/// CPU of the longest handler, in seconds: before the first diff, from its first to its last part
/// and shortly afterwards, with later changes, and with a list that lacks two of five pods.
struct Handlers {
    double sync, first_diff, changes, removals;
};

/// The cost of a host that keeps all targets.
struct Discovered {
    double cpu, memory_mb, peak_mb, groups, targets, label_bytes;
    Handlers longest;
    double node_change, node_groups;  ///< CPU of a change of a node, and the groups it changes
    double relist_cpu;                ///< of a list that lacks two of five pods
    double churn_cpu, p50, p99, longest_latency, changes;
};
/// \param changes  of pods, `rate` a second, before a list that lacks pods; 0: neither
Discovered discover(const Server&, const k8s_sd::DiscoveryConfig&, std::size_t changes,
                    std::size_t rate);

/// The latency of a program that only looks for the time in the bytes of a watch.
struct Latency {
    double p50, p99, longest;
};
Latency floor_of_latency(const Server&, std::size_t changes, std::size_t rate);

/// The cost of jobs with different selectors, in a host that counts their groups.
struct Jobs {
    double cpu, memory_mb, groups;
};
Jobs run_jobs(const Server&, std::size_t pods, std::size_t jobs);

}  // namespace bench::scale
