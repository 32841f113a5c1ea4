#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// The greatest hash of the range; the exclusive bound 2^64 does not fit into 64 bits.
std::uint64_t greatest(const HashRange& range) noexcept { return range.last - 1; }

/// "0x00000000000000ff"
std::string hash_text(std::uint64_t hash) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "0x";
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[hash >> shift & 15U];
    return text;
}

std::string end_text(const HashRange& range) {
    return range.last == 0 ? "0x10000000000000000" : hash_text(range.last);
}

std::vector<HashRange> joined(std::vector<HashRange> ranges) {
    std::sort(ranges.begin(), ranges.end());
    std::vector<HashRange> result;
    for (const HashRange& range : ranges) {
        const bool apart =
            result.empty() || (result.back().last != 0 && result.back().last < range.first);
        if (apart) {
            result.push_back(range);
        } else if (greatest(result.back()) < greatest(range)) {
            result.back().last = range.last;
        }
    }
    return result;
}

}  // namespace

ObjectShare::ObjectShare(std::vector<HashRange> ranges) {
    if (ranges.empty()) throw ConfigError("share", "has no range, and so no object");
    for (const HashRange& range : ranges) {
        if (range.first <= greatest(range)) continue;
        throw ConfigError("share", "the range from " + hash_text(range.first) + " to " +
                                       end_text(range) + " does not begin before it ends");
    }
    ranges_ = joined(std::move(ranges));
    if (ranges_.size() > max_ranges) {
        throw ConfigError("share", "has " + std::to_string(ranges_.size()) + " ranges; at most " +
                                       std::to_string(max_ranges) + " are allowed");
    }
    if (ranges_.front() == HashRange()) ranges_.clear();
}

ObjectShare ObjectShare::part(std::uint64_t index, std::uint64_t count) {
    if (index >= count) {
        throw ConfigError("share", "there is no part " + std::to_string(index) + " of " +
                                       std::to_string(count) + "; the first one is 0");
    }
    if (count == 1) return {};
    // 2^64 / count, rounded down.
    const std::uint64_t max_hash = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t size = max_hash / count + (max_hash % count == count - 1 ? 1 : 0);
    return ObjectShare({{index * size, index + 1 == count ? 0 : (index + 1) * size}});
}

bool ObjectShare::contains(std::string_view uid) const noexcept {
    if (is_all()) return true;
    const std::uint64_t hash = detail::fnv1a64(uid);
    const auto behind =
        std::upper_bound(ranges_.begin(), ranges_.end(), hash,
                         [](std::uint64_t h, const HashRange& range) { return h < range.first; });
    return behind != ranges_.begin() && hash <= greatest(*std::prev(behind));
}

double ObjectShare::fraction() const noexcept {
    constexpr double all = 18446744073709551616.0;  // 2^64
    if (is_all()) return 1;
    double sum = 0;
    // An unsigned difference that wraps around is still right: no range here covers all hashes.
    for (const HashRange& range : ranges_) sum += static_cast<double>(range.last - range.first);
    return sum / all;
}

std::string ObjectShare::selector() const {
    std::string text;
    for (const HashRange& range : ranges_) {
        if (!text.empty()) text += " || ";
        text += "shardRange(object.metadata.uid, '" + hash_text(range.first) + "', '" +
                end_text(range) + "')";
    }
    return text;
}

}  // namespace k8s_sd::inline v0
