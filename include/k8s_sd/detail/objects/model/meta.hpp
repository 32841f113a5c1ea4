#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

/// Kubernetes objects as they come from the wire: only what reaches a label, as views into the
/// decoder's buffer. They live until the decoder goes on to the next object.
namespace k8s_sd::inline v0::detail::model {

struct OwnerReference {
    std::string_view kind, name;
    bool controller = false;
};

/// What the server sends where it cannot send an object: an error, meta/v1 Status.
struct Status {
    struct Cause {
        std::string_view reason, message;
    };
    std::int64_t code = 0;
    std::int64_t retry_after_seconds = 0;
    std::string_view message, reason;
    std::vector<Cause> causes;
};

struct ObjectMeta {
    std::string_view kind;  // absent in the items of a list
    std::string_view name, ns, uid, resource_version;
    Status status;  // in place of an object
    std::vector<std::pair<std::string_view, std::string_view>> labels, annotations;
    std::vector<OwnerReference> owner_references;

    /// The owner with `controller: true`, if there is one.
    const OwnerReference* controller() const noexcept {
        for (const OwnerReference& owner : owner_references) {
            if (owner.controller) return &owner;
        }
        return nullptr;
    }
};

/// Namespace, ReplicaSet, Job: kinds of which only the metadata is wanted.
struct MetadataOnly {
    ObjectMeta meta;
};

}  // namespace k8s_sd::inline v0::detail::model
