#include "k8s_sd/cache/reference_sets.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

void ReferenceSets::set(std::string_view key, const std::set<ObjectName>& objects) {
    References references;
    const std::lock_guard lock(mutex_);
    const auto known = sets_.find(key);
    // Add all new references first: if a name is invalid, nothing has changed.
    for (const ObjectName& object : objects) {
        if (known != sets_.end() && known->second.contains(object)) continue;
        references.emplace(object, cache_.add_reference(object.ns, object.name));
    }
    if (known == sets_.end()) {
        sets_.emplace(key, std::move(references));
        return;
    }
    for (auto& [object, reference] : known->second) {
        if (objects.contains(object)) references.emplace(object, std::move(reference));
    }
    known->second = std::move(references);
}

void ReferenceSets::erase(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto known = sets_.find(key);
    if (known != sets_.end()) sets_.erase(known);
}

std::size_t ReferenceSets::size() const {
    const std::lock_guard lock(mutex_);
    return sets_.size();
}

std::set<ObjectName> ReferenceSets::objects_of(std::string_view key) const {
    std::set<ObjectName> objects;
    const std::lock_guard lock(mutex_);
    const auto known = sets_.find(key);
    if (known == sets_.end()) return objects;
    for (const auto& [object, reference] : known->second) objects.insert(object);
    return objects;
}

}  // namespace k8s_sd::inline v0
