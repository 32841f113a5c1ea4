#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// Common metadata of all objects. The structs in this folder are the objects of the Kubernetes API
// as hosts read them: the API's fields in snake_case, with the corresponding C++ types.
//
// - A string is a std::string_view into the object, valid as long as the object.
// - A field with a meaning for absence is a std::optional; any other absent field has its empty
//   value.
// - Objects are immutable: hosts have them by std::shared_ptr to const, on any thread.
// - Fields not selected by the watch are empty, see Fields.

namespace k8s_sd::inline v0::api {

/// metav1.Time: a point in time, in seconds.
using Time = std::chrono::sys_seconds;

/// A map of strings, e.g. labels: the pairs in document order. For a repeated key the last pair
/// applies.
class StringMap : public std::vector<std::pair<std::string_view, std::string_view>> {
 public:
    using vector::vector;

    /// The value of the key; nullopt without one.
    std::optional<std::string_view> find(std::string_view key) const noexcept {
        const auto it =
            std::find_if(rbegin(), rend(), [&](const auto& pair) { return pair.first == key; });
        if (it == rend()) return std::nullopt;
        return it->second;
    }
    bool contains(std::string_view key) const noexcept { return find(key).has_value(); }
};

/// metav1.OwnerReference
struct OwnerReference {
    std::string_view api_version;
    std::string_view kind;
    std::string_view name;
    std::string_view uid;
    bool controller = false;  ///< whether this owner manages the object
    bool operator==(const OwnerReference&) const = default;
};

/// metav1.ObjectMeta
struct ObjectMeta {
    std::string_view name;
    std::string_view namespace_;  ///< empty for kinds without namespaces
    std::string_view uid;
    /// Version of the last read content. Comparisons ignore it: a new version with equal content
    /// is no change, and does not update this field.
    std::string_view resource_version;
    std::string_view generate_name;
    std::int64_t generation = 0;  ///< generation of the desired state; 0: the kind has none
    std::optional<Time> creation_timestamp;
    std::optional<Time> deletion_timestamp;  ///< present: the object is being deleted
    StringMap labels;
    StringMap annotations;
    std::vector<OwnerReference> owner_references;
    std::vector<std::string_view> finalizers;

    /// The owner with `controller: true`, or null.
    const OwnerReference* controller() const noexcept {
        for (const OwnerReference& owner : owner_references) {
            if (owner.controller) return &owner;
        }
        return nullptr;
    }

    friend bool operator==(const ObjectMeta& a, const ObjectMeta& b) {
        return a.name == b.name && a.namespace_ == b.namespace_ && a.uid == b.uid &&
               a.generate_name == b.generate_name && a.generation == b.generation &&
               a.creation_timestamp == b.creation_timestamp &&
               a.deletion_timestamp == b.deletion_timestamp && a.labels == b.labels &&
               a.annotations == b.annotations && a.owner_references == b.owner_references &&
               a.finalizers == b.finalizers;
    }
};

/// core/v1 ObjectReference: the object behind an address.
struct ObjectReference {
    std::string_view kind;
    std::string_view namespace_;
    std::string_view name;
    std::string_view uid;
    bool operator==(const ObjectReference&) const = default;
};

}  // namespace k8s_sd::inline v0::api
