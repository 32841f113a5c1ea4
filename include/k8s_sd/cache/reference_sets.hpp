#pragma once

#include "k8s_sd/cache/object_cache.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The name of an object in its namespace.
struct ObjectName {
    std::string ns{};    ///< empty for kinds without namespaces
    std::string name{};  ///< of the object
    auto operator<=>(const ObjectName&) const = default;
};

/// Keeps the objects referred to that a set of owners needs, as the kubelet keeps the Secrets and
/// ConfigMaps of its pods: each owner is registered with all the names it refers to, and again
/// whenever they change.
///
/// \par Thread safety  all members may be called from any thread.
class ReferenceSets {
 public:
    /// \param cache  outlives this object
    explicit ReferenceSets(ObjectCache& cache) : cache_(cache) {}
    ReferenceSets(const ReferenceSets&) = delete;
    ReferenceSets& operator=(const ReferenceSets&) = delete;

    /// Makes these the objects that the owner refers to; they replace those of the previous call.
    /// Names that both have are not touched; new ones are referred to before old ones are let go.
    /// \throws ConfigError for a name that cannot be one; nothing has changed then
    void register_owner(std::string_view owner, const std::set<ObjectName>& objects);
    /// The owner refers to nothing any more. Does nothing for one that is not registered.
    void unregister_owner(std::string_view owner);

    std::size_t size() const;  ///< owners that are registered
    /// What the owner refers to; empty if it is not registered.
    std::set<ObjectName> objects_of(std::string_view owner) const;

 private:
    using References = std::map<ObjectName, ObjectCache::Reference>;

    ObjectCache& cache_;
    mutable std::mutex mutex_;
    std::map<std::string, References, std::less<>> owners_;
};

}  // namespace k8s_sd::inline v0
