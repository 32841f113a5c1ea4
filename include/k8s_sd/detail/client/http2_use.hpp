#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/transport/stream_use.hpp"

#include <cstdint>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// The kinds of requests for HttpVersion::automatic.
enum class RequestKind : std::uint8_t {
    brief,        ///< the response is short
    bulk,         ///< a list, or a request of a watch with a connection of its own
    first_watch,  ///< a watch with a connection of its own
    watch         ///< any other watch
};

/// Whether the request may be sent by HTTP/2, and for which use. An own connection suits a large
/// list best: no frames, and no other response waits behind it. A few watches cost little either
/// way, and on connections of their own they reach several servers behind a balancer.
constexpr std::optional<StreamUse> http2_use(HttpVersion version, RequestKind kind) noexcept {
    const bool is_watch = kind == RequestKind::watch || kind == RequestKind::first_watch;
    const bool has_own_connection = kind == RequestKind::bulk || kind == RequestKind::first_watch;
    if (version == HttpVersion::http1) return std::nullopt;
    if (version == HttpVersion::automatic && has_own_connection) return std::nullopt;
    return is_watch ? StreamUse::watch : StreamUse::brief;
}

}  // namespace k8s_sd::inline v0::detail
