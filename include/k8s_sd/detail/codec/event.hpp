#pragma once

#include "k8s_sd/detail/codec/decoded_object.hpp"
#include "k8s_sd/detail/codec/server_status.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

enum class EventType : std::uint8_t { added, modified, deleted };

/// An object that cannot be used, as far as it could be read.
struct BadObject {
    std::string_view ns, name;          ///< empty: unknown
    std::string_view uid;               ///< empty: unknown
    std::string_view resource_version;  ///< empty: unknown, or no place to go on from
    error_code ec;
    std::string_view problem;
    /// It is the state of an object. False: a bookmark, or an event of an unknown type.
    bool is_state = true;
};

/// Whether it is known which one of its kind it is.
inline bool is_identified(const BadObject& bad, Kind kind) {
    return !bad.name.empty() && (!bad.ns.empty() || !resource_of(kind).namespaced);
}

/// What a ListWatchReader finds in a body. The views live until the call returns.
class EventSink {
 public:
    /// An item of a list comes as `added`. Of a `deleted` object only the name and the resource
    /// version are certain.
    virtual void on_object(EventType type, const DecodedObject& object) = 0;
    /// \param list_ends  the objects before were a list, which is complete now (KEP-3157)
    virtual void on_bookmark(std::string_view resource_version, bool list_ends) = 0;
    /// An ERROR event; the stream ends behind it.
    virtual void on_error_event(const ServerStatus& status) = 0;
    virtual void on_bad_object(const BadObject&) = 0;

 protected:
    ~EventSink() = default;
};

}  // namespace k8s_sd::inline v0::detail
