#include "k8s_sd/cache/reference_sets.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

void ReferenceSets::register_owner(std::string_view owner, const std::set<ObjectName>& objects) {
    References references;
    const std::lock_guard lock(mutex_);
    const auto known = owners_.find(owner);
    // All new ones first: a wrong name among them changes nothing.
    for (const ObjectName& object : objects) {
        if (known != owners_.end() && known->second.contains(object)) continue;
        references.emplace(object, cache_.add_reference(object.ns, object.name));
    }
    if (known == owners_.end()) {
        owners_.emplace(owner, std::move(references));
        return;
    }
    for (auto& [object, reference] : known->second) {
        if (objects.contains(object)) references.emplace(object, std::move(reference));
    }
    known->second = std::move(references);
}

void ReferenceSets::unregister_owner(std::string_view owner) {
    const std::lock_guard lock(mutex_);
    const auto known = owners_.find(owner);
    if (known != owners_.end()) owners_.erase(known);
}

std::size_t ReferenceSets::size() const {
    const std::lock_guard lock(mutex_);
    return owners_.size();
}

std::set<ObjectName> ReferenceSets::objects_of(std::string_view owner) const {
    std::set<ObjectName> objects;
    const std::lock_guard lock(mutex_);
    const auto known = owners_.find(owner);
    if (known == owners_.end()) return objects;
    for (const auto& [object, reference] : known->second) objects.insert(object);
    return objects;
}

}  // namespace k8s_sd::inline v0
