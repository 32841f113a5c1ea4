#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// Hashes from `first` up to `last`, without `last` itself.
struct HashRange {
    std::uint64_t first = 0;  ///< inclusive lower bound
    std::uint64_t last = 0;   ///< exclusive upper bound; 0 means 2^64
    auto operator<=>(const HashRange&) const = default;
};

/// A share of the objects of a kind, selected by ranges of a hash of their uid (FNV-1a, 64 bits).
/// An object never changes its share. Replicas of a program, each with its own share, together have
/// all objects, each of them once. Immutable, compared by value.
class K8S_SD_EXPORT ObjectShare {
 public:
    /// Maximum number of ranges of a share, to keep requests short.
    static constexpr std::size_t max_ranges = 64;

    /// All objects.
    ObjectShare() = default;
    /// Ranges that touch or overlap are merged.
    /// \throws ConfigError without a range, for an empty or reversed range, and for more than
    ///         max_ranges ranges after merging
    explicit ObjectShare(std::vector<HashRange> ranges);
    /// One of `count` shares of equal size; together they have all objects.
    /// \param index  from 0 to count - 1 \throws ConfigError for any other index
    static ObjectShare part(std::uint64_t index, std::uint64_t count);

    /// Whether the share has all objects.
    bool is_all() const noexcept { return ranges_.empty(); }
    /// Whether the object with this metadata.uid is in the share.
    bool contains(std::string_view uid) const noexcept;
    /// The fraction of all hashes in the share, more than 0 and at most 1: about the fraction of
    /// the objects.
    double fraction() const noexcept;
    /// The ranges in order, with a gap between any two. Empty: all objects.
    const std::vector<HashRange>& ranges() const noexcept { return ranges_; }
    /// The parameter shardSelector of the API server (KEP-5866), in the server's own spelling;
    /// empty for all objects.
    std::string selector() const;

    auto operator<=>(const ObjectShare&) const = default;

 private:
    std::vector<HashRange> ranges_;
};

}  // namespace k8s_sd::inline v0
