#pragma once

#include "k8s_sd/objects/object.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <cstdint>
#include <optional>

namespace k8s_sd::inline v0::detail {

struct DecodedObject;

/// An observer that tags each object.
class TaggingObserver : public WatchObserver {
 public:
    /// A tag stored with the object, see ObjectTag; nullopt drops the object in its present state.
    /// Called for objects wanted by name.
    virtual std::optional<std::uint16_t> tag_of(const DecodedObject&) = 0;
    /// Called after the creation of an object for which tag_of() has just returned the tag of
    /// objects kept apart.
    virtual void keep_apart(const ObjectPtr&) = 0;

 protected:
    ~TaggingObserver() = default;
};

}  // namespace k8s_sd::inline v0::detail
