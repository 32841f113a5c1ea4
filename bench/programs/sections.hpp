#pragma once

#include "server.hpp"

#include <cstddef>

/// The measurements of each part of the benchmark; docs/internals/benchmarks.md describes them.
namespace bench {

/// The cluster discovered by all parts.
struct ServedPods {
    Server server;  ///< sends one change at a time
    std::size_t pods = 0;

    std::size_t targets() const noexcept { return pods * 3; }
    /// Shards of about 1 500 targets.
    std::size_t shards() const noexcept;
};

void measure_latency(const ServedPods&);
void measure_requests(const ServedPods&);
void measure_polls(const ServedPods&);
void measure_changes(const ServedPods&);
void measure_memory(const ServedPods&);
void measure_page(const ServedPods&);

/// Prints a measurement, and its ratio to the floor if one is given.
void print(const char* what, double value, const char* unit, double floor = 0);

}  // namespace bench
