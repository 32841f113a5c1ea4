#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/sharing/matching_views.hpp"

#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

std::uint16_t MatchingViews::id_of(const ViewSet& set) {
    if (const auto id = table_.id_of(set)) return *id;
    if (misses_++ % sets_per_scan == 0) free_unused();
    return table_.id_of(set).value_or(ObjectTag::apart);
}

void MatchingViews::keep_apart(const ObjectPtr& object, const ViewSet& set) {
    apart_.insert_or_assign(object.get(), std::pair(object, set));
}

bool MatchingViews::has(const Object& object, std::size_t number) const noexcept {
    const std::uint16_t id = ObjectTag::of(object);
    if (id != ObjectTag::apart) return table_.has(id, number);
    const auto it = apart_.find(&object);
    return it != apart_.end() && it->second.second.has(number);
}

void MatchingViews::add_to(ViewSet& views, const Object& object) const {
    const std::uint16_t id = ObjectTag::of(object);
    if (id != ObjectTag::apart) return views.add(table_.set_of(id));
    const auto it = apart_.find(&object);
    if (it != apart_.end()) views.add(it->second.second);
}

void MatchingViews::free_unused() {
    std::vector<bool> used(ViewSetTable::capacity + 2);
    for_each_([&](const ObjectPtr& object) { used[ObjectTag::of(*object)] = true; });
    table_.keep_only(used);
    crowded_ = table_.size() > ViewSetTable::capacity - sets_per_scan;
    if (!crowded_) misses_ = 0;
    // No view or store has these objects any longer.
    boost::unordered::erase_if(
        apart_, [](const auto& entry) { return entry.second.first->use_count() == 1; });
}

void MatchingViews::clear() {
    table_.clear();
    apart_.clear();
    misses_ = 0;
    crowded_ = false;
}

}  // namespace k8s_sd::inline v0::detail
