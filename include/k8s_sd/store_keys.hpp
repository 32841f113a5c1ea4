#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a Store knows an object by. Views, of whoever made it.
struct ObjectKey {
    std::string_view ns;    ///< empty for kinds without namespaces
    std::string_view name;  ///< in that namespace

    constexpr ObjectKey(std::string_view object_namespace, std::string_view object_name) noexcept
        : ns(object_namespace), name(object_name) {}
    /// Of a kind without namespaces.
    constexpr explicit ObjectKey(std::string_view object_name) noexcept : name(object_name) {}

    friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

/// How a Store keeps objects of a type. Immutable objects of any type with `metadata.namespace_`
/// and `metadata.name` can be kept; others need a specialization.
template <class T>
struct StoreTraits {
    /// Shared ownership, counted by atomics; copying does not throw.
    using Ptr = std::shared_ptr<const T>;
    using Key = ObjectKey;
    /// A view of the object, always the same.
    static Key key(const T& object) noexcept {
        return {object.metadata.namespace_, object.metadata.name};
    }
};

/// Takes the keys of an object for an index, see Store::index().
class IndexKeys {
 public:
    /// \param key  a view of the object; an empty one is none. A key may be added twice.
    void add(std::string_view key) {
        if (!key.empty()) keys_.push_back(key);
    }

    /// Of the library itself: each key once.
    std::vector<std::string_view> sorted() && {
        std::sort(keys_.begin(), keys_.end());
        keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
        return std::move(keys_);
    }

 private:
    std::vector<std::string_view> keys_;
};

}  // namespace k8s_sd::inline v0
