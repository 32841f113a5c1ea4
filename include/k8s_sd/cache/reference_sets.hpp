#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/detail/base/abi.hpp"

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

/// Sets of references, each under a key: for a host that acts for many, as the kubelet does for its
/// pods, and knows the Secrets and ConfigMaps that each of them needs. An object of several sets
/// stays referred to as long as one of them has it.
///
/// \par Thread safety  all members may be called from any thread.
class K8S_SD_EXPORT ReferenceSets {
 public:
    /// \param cache  outlives this object
    explicit ReferenceSets(ObjectCache& cache) : cache_(cache) {}
    ReferenceSets(const ReferenceSets&) = delete;
    ReferenceSets& operator=(const ReferenceSets&) = delete;

    /// Makes these the objects of the key; they replace those of the previous call. Names that both
    /// have are not touched; new ones are referred to before old ones are let go.
    /// \param key  whom the set is for, such as the name of a pod; may have an empty set
    /// \throws ConfigError for a name that cannot be one; nothing has changed then
    void set(std::string_view key, const std::set<ObjectName>& objects);
    /// Drops the key and its references. Does nothing for one that is not there.
    void erase(std::string_view key);

    std::size_t size() const;  ///< keys
    /// What set() was given for the key; empty if it is not there.
    std::set<ObjectName> objects_of(std::string_view key) const;

 private:
    using References = std::map<ObjectName, ObjectCache::Reference>;

    ObjectCache& cache_;
    mutable std::mutex mutex_;
    std::map<std::string, References, std::less<>> sets_;  // by key
};

}  // namespace k8s_sd::inline v0
