#include "table/target_owners.hpp"

#include "lists/consistent_hashing.hpp"
#include "lists/listed_target.hpp"

#include <utility>

namespace k8s_sd_program {

std::vector<std::string_view> collectors_of(const TargetRow& row, const AllocationView& view) {
    ListedTarget target;
    target.share_key = ConsistentHashing::key_of(row.address);
    target.node = row.node;
    return view.owners(target);
}

std::vector<std::string> shard_names(unsigned shards) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < shards; ++i) names.push_back(std::to_string(i));
    return names;
}

void TargetOwners::divide(unsigned shards, unsigned replicas) {
    shards_.emplace(shard_names(shards));
    replicas_ = replicas;
}

void TargetOwners::write(JsonWriter& json, const TargetRow& row, const std::string& job) const {
    if (row.state != TargetState::active) return;
    if (shards_) {
        json.name("owners");
        if (const auto key = share_key_of(*row.target, job)) {
            json.begin('[');
            for (const std::string_view name : shards_->owners(*key, replicas_)) json.raw(name);
            json.end(']');
        } else {
            json.value("all");
        }
    }
    if (!allocates_) return;
    json.name("collectors");
    if (!collectors_) {
        json.null();
        return;
    }
    json.begin('[');
    for (const std::string_view name : collectors_of(row, *collectors_)) json.value(name);
    json.end(']');
}

}  // namespace k8s_sd_program
