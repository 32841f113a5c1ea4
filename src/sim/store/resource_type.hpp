#pragma once

#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The properties of a resource.
struct ResourceType {
    std::string_view kind;        ///< "Pod"
    std::string_view group;       ///< "" for the core group
    std::string_view version;     ///< "v1"
    std::string_view plural;      ///< "pods"
    std::string_view singular;    ///< "pod"
    std::string_view short_name;  ///< "po"; may be empty
    bool namespaced = true;
    /// Paths allowed in field selectors besides metadata.name and metadata.namespace.
    std::span<const std::string_view> fields;
    /// Text after the metadata in a bookmark: Go writes zero values of fields not marked omitempty.
    std::string_view zero_value;
    /// Whether it comes from a CustomResourceDefinition: present only if added to a server, with
    /// one entry for all its versions, in JSON only.
    bool custom = false;
    bool writable = false;  ///< through HTTP

    /// "apps/v1"; "v1" for the core group.
    std::string api_version() const { return api_version(version); }
    /// The same with another version of the group; empty: the type's own.
    std::string api_version(std::string_view other) const {
        if (other.empty()) other = version;
        return group.empty() ? std::string(other) : std::string(group) + "/" + std::string(other);
    }
    bool is_own(std::string_view other) const { return other.empty() || other == version; }
    /// The name in messages of the server: "pods", "replicasets.apps".
    std::string qualified() const {
        return group.empty() ? std::string(plural) : std::string(plural) + "." + std::string(group);
    }
};

/// The resources of every server.
std::span<const ResourceType> resource_types();

}  // namespace k8s_sd::inline v0::sim
