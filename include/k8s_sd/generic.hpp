#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/kind.hpp"

#include <boost/json/object.hpp>

namespace k8s_sd::inline v0 {

/// An object of any resource, for Watcher<Generic> and Store<Generic>.
///
/// WatcherConfig::fields says what is kept of it: all of it; or nothing but the metadata,
/// Fields{"metadata"}, which is all that the server sends then; or some paths of its JSON, e.g.
/// Fields{"metadata.labels", "spec.replicas", "status.conditions.type"}. A path goes on into each
/// element of an array. To decode an object takes memory for all of its document, several times its
/// size, however little is kept; WatchOptions::max_object_bytes limits that.
struct Generic {
    /// What every object has. `managedFields` is not kept.
    api::ObjectMeta metadata;
    /// All but the metadata: `apiVersion`, `kind`, `spec`, `status`, whatever the resource has.
    boost::json::object content;
    bool operator==(const Generic&) const = default;
};

namespace api {
/// WatcherConfig::resource says which one.
template <>
inline constexpr Kind kind_of<Generic> = any_other_kind;
}  // namespace api

}  // namespace k8s_sd::inline v0
