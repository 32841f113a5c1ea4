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
    std::string name{};  ///< name of the object
    auto operator<=>(const ObjectName&) const = default;
};

/// Sets of references, each under a key: for a host acting for many owners, as the kubelet does for
/// its pods, with a known set of Secrets and ConfigMaps for each owner. An object in several sets
/// stays referenced until the last of these sets drops it.
///
/// \par Thread safety  all members may be called from any thread.
class K8S_SD_EXPORT ReferenceSets {
 public:
    /// \param cache  must outlive this object
    explicit ReferenceSets(ObjectCache& cache) : cache_(cache) {}
    ReferenceSets(const ReferenceSets&) = delete;
    ReferenceSets& operator=(const ReferenceSets&) = delete;

    /// Replaces the set of references of the key. Names in both sets keep their references; new
    /// references are added before old ones are dropped.
    /// \param key  the owner of the set, such as the name of a pod; may have an empty set
    /// \throws ConfigError for an invalid name; nothing changes in this case
    void set(std::string_view key, const std::set<ObjectName>& objects);
    /// Drops the key and its references. Does nothing for an unknown key.
    void erase(std::string_view key);

    std::size_t size() const;  ///< number of keys
    /// The set last passed to set() for this key; empty without one.
    std::set<ObjectName> objects_of(std::string_view key) const;

 private:
    using References = std::map<ObjectName, ObjectCache::Reference>;

    ObjectCache& cache_;
    mutable std::mutex mutex_;
    std::map<std::string, References, std::less<>> sets_;  // by key
};

}  // namespace k8s_sd::inline v0
