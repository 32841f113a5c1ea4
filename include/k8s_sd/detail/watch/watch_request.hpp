#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/random.hpp"
#include "k8s_sd/detail/watch/encoding_choice.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/watch_query.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What to send for a step of the WatchMachine, and how long to wait for an answer.
struct WatchRequest {
    std::string target;                        ///< path and query, without the server's prefix
    std::string_view accept = accepted::json;  ///< the header, see EncodingChoice
    bool has_position = false;                 ///< with a version or a continue token
    bool other_encoding = false;               ///< than the usual one
    bool hasty = false;                        ///< another form may be answered sooner
    bool streamed = false;                     ///< a list as the first events of a watch
    bool gzip = false;                         ///< the answer may be compressed
    Duration idle_timeout{};                   ///< silence allowed; zero: any
    Duration body_timeout{};                   ///< the same behind the head; zero: no other
    errc idle_error = errc::response_timeout;  ///< what that silence is reported as
};

/// Path and query of the collection.
/// \param api_version  of its API; empty: the present one. So below.
std::string collection_target(const WatchQuery&, std::string_view api_version = {});

/// The time for which the server is asked to keep a watch open; zero: as it likes.
std::chrono::seconds draw_watch_timeout(const WatchOptions&, Random&);

WatchRequest list_request(const WatchQuery&, const WatchOptions&, const ListPlan::Request&,
                          std::string_view api_version = {});
/// A list as the first events of a watch. The silence allowed is that of a list.
/// \param timeout  see draw_watch_timeout()
WatchRequest streamed_list_request(const WatchQuery&, const WatchOptions&, const ListPlan::Request&,
                                   std::chrono::seconds timeout);
/// A list of one object: its version is that of the server. It is answered soon, or not at all.
WatchRequest probe_request(const WatchQuery&, const WatchOptions&,
                           std::string_view api_version = {});
/// The silence allowed is that of a server which sends no bookmarks.
/// \param timeout  see draw_watch_timeout()
WatchRequest watch_request(const WatchQuery&, const WatchMachine::Watch&,
                           std::chrono::seconds timeout, std::string_view api_version = {});
/// The silence allowed in a watch of a server which sends no bookmarks; zero: any.
Duration silence_of_watch(std::chrono::seconds timeout) noexcept;

}  // namespace k8s_sd::inline v0::detail
