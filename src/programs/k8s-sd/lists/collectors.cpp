#include "lists/collectors.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd_program {

namespace {

std::vector<Collector> sorted(std::vector<Collector> members) {
    std::sort(members.begin(), members.end());
    return members;
}

std::vector<std::string> names_of(const std::vector<Collector>& members) {
    std::vector<std::string> names;
    for (const Collector& member : members) names.push_back(member.name);
    return names;
}

}  // namespace

Collectors::Collectors(std::vector<Collector> members, const Options& options)
    : members_(sorted(std::move(members))), options_(options) {
    if (members_.empty()) return;
    if (options.allocation == Allocation::consistent_hashing || options.fallback) {
        hashing_.emplace(names_of(members_));
    }
    if (options.allocation != Allocation::per_node) return;
    for (const Collector& member : members_) {
        if (!member.node.empty()) by_node_.try_emplace(member.node, &member);
    }
}

bool Collectors::contains(std::string_view name) const noexcept {
    const auto it =
        std::lower_bound(members_.begin(), members_.end(), name,
                         [](const Collector& member, auto wanted) { return member.name < wanted; });
    return it != members_.end() && it->name == name;
}

const Collector* Collectors::owner(const ListedTarget& target) const noexcept {
    if (const auto it = by_node_.find(target.node); it != by_node_.end()) return it->second;
    return hashing_ ? &members_[hashing_->owner(target.share_key.value_or(0))] : nullptr;
}

bool AllocationView::contains(std::string_view name) const noexcept {
    return std::any_of(allocations_.begin(), allocations_.end(),
                       [&](const auto& collectors) { return collectors->contains(name); });
}

std::vector<std::string_view> AllocationView::owners(const ListedTarget& target) const {
    std::vector<std::string_view> owners;
    for (const CollectorsPtr& collectors : allocations_) {
        const Collector* owner = collectors->owner(target);
        if (owner && std::find(owners.begin(), owners.end(), owner->name) == owners.end()) {
            owners.push_back(owner->name);
        }
    }
    return owners;
}

}  // namespace k8s_sd_program
