#include "k8s_sd/detail/groups/object_audiences.hpp"
#include "k8s_sd/detail/objects/object_audience.hpp"

#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

std::uint16_t ObjectAudiences::id_of(const Audience& audience) {
    if (const auto id = table_.id_of(audience)) return *id;
    if (misses_++ % worth_a_look == 0) free_unused();
    return table_.id_of(audience).value_or(ObjectAudience::apart);
}

void ObjectAudiences::keep_apart(const ObjectPtr& object, const Audience& audience) {
    apart_.insert_or_assign(object.get(), std::pair(object, audience));
}

bool ObjectAudiences::has(const Object& object, std::size_t party) const noexcept {
    const std::uint16_t id = ObjectAudience::of(object);
    if (id != ObjectAudience::apart) return table_.has(id, party);
    const auto it = apart_.find(&object);
    return it != apart_.end() && it->second.second.has(party);
}

void ObjectAudiences::free_unused() {
    std::vector<bool> used(AudienceTable::capacity + 2);
    for_each_([&](const ObjectPtr& object) { used[ObjectAudience::of(*object)] = true; });
    table_.keep_only(used);
    crowded_ = table_.size() > AudienceTable::capacity - worth_a_look;
    if (!crowded_) misses_ = 0;
    // No view or store has these objects any longer.
    boost::unordered::erase_if(
        apart_, [](const auto& entry) { return entry.second.first->use_count() == 1; });
}

void ObjectAudiences::clear() {
    table_.clear();
    apart_.clear();
    misses_ = 0;
    crowded_ = false;
}

}  // namespace k8s_sd::inline v0::detail
