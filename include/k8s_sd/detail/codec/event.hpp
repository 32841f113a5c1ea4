#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A decoded Status, or one made of a response head. Its texts come from the server and are
/// untrusted. watch/outcome.ipp decides its meaning.
struct ServerStatus {
    struct Cause {
        std::string reason, message;
    };
    unsigned code = 0;  ///< 0: none
    std::string reason{};
    std::string message{};
    unsigned retry_after_seconds = 0;
    std::vector<Cause> causes{};
};

inline ServerStatus to_server_status(const model::Status& from) {
    const auto number = [](std::int64_t value) {
        constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
        return static_cast<unsigned>(std::clamp<std::int64_t>(value, 0, largest));
    };
    ServerStatus status{.code = number(from.code),
                        .reason = std::string(from.reason),
                        .message = std::string(from.message),
                        .retry_after_seconds = number(from.retry_after_seconds)};
    for (const model::Status::Cause& cause : from.causes) {
        status.causes.push_back({std::string(cause.reason), std::string(cause.message)});
    }
    return status;
}

/// The Status in the body of an error response; nullopt if the body is not a JSON object. Members
/// of the wrong type are skipped.
std::optional<ServerStatus> read_json_status(std::string_view body);

/// The Status in the body of an error response; nullopt if the body is not a Status in protobuf.
/// Members of the wrong type are skipped.
std::optional<ServerStatus> read_protobuf_status(std::string_view body);

/// Whether a resource version names a state of the server. An empty one does not. Neither does "0",
/// which proxies and aggregated APIs may send: in a request it stands for any state. A watch from
/// there would bring known objects again, and miss deletions.
inline bool names_state(std::string_view resource_version) noexcept {
    return resource_version.find_first_not_of('0') != std::string_view::npos;
}

/// A decoded object. Its model and all texts in it belong to the decoder, and are valid until the
/// reporting call returns.
struct DecodedObject {
    Kind kind;
    const api::ObjectMeta& meta;
    const void* model;  ///< a KindTraits<kind>::Model with this `meta`
    /// False: the kind is right provided that the rest of the list confirms it.
    bool kind_is_certain = true;
};

enum class EventType : std::uint8_t { added, modified, deleted };

/// An unusable object, with all members decoded so far.
struct BadObject {
    std::string_view ns, name;          ///< empty: unknown
    std::string_view uid;               ///< empty: unknown
    std::string_view resource_version;  ///< empty: unknown, or unusable to resume from
    error_code ec;
    std::string_view problem;
    /// It is the state of an object. False for a bookmark, or an event of an unknown type.
    bool is_state = true;
};

/// Whether the object's name, and the namespace if its kind has one, are known.
inline bool is_identified(const BadObject& bad, Kind kind) {
    return !bad.name.empty() && (!bad.ns.empty() || !resource_of(kind).namespaced);
}

/// Receives the content of a body from a ListWatchReader. Views are valid until the call returns.
class EventSink {
 public:
    /// Reports an item of a list as `added`. A `deleted` object has only a reliable name and
    /// resource version.
    virtual void on_object(EventType type, const DecodedObject& object) = 0;
    /// \param list_ends  the preceding objects form an initial list, now complete (KEP-3157)
    virtual void on_bookmark(std::string_view resource_version, bool list_ends) = 0;
    /// An ERROR event; the stream ends after it.
    virtual void on_error_event(const ServerStatus& status) = 0;
    virtual void on_bad_object(const BadObject&) = 0;

 protected:
    ~EventSink() = default;
};

}  // namespace k8s_sd::inline v0::detail
