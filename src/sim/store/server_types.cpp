#include "sim/store/server_types.hpp"

#include "sim/store/lower_case.hpp"

#include <stdexcept>

namespace k8s_sd::inline v0::sim {

namespace {

/// A custom type has one entry for all its versions.
bool has_version(const ResourceType& type, std::string_view api_version) {
    if (!type.custom) return type.api_version() == api_version;
    return api_version.substr(0, api_version.find('/')) == type.group;
}

}  // namespace

ServerTypes::Custom::Custom(const CustomResource& r)
    : resource(r),
      singular(lower_case(r.kind)),
      type{.kind = resource.kind,
           .group = resource.group,
           .version = resource.versions.front(),
           .plural = resource.plural,
           .singular = singular,
           .short_name = {},
           .namespaced = resource.namespaced,
           .fields = {},
           .zero_value = {},
           .custom = true} {}

const ResourceType& ServerTypes::add(const CustomResource& resource) {
    if (resource.group.empty() || resource.kind.empty() || resource.plural.empty() ||
        resource.versions.empty()) {
        throw std::invalid_argument("a custom resource needs a group, a kind, a plural name and "
                                    "a version");
    }
    const std::lock_guard lock(mutex_);
    const ResourceType* known = find([&](const ResourceType& type) {
        return type.group == resource.group && type.plural == resource.plural;
    });
    if (!known) return custom_.emplace_back(resource).type;
    if (known->custom && known->kind == resource.kind && known->namespaced == resource.namespaced)
        return *known;
    throw std::invalid_argument("the server has other " + known->qualified());
}

void ServerTypes::remove(const ResourceType& type) {
    const std::lock_guard lock(mutex_);
    for (Custom& custom : custom_) custom.removed = custom.removed || &custom.type == &type;
}

std::vector<const ResourceType*> ServerTypes::all() const {
    std::vector<const ResourceType*> types;
    const std::lock_guard lock(mutex_);
    find([&](const ResourceType& type) {
        types.push_back(&type);
        return false;
    });
    return types;
}

/// Requires the mutex.
template <class Predicate>
const ResourceType* ServerTypes::find(Predicate predicate, bool removed) const {
    for (const ResourceType& type : resource_types()) {
        if (predicate(type)) return &type;
    }
    for (const Custom& custom : custom_) {
        if (custom.removed == removed && predicate(custom.type)) return &custom.type;
    }
    return nullptr;
}

const ResourceType* ServerTypes::find_by_plural(std::string_view group,
                                                std::string_view plural) const {
    const std::lock_guard lock(mutex_);
    return find([&](const ResourceType& t) { return t.group == group && t.plural == plural; });
}

const ResourceType* ServerTypes::find_by_kind(std::string_view api_version,
                                              std::string_view kind) const {
    const std::lock_guard lock(mutex_);
    return find(
        [&](const ResourceType& t) { return t.kind == kind && has_version(t, api_version); });
}

const ResourceType* ServerTypes::find_by_name(std::string_view name) const {
    const auto has_name = [&](const ResourceType& t) {
        return t.plural == name || t.kind == name || (t.custom && t.qualified() == name);
    };
    const std::lock_guard lock(mutex_);
    const ResourceType* type = find(has_name);
    return type ? type : find(has_name, true);
}

}  // namespace k8s_sd::inline v0::sim
