#pragma once

#include "k8s_sd/detail/transport/http2/frame_budget.hpp"
#include "k8s_sd/detail/transport/http2/http2_session.hpp"
#include "k8s_sd/detail/transport/http2/stream_table.hpp"

#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>

extern "C" {
struct nghttp2_session;
}

namespace k8s_sd::inline v0::detail {

/// Http2Session by nghttp2. Its callbacks record events, which next() returns afterwards: so no
/// exception passes frames of C, and the events are delivered while nghttp2 is not running.
class Nghttp2Session final : public Http2Session {
 public:
    Nghttp2Session();

    std::int32_t open(std::string_view request) override;
    void cancel(std::int32_t stream) override;
    bool needs_reset(std::int32_t stream) const override;
    void abandon(std::int32_t stream) override;
    void ping(std::uint64_t opaque) override;
    void feed(std::string_view bytes, TimePoint now) override;
    std::optional<Http2Event> next() override;
    void wipe_bodies() noexcept override;
    void append_output(CleansedBytes&, std::size_t enough) override;
    Http2State state() const override;
    bool take_pause_demand() noexcept override { return std::exchange(demands_pause_, false); }
    std::string problem() const override { return problem_; }

 private:
    friend struct Nghttp2Callbacks;
    struct Deleter {
        void operator()(nghttp2_session*) const noexcept;
    };
    /// The header fields of a response being received.
    struct Head {
        ResponseHead head;
        std::size_t size = 0;  ///< as of SETTINGS_MAX_HEADER_LIST_SIZE
    };
    /// A request until it is sent.
    struct Request {
        CleansedBytes text;
        std::size_t body_sent = 0;  ///< the position in the text
    };
    struct Stream {
        std::int32_t id = 0;
        std::uint8_t interim_heads = 0;
        bool head_sent : 1 = false;  ///< of the request
        bool answered : 1 = false;
        bool complete : 1 = false;  ///< END_STREAM of the server
        bool head_too_large : 1 = false;
        bool abandoned : 1 = false;
        std::unique_ptr<Request> request{};  ///< null: it is sent
        std::unique_ptr<Head> head{};        ///< null: no header fields are being received
    };

    void forget_events(std::int32_t stream);
    void end(std::int32_t stream, Http2End);
    void refuse_unsent();
    void fail(std::string problem);
    void reset(std::int32_t stream) noexcept;
    void rethrow();
    std::size_t receive(std::string_view);
    std::string_view join(std::string_view body, std::string_view more);

    // Called by nghttp2; false: a fatal error.
    bool on_frame_begin();
    bool on_field(std::int32_t stream, std::string_view name, std::string_view value);
    void on_head_end(std::int32_t stream);
    void on_body(std::int32_t stream, std::string_view bytes);
    void on_stream_close(std::int32_t stream, std::uint32_t code);
    void on_error_received(std::uint32_t code) noexcept;
    void on_goaway_sent(std::uint32_t code, std::string_view reason);
    void on_request_sent(std::int32_t stream, bool whole);

    StreamTable<Stream> streams_;
    std::size_t unsent_ = 0;  ///< streams whose request head waits
    std::deque<Http2Event> events_;
    std::string_view input_;  ///< not yet received by nghttp2
    std::size_t fed_ = 0;     ///< size of the whole input
    CleansedBytes joined_;    ///< room for bodies in several frames of the input
    std::size_t joined_size_ = 0;
    TimePoint now_{};
    FrameBudget budget_;
    bool full_ = false;  ///< no identifiers left
    std::optional<std::uint32_t> goaway_;
    bool demands_pause_ = false;  ///< see take_pause_demand()
    std::uint64_t settings_ = 0;  ///< frames received
    std::string problem_;
    bool failed_ = false;
    std::exception_ptr thrown_;  ///< in a callback
    std::unique_ptr<nghttp2_session, Deleter> session_;
};

}  // namespace k8s_sd::inline v0::detail
