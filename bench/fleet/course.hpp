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

/// Seconds since the start of the plan; negative before it.
using Seconds = double;

inline Seconds seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

/// The owner of a key, as one process computes it.
using OwnerOf = std::function<unsigned(std::uint64_t key)>;
using OwnerRule = std::shared_ptr<const OwnerOf>;

/// The processes of a modelled fleet: when each runs, and the owners it assumes.
class Course {
 public:
    /// From `at` on, the process of this member scrapes the targets it owns by this rule.
    void start(unsigned member, Seconds at, OwnerRule);
    void stop(unsigned member, Seconds at);
    /// From `at` on, the member uses another rule. Has no effect on a member that does not run.
    void follow(unsigned member, Seconds at, OwnerRule);
    /// The outcome for this number of targets, from 0 to `length`.
    Outcome outcome(Seconds length, std::size_t targets) const;

 private:
    /// The rule in force from each time on; without a rule, the process scrapes nothing.
    using Rules = std::map<Seconds, OwnerRule>;
    std::map<unsigned, Rules> members_;
};

/// The first time from `at` on at which the member can reach the API server.
Seconds can_ask(const Plan&, unsigned member, Seconds at);

/// A number per target, as evenly distributed as a hash.
std::uint64_t key_of(std::size_t target) noexcept;
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept;

// ---- models of other projects in the same events
// ------------------------------------------------------------

/// vmagent: hash modulo the number of members, which is configured.
Outcome model_of_vmagent(const Plan&, const Pace&, std::size_t targets);
/// Grafana Alloy: a hash ring of tokens, membership by gossip.
Outcome model_of_alloy(const Plan&, const Pace&, std::size_t targets);
/// prometheus-operator: shards by hashmod, each a StatefulSet.
Outcome model_of_prometheus_operator(const Plan&, const Pace&, std::size_t targets);
/// OpenTelemetry Target Allocator: one process assigns, collectors request their targets.
Outcome model_of_target_allocator(const Plan&, const Pace&, std::size_t targets);

}  // namespace bench
