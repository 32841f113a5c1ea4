#pragma once

#include "k8s_sd/detail/transport/http2/http2_liveness.hpp"
#include "k8s_sd/detail/transport/http2/http2_session.hpp"
#include "k8s_sd/detail/transport/http2/reset_pacing.hpp"
#include "k8s_sd/detail/transport/http2/stream_table.hpp"
#include "k8s_sd/detail/transport/stream_use.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The end of a stream for its request.
struct StreamEnd {
    Http2End::Kind kind = Http2End::Kind::complete;
    error_code ec{};    ///< of the connection; empty: the stream alone has ended
    std::string why{};  ///< "the server reset the stream (INTERNAL_ERROR)"
    /// The connection broke, without a statement of the server.
    bool broken = false;
};

/// A request on an Http2Connection. The functions may call anything.
class Http2Stream {
 public:
    virtual void on_stream_head(const ResponseHead&) = 0;
    virtual void on_stream_body(std::string_view bytes) = 0;
    virtual void on_stream_end(const StreamEnd&) = 0;
    /// The time of call_at() has come.
    virtual void on_stream_due() = 0;

 protected:
    ~Http2Stream() = default;
};

/// An HTTP/2 connection for several requests. Confined to the executor, a strand or the only thread
/// of its context. Pending reads and writes keep it alive until it ends: with an error, or once it
/// has no stream for a while.
///
/// After `max_age`, or once retired, it takes no further stream, and open ones go on. So new
/// requests use renewed certificate files, and reach other servers behind a balancer.
class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
    static constexpr Duration max_age = std::chrono::minutes(10);
    /// A server that refuses a stream gets no more than are open, for this time or until its next
    /// SETTINGS.
    static constexpr Duration refusal_memory = std::chrono::seconds(30);
    /// After a failed write, the time to receive the reason from the server.
    static constexpr Duration max_last_words = std::chrono::seconds(1);

    struct Limits {
        std::size_t max_watches = 0;  ///< 0: as many as the server permits
        /// Streams until the server reports its limit, which may be more or less.
        std::size_t presumed_streams = 100;
    };

    /// \param transport  connected, and the server has chosen HTTP/2
    /// \param open  counts the open connections; may be null
    Http2Connection(const asio::any_io_executor&, std::shared_ptr<Clock>,
                    std::unique_ptr<ByteStream> transport, Limits,
                    std::shared_ptr<Metrics::Gauge> open = nullptr);
    ~Http2Connection();

    /// \param on_calm  called when the server demands a pause (ENHANCE_YOUR_CALM); may be null
    void start(std::function<void()> on_calm);
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
    /// Whether the server has answered a request.
    bool has_answered() const noexcept { return answered_; }
    /// Sends a request.
    /// \param secret  overwrites received bytes, from now on
    /// \param caller  called until the end of the stream, or cancel()
    /// \returns the identifier of the stream; 0: the connection takes no further one
    std::int32_t open(std::string_view text, StreamUse, bool secret, Http2Stream& caller);
    /// No function of the caller is called again. At the server the stream ends at once, or later
    /// if many are cancelled, see ResetPacing, or there is no memory.
    void cancel(std::int32_t stream) noexcept;
    /// Calls on_stream_due() at this time, once, instead of at an earlier set time. All streams use
    /// the timer of the connection: timers of their own would take much of the memory of a watch.
    void call_at(std::int32_t stream, TimePoint due);
    /// A request has had no answer in time: further ones use another connection. A balancer may
    /// connect it to a server that is not stuck.
    void retire() noexcept { retired_ = true; }
    /// Ends all streams.
    void close() noexcept;

 private:
    static constexpr TimePoint never = TimePoint::max();

    struct Open {
        std::int32_t id = 0;
        StreamUse use = StreamUse::watch;
        Http2Stream* stream = nullptr;
        TimePoint due = never;  ///< see call_at()
    };

    /// The number of streams the server has refused to exceed.
    struct Refusal {
        std::size_t streams = 0;
        TimePoint until{};
        std::uint64_t settings = 0;  ///< received before
    };

    template <class Call>
    void attempt(Call);
    template <class Call>
    void end_if_it_throws(const char* why, Call);
    std::size_t refused_beyond() const;
    void read();
    void on_read(error_code, std::size_t);
    void adapt_buffer(std::size_t filled);
    void deliver();
    void deliver_all();
    void deliver(const Http2Event&);
    void check_state();
    void flush_later();
    void flush();
    void on_written(error_code);
    void call_at(TimePoint);
    void reset(std::int32_t stream);
    void call_no_later_than(TimePoint);
    void watch_silence();
    void notify_due_streams(TimePoint now);
    void reset_waiting_streams(TimePoint now);
    void on_timer();
    void forget(const Open&);
    void on_broken(error_code, const std::string& why);
    void fail(const StreamEnd&);
    void uncount() noexcept;

    const asio::any_io_executor executor_;
    const std::shared_ptr<Clock> clock_;
    const std::unique_ptr<ByteStream> transport_;
    const Limits limits_;
    const TimePoint old_at_;
    std::shared_ptr<Metrics::Gauge> gauge_;  ///< null: not counted, or closed
    const std::unique_ptr<Http2Session> session_;
    const std::unique_ptr<Timer> timer_;
    std::function<void()> on_calm_;
    Http2Liveness liveness_;
    TimePoint due_{};  ///< of the timer
    StreamTable<Open> open_;
    std::size_t watches_ = 0;
    ResetPacing resets_;
    std::optional<Refusal> refusal_;
    error_code write_error_;
    CleansedBytes input_;
    CleansedBytes output_;
    bool secret_ = false;
    bool answered_ = false;
    bool retired_ = false;
    bool flushing_ = false;  ///< a flush is posted, or a write is pending
    bool closed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
