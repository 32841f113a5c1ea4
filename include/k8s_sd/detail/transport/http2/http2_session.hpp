#pragma once

#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/transport/response_head.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The end of a stream.
struct Http2End {
    enum class Kind : std::uint8_t {
        complete,        ///< END_STREAM
        refused,         ///< not processed by the server: the request may be repeated at once
        http1_required,  ///< the request may be repeated by HTTP/1.1
        cut,             ///< anything else, even after a body that looks complete
        head_too_large,  ///< the header fields exceed Http2Session::max_head
    };
    Kind kind = Kind::complete;
    std::uint32_t code = 0;  ///< the error code (RFC 9113 7)
    /// The other streams that the server had at that time; state() is of all received bytes.
    std::size_t others = 0;
};

/// A part of a response.
struct Http2Event {
    enum class Kind : std::uint8_t { head, body, end };
    Kind kind = Kind::head;
    std::int32_t stream = 0;
    ResponseHead head{};
    /// Of the body: all received at once, whatever frames they came in. Valid until feed().
    std::string_view bytes{};
    Http2End end{};
};

/// The state of a session for its connection.
struct Http2State {
    std::size_t streams = 0;       ///< open ones
    std::size_t stream_limit = 0;  ///< of the server; 100 until its SETTINGS arrive
    bool settled = false;          ///< they have arrived
    std::uint64_t settings = 0;    ///< number of SETTINGS received
    bool draining = false;         ///< takes no further stream: GOAWAY, or no identifiers left
    std::optional<std::uint32_t> goaway{};  ///< the error code of the last GOAWAY
    bool ended = false;                     ///< neither reads nor writes any more
};

/// The client side of an HTTP/2 connection as a state machine: bytes in, events out; requests in,
/// bytes out. It neither reads nor writes a stream and has no clock. Frames, HPACK and flow control
/// are those of nghttp2; this adds limits.
///
/// Received bytes of a body count as consumed at once, because next() delivers them without a wait.
/// So no stream blocks the others: the window of the connection cannot fill up. The size of the
/// windows costs no memory here; it bounds the rate of a list to one window per round trip. Windows
/// are renewed at half.
class Http2Session {
 public:
    /// Windows of 1 to 4 MiB made a list at 10 ms of delay twice as slow as by HTTP/1.1.
    static constexpr std::int32_t stream_window = 16 << 20;
    static constexpr std::int32_t connection_window = 32 << 20;
    static constexpr std::size_t max_head = 64 * 1024;  ///< of a response
    /// As Go's servers permit by HTTP/1.1.
    static constexpr std::size_t max_request_head = 1024 * 1024;
    static constexpr int max_interim_heads = 16;

    virtual ~Http2Session() = default;

    /// Sends a request, the text of an HTTP/1.1 request of this library.
    /// \returns the identifier of its stream; 0: the session takes no further stream
    virtual std::int32_t open(std::string_view request) = 0;
    /// RST_STREAM with CANCEL; no event of the stream follows, even if its end has arrived already.
    virtual void cancel(std::int32_t stream) = 0;
    /// Whether cancel() sends a frame: the server may know the stream.
    virtual bool needs_reset(std::int32_t stream) const = 0;
    /// Prepares a later cancel(): no event of the stream follows, and its window is not renewed, so
    /// the server can send no more than the rest of it.
    virtual void abandon(std::int32_t stream) = 0;
    virtual void ping(std::uint64_t opaque) = 0;

    /// Received bytes. They must stay valid until next() returns nothing.
    virtual void feed(std::string_view bytes, TimePoint now) = 0;
    /// The next event. Any member may be called between two events.
    /// \throws std::bad_alloc
    virtual std::optional<Http2Event> next() = 0;
    /// Overwrites copies of the delivered bodies.
    virtual void wipe_bodies() noexcept = 0;
    /// Appends bytes to send, until there are about `enough` or no more.
    /// \throws std::bad_alloc
    virtual void append_output(CleansedBytes&, std::size_t enough) = 0;

    virtual Http2State state() const = 0;
    /// Whether the server has demanded a pause since the last call, by ENHANCE_YOUR_CALM.
    virtual bool take_pause_demand() noexcept = 0;
    /// Explains the end of the session; empty: nothing known.
    virtual std::string problem() const = 0;
};

/// A session that has not sent anything. Null without nghttp2, see has_http2().
std::unique_ptr<Http2Session> make_http2_session();
/// The name of an error code, such as "ENHANCE_YOUR_CALM".
std::string http2_error_name(std::uint32_t code);

}  // namespace k8s_sd::inline v0::detail
