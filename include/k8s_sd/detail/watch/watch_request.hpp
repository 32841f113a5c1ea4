#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/watch/form_choices.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/selector.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The request for a step of the WatchMachine, and its timeouts.
struct WatchRequest {
    std::string target;                  ///< path and query, without the server's path prefix
    std::string accept{accepted::json};  ///< the Accept header, see EncodingChoice
    bool has_position = false;           ///< has a version or a continue token
    bool other_encoding = false;         ///< other than the usual one
    bool hasty = false;                  ///< another form may be answered sooner
    bool streamed = false;               ///< a list as the initial events of a watch
    bool gzip = false;                   ///< the response may be compressed
    bool sharded = false;                ///< for a share only
    bool drops = false;                  ///< for objects without managedFields
    bool of_one_object = false;
    Duration idle_timeout{};                   ///< zero: none
    Duration body_timeout{};                   ///< the same behind the head; zero: `idle_timeout`
    errc idle_error = errc::response_timeout;  ///< reported when the timeout expires
    std::chrono::seconds watch_timeout{};      ///< of a watch, see draw_watch_timeout()
};

/// The field selector for one object, as those of an ObjectCache are.
std::string select_name(std::string_view name);
/// The name of the object selected that way; empty: none.
std::string_view selected_name(const WatchQuery&) noexcept;
/// Whether an object is selected that way.
inline bool is_of_one_object(const WatchQuery& query) noexcept {
    return !selected_name(query).empty();
}

/// Path and query of the collection.
/// \param api_version  of the kind's API; empty: the current one, here and below
std::string collection_target(const WatchQuery&, std::string_view api_version = {});

/// Draws the `timeoutSeconds` of a watch; zero: the server's default.
std::chrono::seconds draw_watch_timeout(const WatchOptions&, Random&);

WatchRequest list_request(const WatchQuery&, const WatchOptions&, const ListPlan::Request&,
                          std::string_view api_version = {});
/// A list as the initial events of a watch, with the idle timeout of a list.
/// \param timeout  see draw_watch_timeout()
WatchRequest streamed_list_request(const WatchQuery&, const WatchOptions&, const ListPlan::Request&,
                                   std::chrono::seconds timeout);
/// A list of one object, for the server's current version, with a short timeout.
WatchRequest probe_request(const WatchQuery&, const WatchOptions&,
                           std::string_view api_version = {});
/// A watch with the idle timeout for a server without bookmarks.
/// \param timeout  see draw_watch_timeout()
WatchRequest watch_request(const WatchQuery&, const WatchMachine::Watch&,
                           std::chrono::seconds timeout, std::string_view api_version = {});
/// Idle timeout of a watch on a server without bookmarks; zero: none.
Duration silence_of_watch(std::chrono::seconds timeout) noexcept;

}  // namespace k8s_sd::inline v0::detail
