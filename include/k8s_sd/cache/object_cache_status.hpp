#pragma once

#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The state of an object in an ObjectCache.
enum class CachedState : std::uint8_t {
    unsynced,   ///< not read from the server yet
    present,    ///< read and watched
    absent,     ///< the server has no such object
    immutable,  ///< present, no longer watched
    idle,       ///< no longer watched, for lack of reads
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

/// The status of one object of an ObjectCache.
struct CachedObjectStatus {
    std::string ns;                             ///< namespace
    std::string name;                           ///< name of the object
    std::size_t references = 0;                 ///< references and subscriptions
    CachedState state = CachedState::unsynced;  ///< state of the cached value
    error_code error;     ///< error of the object's watch; the cached value stays
    std::string message;  ///< the error in words, see WatchStatus::message
};

/// The watches of one namespace.
struct CachedNamespaceStatus {
    std::string ns;                  ///< namespace
    std::size_t objects = 0;         ///< referenced objects
    std::size_t single_watches = 0;  ///< watches of one object each
    bool collection_watch = false;   ///< whether a watch of the collection serves objects
    /// Whether the permission to watch the collection is missing. Retried after ten minutes.
    bool collection_forbidden = false;
};

/// The status of an ObjectCache.
struct ObjectCacheStatus {
    std::vector<CachedNamespaceStatus> namespaces;  ///< sorted
    std::vector<CachedObjectStatus> objects;        ///< sorted by namespace and name
};

}  // namespace k8s_sd::inline v0
