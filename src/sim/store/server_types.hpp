#pragma once

#include "k8s_sd/sim/custom_resource.hpp"
#include "sim/store/resource_type.hpp"

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The resources of one server: those that every server has, and its custom ones. A type stays
/// where it is as long as the server, because its objects refer to it. Thread-safe.
class ServerTypes {
 public:
    /// The one that is there already, if it is the same but for the versions.
    /// \throws std::invalid_argument if something is missing, and if another one has its name
    const ResourceType& add(const CustomResource&);
    /// From now on it is found by its name only, until there is another one of that name.
    void remove(const ResourceType&);

    std::vector<const ResourceType*> all() const;
    // Null if there is none.
    const ResourceType* find_by_plural(std::string_view group, std::string_view plural) const;
    const ResourceType* find_by_kind(std::string_view api_version, std::string_view kind) const;
    /// By plural name or kind alone, which are unique among those that are not custom, or by
    /// "plural.group".
    const ResourceType* find_by_name(std::string_view name) const;

 private:
    /// A custom type with its texts.
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
