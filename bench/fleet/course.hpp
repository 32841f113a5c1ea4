#pragma once

#include "plan.hpp"
#include "tally.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace bench {

/// Seconds since a plan began; below 0: before it.
using Seconds = double;

inline Seconds seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

/// Who owns a key, as one process sees it.
using OwnerOf = std::function<unsigned(std::uint64_t key)>;
using OwnerRule = std::shared_ptr<const OwnerOf>;

/// The processes of a modelled fleet: when each runs, and whom it takes for the owners.
class Course {
 public:
    /// From `at` on the process of this member scrapes what is its own by that rule.
    void start(unsigned member, Seconds at, OwnerRule);
    void stop(unsigned member, Seconds at);
    /// From `at` on it goes by another rule. Of members that do not run it is forgotten.
    void follow(unsigned member, Seconds at, OwnerRule);
    /// What that comes to for so many targets, from 0 to `length`.
    Outcome outcome(Seconds length, std::size_t targets) const;

 private:
    /// From a time on; no rule: it scrapes nothing.
    using Rules = std::map<Seconds, OwnerRule>;
    std::map<unsigned, Rules> members_;
};

/// When somebody who can ask the API server first, from `at` on, can do so.
Seconds can_ask(const Plan&, unsigned member, Seconds at);

/// A number of each target, as even as a hash.
std::uint64_t key_of(std::size_t target) noexcept;
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept;

// ---- what others do in the same events
// ------------------------------------------------------------

/// vmagent: hash modulo the number of members, which is configured.
Outcome model_of_vmagent(const Plan&, const Pace&, std::size_t targets);
/// Grafana Alloy: a ring of tokens, members by gossip.
Outcome model_of_alloy(const Plan&, const Pace&, std::size_t targets);
/// prometheus-operator: shards by hashmod, each a StatefulSet.
Outcome model_of_prometheus_operator(const Plan&, const Pace&, std::size_t targets);
/// OpenTelemetry Target Allocator: one that assigns, members that ask it.
Outcome model_of_target_allocator(const Plan&, const Pace&, std::size_t targets);

}  // namespace bench
