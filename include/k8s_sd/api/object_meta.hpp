#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// What all objects have in common. The structs of this folder are the objects of the Kubernetes
// API as hosts read them: the API's fields in snake_case, with the types that C++ has for them.
//
// - A text is a std::string_view into the object, valid as long as the object.
// - A field that may be absent with a meaning of its own is a std::optional; any other one that is
//   absent has its empty value.
// - Objects are immutable: who has one has a std::shared_ptr to a const one, on any thread.
// - Fields that the watch was not told to keep are empty, see Fields.

namespace k8s_sd::inline v0::api {

/// metav1.Time: a point in time, in seconds.
using Time = std::chrono::sys_seconds;

/// A map of texts, e.g. labels: the pairs in the order of the document. Of a key that it repeats,
/// the last pair counts.
class StringMap : public std::vector<std::pair<std::string_view, std::string_view>> {
 public:
    using vector::vector;

    /// The value of the key, or nothing.
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
    bool controller = false;  ///< the one that manages the object
    bool operator==(const OwnerReference&) const = default;
};

/// metav1.ObjectMeta
struct ObjectMeta {
    std::string_view name;
    std::string_view namespace_;  ///< empty for kinds without namespaces
    std::string_view uid;
    /// Of the version that was read. It is not compared: what differs in nothing else is no change,
    /// and is not read again.
    std::string_view resource_version;
    std::string_view generate_name;
    std::int64_t generation = 0;  ///< of the desired state; 0: the kind has none
    std::optional<Time> creation_timestamp;
    std::optional<Time> deletion_timestamp;  ///< there: it is being deleted
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
