#pragma once

#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// What an ObjectCache knows of an object.
enum class CachedState : std::uint8_t {
    unsynced,   ///< not read from the server yet
    present,    ///< read, and watched
    absent,     ///< the server has no such object
    immutable,  ///< present, and no longer watched
    idle,       ///< no longer watched, because nobody reads it
};

/// "unsynced" and so on.
constexpr std::string_view to_string(CachedState state) noexcept {
    switch (state) {
        case CachedState::unsynced: return "unsynced";
        case CachedState::present: return "present";
        case CachedState::absent: return "absent";
        case CachedState::immutable: return "immutable";
        case CachedState::idle: return "idle";
    }
    return {};
}

/// How one object of an ObjectCache is doing.
struct CachedObjectStatus {
    std::string ns;                             ///< namespace
    std::string name;                           ///< of the object
    std::size_t references = 0;                 ///< and subscriptions
    CachedState state = CachedState::unsynced;  ///< what is known
    error_code error;     ///< of the watch that serves it; what is known of the object stays
    std::string message;  ///< the error in words, see WatchStatus::message
};

/// How the objects of one namespace are watched.
struct CachedNamespaceStatus {
    std::string ns;                  ///< namespace
    std::size_t objects = 0;         ///< that somebody refers to
    std::size_t single_watches = 0;  ///< of one object each
    bool collection_watch = false;   ///< there is a watch of the collection that serves objects
    /// The permission to watch the collection is missing. It is asked for again after ten minutes.
    bool collection_forbidden = false;
};

/// How an ObjectCache is doing.
struct ObjectCacheStatus {
    std::vector<CachedNamespaceStatus> namespaces;  ///< sorted
    std::vector<CachedObjectStatus> objects;        ///< sorted by namespace and name
};

}  // namespace k8s_sd::inline v0
