#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// vmagent's sharding: a fixed number of programs with equal configurations share the targets. Each
/// discovers all targets and keeps its own: hash modulo members. A change of the number of members
/// moves nearly every target to another owner; for fleets with changing members see FleetShare.
struct ShardingOptions {
    unsigned members = 1;  ///< number of programs sharing the targets
    unsigned member = 0;   ///< this program's number, from 0
    /// Owners of each target. They scrape it at the same moment, unless each has a seed of its own
    /// for ScrapeTarget::first_scrape_after().
    unsigned replication_factor = 1;
    /// The labels to hash, if a target has any of them; empty: all labels. In a fleet they replace
    /// the URL, too.
    std::vector<std::string> shard_by_labels{};
    /// A label of this name, with the value `member_name`, is added to every target; empty: none.
    std::string member_label{};
    std::string member_name{};  ///< e.g. "agent-3"; empty: the member's number
    auto operator<=>(const ShardingOptions&) const = default;
};

/// A member's number from text: an integer, or the part after the last '-' ("agent-3", like the
/// pods of a StatefulSet).
/// \throws ConfigError with "sharding.member" as where()
K8S_SD_EXPORT unsigned parse_shard_member(std::string_view text);

/// Decides the ownership of targets for this member. Immutable; thread-safe.
class K8S_SD_EXPORT Sharding {
 public:
    Sharding() = default;  ///< a single member; it owns everything
    /// \throws ConfigError with "sharding.<field>" as where()
    explicit Sharding(ShardingOptions);

    /// The options given at construction.
    const ShardingOptions& options() const noexcept { return options_; }
    /// \param labels  after relabelling, without `__meta_*`. Hashed in this order: vmagent has
    ///                first the names from before relabelling, then the labels added by
    ///                relabelling, in the order of their creation.
    bool owns(std::span<const MutableLabels::Label> labels) const;

    /// The hashed text: "name=value," for each relevant label.
    std::string key(std::span<const MutableLabels::Label> labels) const;
    /// The owners of a key, `replication_factor` of them.
    std::vector<unsigned> owners(std::string_view key) const;

 private:
    ShardingOptions options_;
};

}  // namespace k8s_sd::inline v0
