#pragma once

#include "k8s_sd/sim/custom_resource.hpp"
#include "sim/store/resource_type.hpp"

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The resources of one server: those of every server, and its custom ones. A type has a stable
/// address for the lifetime of the server, since its objects refer to it. Thread-safe.
class ServerTypes {
 public:
    /// Returns the existing type if it differs at most in the versions.
    /// \throws std::invalid_argument for missing members, and if another type has its name
    const ResourceType& add(const CustomResource&);
    /// Afterwards it is found only by its name, until another type has this name.
    void remove(const ResourceType&);

    std::vector<const ResourceType*> all() const;
    // Null if there is none.
    const ResourceType* find_by_plural(std::string_view group, std::string_view plural) const;
    const ResourceType* find_by_kind(std::string_view api_version, std::string_view kind) const;
    /// By plural name or kind alone, unique among built-in types, or by "plural.group".
    const ResourceType* find_by_name(std::string_view name) const;

 private:
    /// A custom type with its strings.
    struct Custom {
        explicit Custom(const CustomResource&);
        Custom(const Custom&) = delete;
        Custom& operator=(const Custom&) = delete;

        const CustomResource resource;
        const std::string singular;
        const ResourceType type;
        bool removed = false;
    };

    template <class Predicate>
    const ResourceType* find(Predicate predicate, bool removed = false) const;

    mutable std::mutex mutex_;
    std::deque<Custom> custom_;
};

}  // namespace k8s_sd::inline v0::sim
