#include "sim/http/http2_connection.hpp"

#if defined(K8S_SD_HTTP2)

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/chunked_body.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <nghttp2/nghttp2.h>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {
namespace {

constexpr std::size_t http2_input_size = 16 * 1024;
constexpr std::size_t http2_write_size = 256 * 1024;
constexpr std::int32_t last_possible_stream = 0x7FFFFFFF;

nghttp2_nv http2_field(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
        return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

/// The head of a response of the server's own.
struct ResponseText {
    std::string status;
    std::vector<std::pair<std::string, std::string>> fields;
    bool chunked = false;
    std::optional<std::size_t> length;

    explicit ResponseText(std::string_view head) {
        status = head.substr(head.find(' ') + 1, 3);
        head.remove_prefix(std::min(head.size(), head.find("\r\n") + 2));
        while (!head.empty()) {
            const std::string_view line = head.substr(0, head.find("\r\n"));
            head.remove_prefix(std::min(head.size(), line.size() + 2));
            const std::size_t colon = line.find(':');
            if (colon == std::string_view::npos) continue;
            add(detail::lower_case(line.substr(0, colon)), detail::trim(line.substr(colon + 1)));
        }
    }

 private:
    void add(std::string name, std::string_view value) {
        if (name == "connection" || name == "keep-alive") return;
        if (name == "transfer-encoding") {
            chunked = true;
            return;
        }
        if (name == "content-length") {
            std::size_t number = 0;
            std::from_chars(value.data(), value.data() + value.size(), number);
            length = number;
        }
        fields.emplace_back(std::move(name), value);
    }
};

/// A request and its response. Its ends are the connection and a StreamEnd.
class Http2Connection::Stream {
 public:
    Stream(asio::any_io_executor strand, std::weak_ptr<Http2Connection> connection, std::int32_t i)
        : id(i), executor(std::move(strand)), owner(std::move(connection)) {}

    void serve_reader() {
        if (!reader) return;
        const std::size_t size = std::min(target.size(), unread.size());
        if (size == 0 && !gone) return;
        std::memcpy(target.data(), unread.data(), size);
        unread.erase(0, size);
        const error_code ec = size == 0 ? error_code(asio::error::eof) : error_code();
        asio::post(executor,
                   [handler = std::exchange(reader, nullptr), ec, size] { handler(ec, size); });
    }
    /// The written bytes have been sent, or there is no need to.
    void serve_writer() {
        if (!writer || (waiting() > 0 && !gone)) return;
        const error_code ec = gone ? error_code(asio::error::broken_pipe) : error_code();
        asio::post(executor, [handler = std::exchange(writer, nullptr), ec, size = written] {
            handler(ec, size);
        });
    }
    /// Bytes of the body that nghttp2 has not taken.
    std::size_t waiting() const { return body.size() - taken; }
    std::size_t take(std::uint8_t* to, std::size_t room) {
        const std::size_t size = std::min(room, waiting());
        std::memcpy(to, body.data() + taken, size);
        taken += size;
        if (waiting() == 0) {
            body.clear();
            taken = 0;
        }
        return size;
    }
    void leave() {
        gone = true;
        serve_reader();
        serve_writer();
    }

    const std::int32_t id;
    const asio::any_io_executor executor;
    const std::weak_ptr<Http2Connection> owner;
    // The request.
    std::string first_line, fields, host, request_body;
    std::string unread;  ///< by the StreamEnd
    asio::mutable_buffer target;
    ByteStream::IoHandler reader;
    // The response.
    std::string text;  ///< bytes of HTTP/1.1, not yet interpreted
    std::optional<ResponseText> head;
    detail::ChunkedBody chunks;
    std::size_t sent = 0;  ///< bytes of the body
    std::string body;
    std::size_t taken = 0;  ///< of the body, by nghttp2
    bool complete = false;
    bool paused = false;  ///< nghttp2 waits for more of the body
    std::size_t written = 0;
    ByteStream::IoHandler writer;
    bool gone = false;  ///< from the connection
};

/// The stream as a connection of its own.
class Http2Connection::StreamEnd final : public ByteStream {
 public:
    explicit StreamEnd(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
    ~StreamEnd() override { close(); }
    void async_connect(ConnectHandler handler) override {
        asio::post(stream_->executor, [handler = std::move(handler)] { handler({}, {}); });
    }
    void async_read_some(asio::mutable_buffer target, IoHandler handler) override {
        stream_->target = target;
        stream_->reader = std::move(handler);
        stream_->serve_reader();
    }
    void async_write(asio::const_buffer source, IoHandler handler) override {
        stream_->text.append(static_cast<const char*>(source.data()), source.size());
        stream_->written = source.size();
        stream_->writer = std::move(handler);
        if (const auto owner = stream_->owner.lock()) owner->respond(*stream_);
        stream_->serve_writer();
    }
    void close() noexcept override {
        if (std::exchange(closed_, true)) return;
        if (const auto owner = stream_->owner.lock()) owner->end(*stream_);
        stream_->leave();
    }

 private:
    const std::shared_ptr<Stream> stream_;
    bool closed_ = false;
};

/// The functions called by nghttp2.
struct Http2ServerCallbacks {
    static Http2Connection& of(void* user) { return *static_cast<Http2Connection*>(user); }
    static std::string_view text(const std::uint8_t* bytes, std::size_t size) {
        return {reinterpret_cast<const char*>(bytes), size};
    }

    static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Http2Connection& self = of(user);
        const std::int32_t id = frame->hd.stream_id;
        self.streams_.try_emplace(
            id, std::make_shared<Http2Connection::Stream>(self.strand_, self.weak_from_this(), id));
        return 0;
    }
    static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* n,
                      std::size_t name_size, const std::uint8_t* v, std::size_t value_size,
                      std::uint8_t, void* user) {
        auto* const stream = of(user).find(frame->hd.stream_id);
        if (!stream) return 0;
        const std::string_view name = text(n, name_size);
        const std::string_view value = text(v, value_size);
        if (name == ":method") {
            stream->first_line.insert(0, std::string(value) + ' ');
        } else if (name == ":path") {
            stream->first_line += value;
        } else if (name == ":authority") {
            stream->host = value;
        } else if (!name.starts_with(':') && name != "content-length") {
            (((stream->fields += name) += ": ") += value) += "\r\n";
        }
        return 0;
    }
    static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                    std::size_t size, void* user) {
        if (auto* const stream = of(user).find(id)) stream->request_body += text(bytes, size);
        return 0;
    }
    static int frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
        Http2Connection& self = of(user);
        const bool request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
        if (request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
            self.on_request(frame->hd.stream_id);
        const bool ping =
            frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0;
        if (ping && self.server_.http2_behavior().answer_pings)
            nghttp2_submit_ping(session, NGHTTP2_FLAG_ACK, frame->ping.opaque_data);
        return 0;
    }
    static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
        Http2Connection& self = of(user);
        const auto position = self.streams_.find(id);
        if (position == self.streams_.end()) return 0;
        const auto stream = position->second;
        self.streams_.erase(position);
        stream->leave();
        return 0;
    }
    static ssize_t body(nghttp2_session* session, std::int32_t id, std::uint8_t* to,
                        std::size_t room, std::uint32_t* flags, nghttp2_data_source*, void* user) {
        Http2Connection& self = of(user);
        auto* const stream = self.find(id);
        if (!stream) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        const std::size_t size = stream->take(to, room);
        stream->serve_writer();
        if (stream->waiting() > 0) return static_cast<ssize_t>(size);
        if (stream->complete) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
            if (self.server_.http2_behavior().omit_end_stream) {
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
            }
        } else if (size == 0) {
            stream->paused = true;
            return NGHTTP2_ERR_DEFERRED;
        }
        return static_cast<ssize_t>(size);
    }
};

void Http2Connection::Deleter::operator()(nghttp2_session* session) const noexcept {
    nghttp2_session_del(session);
}

Http2Connection::Http2Connection(Server& server, asio::any_io_executor strand,
                                 std::unique_ptr<ByteStream> transport)
    : server_(server),
      strand_(std::move(strand)),
      transport_(std::move(transport)),
      input_(std::make_shared<std::string>(http2_input_size, '\0')) {}

Http2Connection::~Http2Connection() = default;

void Http2Connection::start() {
    transport_->async_connect([weak = weak_from_this()](error_code ec, const std::string&) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        ec ? self->close() : self->begin();
    });
}

void Http2Connection::begin() {
    if (!transport_->uses_http2()) {
        const auto self = shared_from_this();
        closed_ = true;
        server_.closed(*this);
        return server_.on_http1(std::move(transport_));
    }
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    using Calls = Http2ServerCallbacks;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Calls::begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Calls::header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Calls::data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Calls::frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Calls::stream_closed);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_ping_ack(option, 1);
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new2(&session, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    server_.on_http2(*this);
    report_limit();
    read();
}

void Http2Connection::close() {
    if (std::exchange(closed_, true)) return;
    const auto self = shared_from_this();
    transport_->close();
    for (const auto& [id, stream] : std::exchange(streams_, {})) stream->leave();
    server_.closed(*this);
}

// --- faults --------------------------------------------------------------------------------------

void Http2Connection::report_limit() {
    if (!session_ || closed_) return;
    const nghttp2_settings_entry limit{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                       server_.http2_behavior().max_streams};
    nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, &limit, 1);
    flush();
}

void Http2Connection::go_away(ApiServer::GoAway how) {
    if (!session_ || closed_) return;
    using GoAway = ApiServer::GoAway;
    const std::int32_t latest = nghttp2_session_get_last_proc_stream_id(session_.get());
    const auto send = [this](std::int32_t last, std::uint32_t code) {
        nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, last, code, nullptr, 0);
    };
    switch (how) {
        case GoAway::announced: send(last_possible_stream, NGHTTP2_NO_ERROR); break;
        case GoAway::graceful: send(latest, NGHTTP2_NO_ERROR); break;
        case GoAway::unprocessed: {
            // nghttp2 rejects further frames of such streams, but leaves them open.
            const std::int32_t last = std::max(latest - 2, 0);
            send(last, NGHTTP2_NO_ERROR);
            const auto later = streams_.upper_bound(last);
            const std::map<std::int32_t, std::shared_ptr<Stream>> dropped(later, streams_.end());
            streams_.erase(later, streams_.end());
            for (const auto& [id, stream] : dropped) stream->leave();
            break;
        }
        case GoAway::calm: send(latest, NGHTTP2_ENHANCE_YOUR_CALM); break;
    }
    flush();
}

void Http2Connection::send_raw(std::string_view frames) {
    if (!session_ || closed_) return;
    flush();  // earlier responses
    raw_ += frames;
    flush();
}

// --- input and output ----------------------------------------------------------------------------

void Http2Connection::read() {
    transport_->async_read_some(asio::buffer(*input_), [weak = weak_from_this(), input = input_](
                                                           error_code ec, std::size_t size) {
        if (const auto self = weak.lock()) self->on_read(ec, size);
    });
}

void Http2Connection::on_read(error_code ec, std::size_t size) {
    if (closed_) return;
    if (ec) return close();
    feeding_ = true;
    const ssize_t used = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(input_->data()), size);
    feeding_ = false;
    if (used < 0) return close();
    flush_later();
    read();
}

void Http2Connection::flush() {
    if (closed_ || writing_ || feeding_) return;
    const auto output = std::make_shared<std::string>(std::exchange(raw_, {}));
    feeding_ = true;  // callbacks add frames, sent by this loop
    while (output->size() < http2_write_size) {
        const std::uint8_t* bytes = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
        if (size <= 0) break;
        output->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
    feeding_ = false;
    if (output->empty()) {
        const bool ended = nghttp2_session_want_read(session_.get()) == 0 &&
                           nghttp2_session_want_write(session_.get()) == 0;
        if (ended) close();
        return;
    }
    writing_ = true;
    transport_->async_write(asio::buffer(*output),
                            [weak = weak_from_this(), output](error_code ec, std::size_t) {
                                if (const auto self = weak.lock()) self->on_written(ec);
                            });
}

/// Later, so that responses made at the same time are one write.
void Http2Connection::flush_later() {
    if (closed_ || std::exchange(flushing_, true)) return;
    asio::post(strand_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->flushing_ = false;
        self->flush();
    });
}

void Http2Connection::on_written(error_code ec) {
    if (closed_) return;
    writing_ = false;
    ec ? close() : flush();
}

// --- streams -------------------------------------------------------------------------------------

Http2Connection::Stream* Http2Connection::find(std::int32_t id) const {
    const auto position = streams_.find(id);
    return position == streams_.end() ? nullptr : position->second.get();
}

void Http2Connection::on_request(std::int32_t id) {
    const auto position = streams_.find(id);
    if (position == streams_.end()) return;
    const std::shared_ptr<Stream> stream = position->second;
    const Http2Behavior behavior = server_.http2_behavior();
    std::uint32_t code = behavior.reset_streams;
    if (behavior.require_http1) code = NGHTTP2_HTTP_1_1_REQUIRED;
    if (behavior.refuse_streams) code = NGHTTP2_REFUSED_STREAM;
    if (code != 0) {
        nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, code);
        return;
    }
    std::string& text = stream->unread;
    (((text = stream->first_line) += " HTTP/1.1\r\nHost: ") += stream->host) += "\r\n";
    text += stream->fields;
    const std::string& body = stream->request_body;
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    (text += "\r\n") += body;
    server_.on_http2_stream(std::make_unique<StreamEnd>(stream));
}

/// Interprets the bytes of the response written so far.
void Http2Connection::respond(Stream& stream) {
    if (closed_ || stream.gone) return;
    if (!stream.head) {
        const std::size_t end = stream.text.find("\r\n\r\n");
        if (end == std::string::npos) return;
        stream.head.emplace(std::string_view(stream.text).substr(0, end + 2));
        stream.text.erase(0, end + 4);
        std::vector<nghttp2_nv> fields{http2_field(":status", stream.head->status)};
        for (const auto& [name, value] : stream.head->fields) {
            fields.push_back(http2_field(name, value));
        }
        nghttp2_data_provider body{{}, Http2ServerCallbacks::body};
        nghttp2_submit_response(session_.get(), stream.id, fields.data(), fields.size(), &body);
    }
    on_data(stream);
    if (stream.complete && stream.head->status == "401") go_away(ApiServer::GoAway::graceful);
    if (std::exchange(stream.paused, false)) nghttp2_session_resume_data(session_.get(), stream.id);
    flush_later();
}

void Http2Connection::on_data(Stream& stream) {
    const std::size_t before = stream.body.size();
    if (stream.head->chunked) {
        error_code ignored;
        const std::size_t used = stream.chunks.put(
            stream.text,
            [&](std::string_view bytes) {
                stream.body += bytes;
                return error_code();
            },
            ignored);
        stream.text.erase(0, used);
        stream.complete = stream.chunks.done();
    } else {
        stream.body += std::exchange(stream.text, {});
    }
    stream.sent += stream.body.size() - before;
    if (stream.head->length) stream.complete = stream.sent >= *stream.head->length;
}

/// The server has closed its end of the stream. In HTTP/1.1 this may be the end of the response.
void Http2Connection::end(Stream& stream) {
    if (closed_ || stream.gone || stream.complete) return;
    const bool until_close = stream.head && !stream.head->chunked && !stream.head->length;
    if (until_close) {
        stream.complete = true;
        stream.gone = true;
        if (std::exchange(stream.paused, false))
            nghttp2_session_resume_data(session_.get(), stream.id);
    } else {
        nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream.id,
                                  NGHTTP2_INTERNAL_ERROR);
    }
    flush_later();
}

}  // namespace k8s_sd::inline v0::sim

#else

// There are no such connections.
namespace k8s_sd::inline v0::sim {

void Http2Connection::Deleter::operator()(nghttp2_session*) const noexcept {}
Http2Connection::~Http2Connection() = default;
void Http2Connection::close() {}
void Http2Connection::report_limit() {}
void Http2Connection::go_away(ApiServer::GoAway) {}
void Http2Connection::send_raw(std::string_view) {}

}  // namespace k8s_sd::inline v0::sim

#endif
