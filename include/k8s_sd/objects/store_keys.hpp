#pragma once

#include "k8s_sd/detail/base/access.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// The key of an object in a Store. Views of strings owned by the caller.
struct ObjectKey {
    std::string_view ns;    ///< empty for kinds without namespaces
    std::string_view name;  ///< name in the namespace

    /// The key of an object in a namespace.
    constexpr ObjectKey(std::string_view object_namespace, std::string_view object_name) noexcept
        : ns(object_namespace), name(object_name) {}
    /// The key of an object of a kind without namespaces.
    constexpr explicit ObjectKey(std::string_view object_name) noexcept : name(object_name) {}

    friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

/// How a Store handles objects of a type. The default works for immutable objects of any type with
/// `metadata.namespace_` and `metadata.name`; other types need a specialization.
template <class T>
struct StoreTraits {
    /// Shared ownership with an atomic counter; copying does not throw.
    using Ptr = std::shared_ptr<const T>;
    /// Namespace and name. Another type needs `==`, and views that stay valid with the object.
    using Key = ObjectKey;
    /// A view of the object; must be the same at each call.
    static Key key(const T& object) noexcept {
        return {object.metadata.namespace_, object.metadata.name};
    }
};

/// Collects the keys of an object for an index, see Store::index().
class IndexKeys {
 public:
    /// \param key  a view of the object; an empty key is ignored. Duplicates are allowed.
    void add(std::string_view key) {
        if (!key.empty()) keys_.push_back(key);
    }

 private:
    friend struct detail::Access;

    std::vector<std::string_view> sorted() && {
        std::sort(keys_.begin(), keys_.end());
        keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
        return std::move(keys_);
    }

    std::vector<std::string_view> keys_;
};

}  // namespace k8s_sd::inline v0
