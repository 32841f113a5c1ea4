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
    std::uint64_t first = 0;  ///< the least hash of the range
    std::uint64_t last = 0;   ///< behind the greatest one; 0: 2^64, the end of all hashes
    auto operator<=>(const HashRange&) const = default;
};

/// A share of the objects of a kind: those whose uid has a hash (FNV-1a with 64 bits) in some
/// ranges. An object never changes its share. Replicas of a program that have a share each have
/// all objects together, and each of them once. Immutable, compared by value.
class K8S_SD_EXPORT ObjectShare {
 public:
    /// The most ranges of a share, so that requests stay short.
    static constexpr std::size_t max_ranges = 64;

    /// All objects.
    ObjectShare() = default;
    /// Ranges that touch or overlap become one.
    /// \throws ConfigError without a range, for one that does not begin before it ends, and for
    ///         more than max_ranges that are left
    explicit ObjectShare(std::vector<HashRange> ranges);
    /// One of `count` shares of the same size, which are everything together.
    /// \param index  from 0 to count - 1 \throws ConfigError for any other
    static ObjectShare part(std::uint64_t index, std::uint64_t count);

    /// Whether it has all objects.
    bool is_all() const noexcept { return ranges_.empty(); }
    /// Whether it has the object of that metadata.uid.
    bool contains(std::string_view uid) const noexcept;
    /// The part of all hashes that it has, more than 0 and at most 1: about the part of the
    /// objects.
    double fraction() const noexcept;
    /// In their order, with a gap between any two. Empty: all objects.
    const std::vector<HashRange>& ranges() const noexcept { return ranges_; }
    /// As the parameter shardSelector of the API server (KEP-5866) has it, in the spelling in which
    /// the server repeats it; empty for all objects.
    std::string selector() const;

    auto operator<=>(const ObjectShare&) const = default;

 private:
    std::vector<HashRange> ranges_;
};

}  // namespace k8s_sd::inline v0
