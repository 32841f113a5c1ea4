#pragma once

#include "k8s_sd/error.hpp"
#include "k8s_sd/object.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

enum class EventType : std::uint8_t { added, modified, deleted };

/// What the server said went wrong: a Status object, or the HTTP status where there is none.
/// The texts come from the server and are not to be trusted.
struct ServerStatus {
    unsigned code = 0;
    std::string reason;
    std::string message;
    unsigned retry_after_seconds = 0;
    /// The resource version asked for is from the server's future (three known shapes).
    bool version_too_large = false;
};

/// What a decoder finds in a body. The views live until the call returns.
class EventSink {
 public:
    /// An item of a list comes as `added`.
    virtual void on_object(EventType type, ObjectPtr object, std::string_view resource_version) = 0;
    virtual void on_bookmark(std::string_view resource_version, bool initial_events_end) = 0;
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
