#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/kind.hpp"

#include <boost/json/object.hpp>

namespace k8s_sd::inline v0 {

/// An object of any resource, for Watcher<Generic> and Store<Generic>.
///
/// WatcherConfig::fields selects the content to keep: everything; only the metadata,
/// Fields{"metadata"}, in which case the server sends nothing else; or some paths of its JSON, e.g.
/// Fields{"metadata.labels", "spec.replicas", "status.conditions.type"}. A path continues into each
/// element of an array. Decoding needs memory for the whole document, several times its size, even
/// if few fields are kept; WatchOptions::max_object_bytes limits the size.
struct Generic {
    /// The metadata common to all objects, without `managedFields`.
    api::ObjectMeta metadata;
    /// Everything except the metadata: `apiVersion`, `kind`, `spec`, `status`, …
    boost::json::object content;
    bool operator==(const Generic&) const = default;
};

namespace api {
/// WatcherConfig::resource names the resource.
template <>
inline constexpr Kind kind_of<Generic> = any_other_kind;
}  // namespace api

}  // namespace k8s_sd::inline v0
