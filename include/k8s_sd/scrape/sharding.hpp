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
/// discovers all and keeps those it owns: hash modulo members. Nearly every target changes its
/// owner when the number of members changes; for fleets that change see FleetShare.
struct ShardingOptions {
    unsigned members = 1;  ///< programs that share the targets
    unsigned member = 0;   ///< this program's number, from 0
    /// Owners of each target. They scrape it at the same moment, unless each has a seed of its own
    /// for ScrapeTarget::first_scrape_after().
    unsigned replication_factor = 1;
    /// Only these labels decide, where a target has any of them; empty: all labels. They decide in
    /// a fleet, too, instead of the URL.
    std::vector<std::string> shard_by_labels{};
    /// A label of this name, with the value `member_name`, is added to every target; empty: none.
    std::string member_label{};
    std::string member_name{};  ///< e.g. "agent-3"; empty: the member's number
    auto operator<=>(const ShardingOptions&) const = default;
};

/// A member's number from text: an integer, or what follows the last '-' ("agent-3", as the pods
/// of a StatefulSet are called).
/// \throws ConfigError where "sharding.member"
K8S_SD_EXPORT unsigned parse_shard_member(std::string_view text);

/// Decides which targets this member owns. Immutable; thread-safe.
class K8S_SD_EXPORT Sharding {
 public:
    Sharding() = default;  ///< a single member, which owns everything
    /// \throws ConfigError where "sharding.<field>"
    explicit Sharding(ShardingOptions);

    /// As they were given.
    const ShardingOptions& options() const noexcept { return options_; }
    /// \param labels  after relabelling, without `__meta_*`. They are hashed in this order:
    ///                vmagent's is that of the names before relabelling, then the labels that
    ///                relabelling made, as they came.
    bool owns(std::span<const MutableLabels::Label> labels) const;

    /// What is hashed: "name=value," for each label that counts.
    std::string key(std::span<const MutableLabels::Label> labels) const;
    /// The members that own what has this key, `replication_factor` of them.
    std::vector<unsigned> owners(std::string_view key) const;

 private:
    ShardingOptions options_;
};

}  // namespace k8s_sd::inline v0
