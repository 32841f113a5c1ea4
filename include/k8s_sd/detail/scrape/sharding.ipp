#include "k8s_sd/detail/relabel/hashes.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/sharding.hpp"

#include <algorithm>
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

}  // namespace

unsigned parse_shard_member(std::string_view text) {
    if (const auto number = detail::trailing_number(text)) return *number;
    throw ConfigError("sharding.member",
                      "must be a number from 0, or a name that ends in one, such as agent-3");
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
    for (const Label& label : labels) append(key, label);
    return key;
}

std::vector<unsigned> Sharding::owners(std::string_view key) const {
    const std::uint64_t hash = detail::xxh64(key);
    std::vector<unsigned> owners;
    const auto first = static_cast<unsigned>(hash % options_.members);
    for (unsigned i = 0; i < options_.replication_factor; ++i) {
        owners.push_back((first + i) % options_.members);
    }
    return owners;
}

bool Sharding::owns(std::span<const Label> labels) const {
    if (options_.members == 1) return true;
    const std::vector<unsigned> all = owners(key(labels));
    return std::find(all.begin(), all.end(), options_.member) != all.end();
}

}  // namespace k8s_sd::inline v0
