#pragma once

#include "lists/consistent_hashing.hpp"
#include "lists/listed_target.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program {

/// A collector with allocated targets.
struct Collector {
    std::string name{};  ///< its `collector_id`: the name of its pod
    std::string node{};  ///< of this pod; empty: unknown
    auto operator<=>(const Collector&) const = default;
};

/// The allocation strategy, by its name in the OpenTelemetry operator.
enum class Allocation : std::uint8_t {
    consistent_hashing,  ///< by the address before relabelling
    per_node,            ///< to the collector on the target's node
};

/// The owners of targets. Immutable; thread-safe.
class Collectors {
 public:
    struct Options {
        Allocation allocation = Allocation::consistent_hashing;
        /// For Allocation::per_node: whether a target without a collector on its node, or without a
        /// node, is allocated by consistent hashing. Otherwise it has no owner.
        bool fallback = false;
    };

    /// \param members  in any order, each name once
    Collectors(std::vector<Collector> members, const Options&);

    /// Sorted by name.
    const std::vector<Collector>& members() const noexcept { return members_; }
    bool contains(std::string_view name) const noexcept;
    /// Null: the target has no owner.
    const Collector* owner(const ListedTarget&) const noexcept;

 private:
    const std::vector<Collector> members_;
    const Options options_;
    std::optional<ConsistentHashing> hashing_;
    std::map<std::string_view, const Collector*> by_node_;  ///< points into members_
};

using CollectorsPtr = std::shared_ptr<const Collectors>;

/// The present allocation, and earlier ones during a handover: the previous owner of a target keeps
/// it until the new owner scrapes it. Immutable; thread-safe.
class AllocationView {
 public:
    /// \param allocations  the present one first; at least one
    explicit AllocationView(std::vector<CollectorsPtr> allocations)
        : allocations_(std::move(allocations)) {}

    const Collectors& present() const noexcept { return *allocations_.front(); }
    /// Whether the collector has targets, or may have some.
    bool contains(std::string_view name) const noexcept;
    /// The owners of the target, each once.
    std::vector<std::string_view> owners(const ListedTarget&) const;

 private:
    const std::vector<CollectorsPtr> allocations_;
};

using AllocationViewPtr = std::shared_ptr<const AllocationView>;

}  // namespace k8s_sd_program
