#include "table/shard_counts.hpp"

#include "lists/listed_target.hpp"
#include "table/target_owners.hpp"

#include <algorithm>

namespace k8s_sd_program {

ShardCounts::Way::Way(unsigned shards) : view(shard_names(shards)), targets(shards) {}

std::vector<std::size_t> ShardCounts::Way::owners(std::uint64_t key, unsigned replicas) const {
    std::vector<std::size_t> result;
    for (const auto owner : view.owners(key, replicas)) result.push_back(view.index_of(owner));
    return result;
}

/// Ordered by number; the view orders its members by name.
void ShardCounts::Way::write(JsonWriter& json, std::size_t on_all) const {
    json.name("members").begin('[');
    for (const std::string& name : shard_names(static_cast<unsigned>(view.size()))) {
        json.begin('{').member("member", name);
        json.member("targets", targets[view.index_of(name)] + on_all).end('}');
    }
    json.end(']');
}

ShardCounts::ShardCounts(unsigned shards, unsigned replicas, std::optional<unsigned> to)
    : replicas_(replicas), now_(shards) {
    if (to) then_.emplace(*to);
}

/// A target moves if a shard gains it.
void ShardCounts::add(const TargetRow& row, const std::string& job) {
    if (row.state != TargetState::active) return;
    ++total_;
    const auto key = share_key_of(*row.target, job);
    if (!key) {
        ++on_all_;
        return;
    }
    const auto before = now_.owners(*key, replicas_);
    for (const std::size_t owner : before) ++now_.targets[owner];
    if (!then_) return;
    bool moves = false;
    for (const std::size_t owner : then_->owners(*key, replicas_)) {
        ++then_->targets[owner];
        const std::string& name = then_->view.members()[owner];
        const std::size_t index = now_.view.index_of(name);
        moves = moves || std::find(before.begin(), before.end(), index) == before.end();
    }
    if (moves) ++moved_;
}

std::string ShardCounts::text() const {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("shards", now_.view.size()).member("total", total_);
    json.member("on_all", on_all_);
    now_.write(json, on_all_);
    if (then_) {
        json.name("dry_run").begin('{').member("to", then_->view.size()).member("moved", moved_);
        then_->write(json, on_all_);
        json.end('}');
    }
    // Every target has a shard.
    json.name("unassigned").begin('[').end(']').end('}');
    return text;
}

}  // namespace k8s_sd_program
