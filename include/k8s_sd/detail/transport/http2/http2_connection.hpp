#pragma once

#include "k8s_sd/detail/transport/http2/http2_liveness.hpp"
#include "k8s_sd/detail/transport/http2/http2_session.hpp"
#include "k8s_sd/detail/transport/stream_use.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace k8s_sd::inline v0::detail {

/// The end of a stream for its request.
struct StreamEnd {
    Http2End::Kind kind = Http2End::Kind::complete;
    error_code ec{};    ///< of the connection; empty: the stream alone has ended
    std::string why{};  ///< "the server reset the stream (INTERNAL_ERROR)"
};

/// A request on an Http2Connection. The functions may call anything.
class Http2Stream {
 public:
    virtual void on_stream_head(const ResponseHead&) = 0;
    virtual void on_stream_body(std::string_view bytes) = 0;
    virtual void on_stream_end(const StreamEnd&) = 0;

 protected:
    ~Http2Stream() = default;
};

/// An HTTP/2 connection for several requests. Confined to the executor, a strand or the only thread
/// of its context. Pending reads and writes keep it alive until it ends: with an error, or once it
/// has no stream for a while.
class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
    struct Limits {
        std::size_t max_watches = 0;  ///< 0: as many as the server permits
        /// Streams until the server reports its limit, which may be more or less.
        std::size_t presumed_streams = 100;
    };

    /// \param stream  connected
    Http2Connection(const asio::any_io_executor&, std::shared_ptr<Clock>,
                    std::unique_ptr<ByteStream> stream, Limits);

    void start();
    /// Whether it is neither closed nor about to end, whatever its limit.
    bool takes_streams() const;
    /// Whether the connection takes another stream. At the limit of the server it takes none,
    /// although the server would let it wait.
    bool has_room(StreamUse) const;
    /// The limit of the server, or less if it refuses more.
    std::size_t stream_limit() const;
    /// The streams for watches, when this is the limit. A tenth is kept for brief requests.
    static std::size_t watch_limit(std::size_t streams, std::size_t max_watches);
    bool closed() const noexcept { return closed_; }
    /// Sends a request. The stream is called until it has ended, or cancel().
    /// \param secret  overwrites received bytes, from now on
    /// \returns its identifier; 0: the connection takes no further stream
    std::int32_t open(std::string_view text, StreamUse, bool secret, Http2Stream&);
    void cancel(std::int32_t stream) noexcept;
    /// Ends all streams.
    void close() noexcept;

 private:
    struct Open {
        Http2Stream* stream = nullptr;
        StreamUse use = StreamUse::watch;
    };

    void read();
    void on_read(error_code, std::size_t);
    void adapt_buffer(std::size_t filled);
    void deliver();
    void deliver(const Http2Event&);
    void check_state();
    void flush_later();
    void flush();
    void on_written(error_code);
    void watch_silence();
    void on_timer();
    void forget(std::unordered_map<std::int32_t, Open>::iterator);
    void fail(error_code, const std::string& why);

    const asio::any_io_executor executor_;
    const std::shared_ptr<Clock> clock_;
    const std::unique_ptr<ByteStream> stream_;
    const Limits limits_;
    const std::unique_ptr<Http2Session> session_;
    const std::unique_ptr<Timer> timer_;
    Http2Liveness liveness_;
    TimePoint due_{};  ///< of the timer
    std::unordered_map<std::int32_t, Open> open_;
    std::size_t watches_ = 0;
    std::size_t refused_at_ = static_cast<std::size_t>(-1);  ///< open streams at a refusal
    CleansedBytes input_;
    CleansedBytes output_;
    bool secret_ = false;
    bool flushing_ = false;  ///< a flush is posted, or a write is pending
    bool closed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
