#include "k8s_sd/detail/base/utf8.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/xxh64.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/sharding.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using Label = MutableLabels::Label;

void append(std::string& key, const Label& label) {
    key += label.name;
    key += '=';
    key += label.value;
    key += ',';
}

/// A bijection that spreads every bit of its argument over the whole result (the finalizer of
/// SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// Member and key give a weight that looks random; a new member changes no other one's weight.
std::vector<unsigned> heaviest_members(std::uint64_t hash, unsigned members, unsigned count) {
    std::vector<std::pair<std::uint64_t, unsigned>> weights;
    weights.reserve(members);
    for (unsigned i = 0; i < members; ++i) weights.emplace_back(mix(hash ^ mix(i + 1)), i);
    const auto end = weights.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(weights.begin(), end, weights.end(), std::greater<>());
    std::vector<unsigned> owners;
    for (auto it = weights.begin(); it != end; ++it) owners.push_back(it->second);
    return owners;
}

}  // namespace

unsigned parse_shard_member(std::string_view text) {
    const std::string_view digits = text.substr(text.rfind('-') + 1);
    unsigned number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        throw ConfigError("sharding.member",
                          "must be a number from 0, or a name that ends in one, such as agent-3");
    }
    return number;
}

Sharding::Sharding(ShardingOptions options) : options_(std::move(options)) {
    if (options_.members == 0) throw ConfigError("sharding.members", "must be at least 1");
    if (options_.member >= options_.members) {
        throw ConfigError("sharding.member",
                          "must be less than members (" + std::to_string(options_.members) + ")");
    }
    if (!options_.member_label.empty() &&
        (options_.member_label.starts_with("__") ||
         !detail::is_label_name(options_.member_label, NameValidation::utf8))) {
        throw ConfigError("sharding.member_label",
                          "must be the name of a label, not beginning with __");
    }
    if (!detail::is_utf8(options_.member_name)) {
        throw ConfigError("sharding.member_name", "is not UTF-8");
    }
    if (options_.member_name.empty()) options_.member_name = std::to_string(options_.member);
    options_.replication_factor = std::clamp(options_.replication_factor, 1U, options_.members);
    std::sort(options_.shard_by_labels.begin(), options_.shard_by_labels.end());
}

std::string Sharding::key(std::span<const Label> labels) const {
    std::string key;
    for (const std::string& name : options_.shard_by_labels) {
        if (const Label* label = MutableLabels::find(labels, name)) append(key, *label);
    }
    if (!key.empty()) return key;
    if (options_.rule == ShardingRule::modulo) {
        for (const Label& label : labels) append(key, label);
        return key;
    }
    // Free of the order in which labels happen to come.
    std::vector<Label> sorted(labels.begin(), labels.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const Label& a, const Label& b) { return a.name < b.name; });
    for (const Label& label : sorted) append(key, label);
    return key;
}

std::vector<unsigned> Sharding::owners(std::string_view key) const {
    const std::uint64_t hash = detail::xxh64(key);
    const unsigned count = options_.replication_factor;
    if (options_.rule == ShardingRule::rendezvous) {
        return heaviest_members(hash, options_.members, count);
    }
    std::vector<unsigned> owners;
    const auto first = static_cast<unsigned>(hash % options_.members);
    for (unsigned i = 0; i < count; ++i) owners.push_back((first + i) % options_.members);
    return owners;
}

bool Sharding::owns(std::span<const Label> labels) const {
    if (options_.members == 1) return true;
    const std::vector<unsigned> all = owners(key(labels));
    return std::find(all.begin(), all.end(), options_.member) != all.end();
}

}  // namespace k8s_sd::inline v0
