#include "k8s_sd/detail/transport/http2/nghttp2_session.hpp"

#include <nghttp2/nghttp2.h>
#include <algorithm>
#include <cstring>

namespace k8s_sd::inline v0::detail {

/// The functions called by nghttp2. They forward to the session and stop exceptions.
struct Nghttp2Callbacks {
    using Session = Nghttp2Session;

    /// \returns the result of the call; after an exception the code of a fatal error
    template <class Call>
    static int guarded(void* user, Call call) noexcept {
        auto& session = *static_cast<Session*>(user);
        try {
            return call(session);
        } catch (...) {
            session.thrown_ = std::current_exception();
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }
    static std::string_view text(const std::uint8_t* bytes, std::size_t size) {
        return {reinterpret_cast<const char*>(bytes), size};
    }

    static int begin_frame(nghttp2_session*, const nghttp2_frame_hd*, void* user) {
        return guarded(user, [](Session& session) {
            return session.on_frame_begin() ? 0 : int{NGHTTP2_ERR_CALLBACK_FAILURE};
        });
    }
    static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
        return guarded(user, [&](Session& session) {
            return session.on_field(frame->hd.stream_id, text(name, name_size),
                                    text(value, value_size))
                       ? 0
                       : int{NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE};
        });
    }
    static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return guarded(user, [&](Session& session) {
            const bool with_end =
                frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
            if (frame->hd.type == NGHTTP2_GOAWAY) {
                session.goaway_ = frame->goaway.error_code;
                session.on_error_received(frame->goaway.error_code);
            }
            if (frame->hd.type == NGHTTP2_RST_STREAM)
                session.on_error_received(frame->rst_stream.error_code);
            if (frame->hd.type == NGHTTP2_SETTINGS) ++session.settings_;
            if (frame->hd.type == NGHTTP2_HEADERS) session.on_head_end(frame->hd.stream_id);
            if (with_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
                auto* const stream = session.streams_.find(frame->hd.stream_id);
                if (stream) stream->complete = true;
            }
            return 0;
        });
    }
    static int body(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                    std::size_t size, void* user) {
        return guarded(user, [&](Session& session) {
            session.on_body(stream, text(bytes, size));
            return 0;
        });
    }
    static int stream_closed(nghttp2_session*, std::int32_t stream, std::uint32_t code,
                             void* user) {
        return guarded(user, [&](Session& session) {
            session.on_stream_close(stream, code);
            return 0;
        });
    }
    static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        return guarded(user, [&](Session& session) {
            if (frame->hd.type == NGHTTP2_GOAWAY) {
                session.on_goaway_sent(
                    frame->goaway.error_code,
                    text(frame->goaway.opaque_data, frame->goaway.opaque_data_len));
            }
            if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) {
                session.on_request_sent(frame->hd.stream_id,
                                        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
            }
            return 0;
        });
    }
    static int frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
        return guarded(user, [&](Session& session) {
            if (frame->hd.type == NGHTTP2_HEADERS) {
                session.end(frame->hd.stream_id, {Http2End::Kind::refused, NGHTTP2_REFUSED_STREAM});
            }
            return 0;
        });
    }
    static int error(nghttp2_session*, int, const char* message, std::size_t size, void* user) {
        return guarded(user, [&](Session& session) {
            session.problem_.assign(message, size);
            return 0;
        });
    }
    static ssize_t request_body(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t room,
                                std::uint32_t* flags, nghttp2_data_source* source, void*) {
        auto& request = *static_cast<Session::Request*>(source->ptr);
        const std::size_t size = std::min(room, request.text.size() - request.body_sent);
        std::memcpy(to, request.text.data() + request.body_sent, size);
        request.body_sent += size;
        if (request.body_sent == request.text.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
        return static_cast<ssize_t>(size);
    }

    static void install(nghttp2_session_callbacks* callbacks) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, begin_frame);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, body);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frame_sent);
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, frame_not_sent);
        nghttp2_session_callbacks_set_error_callback2(callbacks, error);
    }
};

}  // namespace k8s_sd::inline v0::detail
