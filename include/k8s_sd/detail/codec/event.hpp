#pragma once

#include "k8s_sd/detail/codec/decoded_object.hpp"
#include "k8s_sd/detail/codec/server_status.hpp"
#include "k8s_sd/error.hpp"

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

enum class EventType : std::uint8_t { added, modified, deleted };

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
    /// An object that cannot be used; `ns` and `name` are empty if even those are unknown.
    virtual void on_bad_object(std::string_view ns, std::string_view name,
                               std::string_view resource_version, error_code ec,
                               std::string_view problem) = 0;

 protected:
    ~EventSink() = default;
};

}  // namespace k8s_sd::inline v0::detail
