#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/transport/http2/http2_request.hpp"
#include "k8s_sd/detail/transport/http2/nghttp2_session.hpp"
#include "k8s_sd/detail/transport/response_fields.hpp"

#include <nghttp2/nghttp2.h>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// Throws for lack of memory, the only reason for these functions to fail here.
void require_memory(int result) {
    if (result != 0) throw std::bad_alloc();
}

template <class T, void (*free)(T*)>
struct FreeWith {
    void operator()(T* object) const noexcept { free(object); }
};
using SessionCallbacks =
    std::unique_ptr<nghttp2_session_callbacks,
                    FreeWith<nghttp2_session_callbacks, nghttp2_session_callbacks_del>>;
using SessionOptions =
    std::unique_ptr<nghttp2_option, FreeWith<nghttp2_option, nghttp2_option_del>>;

SessionCallbacks make_session_callbacks() {
    nghttp2_session_callbacks* callbacks = nullptr;
    require_memory(nghttp2_session_callbacks_new(&callbacks));
    Nghttp2Callbacks::install(callbacks);
    return SessionCallbacks(callbacks);
}

SessionOptions make_session_options() {
    nghttp2_option* option = nullptr;
    require_memory(nghttp2_option_new(&option));
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_reserved_remote_streams(option, 0);
    nghttp2_option_set_max_send_header_block_length(option, Http2Session::max_request_head);
    return SessionOptions(option);
}

nghttp2_nv name_value(const Http2Field& field) {
    const auto bytes = [](std::string_view text) {
        return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    // Only nghttp2's copy of the name is in lower case. The value lives as long as the stream.
    std::uint8_t flags = NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    if (!field.indexed) flags |= NGHTTP2_NV_FLAG_NO_INDEX;
    return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), flags};
}

/// 0 if it is no number.
unsigned status_number(std::string_view text) {
    unsigned status = 0;
    std::from_chars(text.data(), text.data() + text.size(), status);
    return status;
}

}  // namespace

std::unique_ptr<Http2Session> make_http2_session() { return std::make_unique<Nghttp2Session>(); }
std::string http2_error_name(std::uint32_t code) {
    // nghttp2 says "unknown" to all other codes.
    const bool known = code <= NGHTTP2_HTTP_1_1_REQUIRED;
    return known ? nghttp2_http2_strerror(code) : "error " + std::to_string(code);
}

void Nghttp2Session::Deleter::operator()(nghttp2_session* session) const noexcept {
    nghttp2_session_del(session);
}

Nghttp2Session::Nghttp2Session() {
    const SessionCallbacks callbacks = make_session_callbacks();
    const SessionOptions options = make_session_options();
    nghttp2_session* session = nullptr;
    nghttp2_mem memory = cleansed_memory();
    require_memory(
        nghttp2_session_client_new3(&session, callbacks.get(), this, options.get(), &memory));
    session_.reset(session);
    const std::array<nghttp2_settings_entry, 3> settings = {
        {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
         {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, max_head}}};
    require_memory(
        nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
    require_memory(
        nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, connection_window));
}

// --- requests ------------------------------------------------------------------------------------

std::int32_t Nghttp2Session::open(std::string_view text) {
    if (failed_ || full_ || goaway_) return 0;
    auto unsent = std::make_unique<Request>();
    CleansedBytes& sent = unsent->text;
    sent.assign(text.begin(), text.end());
    const Http2Request request = translate_request({sent.data(), sent.size()});
    unsent->body_sent = sent.size() - request.body.size();
    std::vector<nghttp2_nv> fields;
    for (const Http2Field& field : request.fields) fields.push_back(name_value(field));
    const auto id = static_cast<std::int32_t>(nghttp2_session_get_next_stream_id(session_.get()));
    if (id < 0) {
        full_ = true;
        return 0;
    }
    nghttp2_data_provider body{{}, Nghttp2Callbacks::request_body};
    body.source.ptr = unsent.get();
    const Stream& stream = streams_.add({.id = id, .request = std::move(unsent)});
    const std::int32_t result =
        nghttp2_submit_request(session_.get(), nullptr, fields.data(), fields.size(),
                               request.body.empty() ? nullptr : &body, nullptr);
    if (result == id) {
        ++unsent_;
        return id;
    }
    streams_.erase(stream);
    if (result == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    full_ = true;
    return 0;
}

void Nghttp2Session::forget_events(std::int32_t id) {
    std::erase_if(events_, [id](const Http2Event& event) { return event.stream == id; });
}

void Nghttp2Session::cancel(std::int32_t id) {
    forget_events(id);
    const Stream* const stream = streams_.find(id);
    if (!stream) return;
    if (!stream->head_sent) --unsent_;
    reset(id);
    streams_.erase(*stream);
}

bool Nghttp2Session::needs_reset(std::int32_t id) const {
    const Stream* const stream = streams_.find(id);
    return stream && stream->head_sent;
}

void Nghttp2Session::abandon(std::int32_t id) {
    forget_events(id);
    if (Stream* const stream = streams_.find(id)) stream->abandoned = true;
}

/// Without memory for the frame, nghttp2 would go on to read the request of the stream.
void Nghttp2Session::reset(std::int32_t id) noexcept {
    if (nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL) != 0) {
        failed_ = true;
    }
}

void Nghttp2Session::ping(std::uint64_t opaque) {
    std::array<std::uint8_t, 8> bytes{};
    for (std::uint8_t& byte : bytes) {
        byte = static_cast<std::uint8_t>(opaque);
        opaque >>= 8;
    }
    nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, bytes.data());
}

void Nghttp2Session::append_output(CleansedBytes& output, std::size_t enough) {
    while (!failed_ && output.size() < enough) {
        const std::uint8_t* bytes = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
        rethrow();
        if (size < 0) return fail(nghttp2_strerror(static_cast<int>(size)));
        if (size == 0) return refuse_unsent();
        output.insert(output.end(), bytes, bytes + size);
    }
}

/// nghttp2 keeps requests beyond the limit of the server until streams end. They go elsewhere.
void Nghttp2Session::refuse_unsent() {
    if (unsent_ == 0) return;
    std::vector<std::int32_t> unsent;
    for (const Stream& stream : streams_) {
        if (!stream.head_sent) unsent.push_back(stream.id);
    }
    for (const std::int32_t id : unsent) {
        reset(id);
        end(id, {Http2End::Kind::refused, NGHTTP2_REFUSED_STREAM});
    }
}

void Nghttp2Session::on_request_sent(std::int32_t id, bool whole) {
    Stream* const stream = streams_.find(id);
    if (!stream) return;
    if (!stream->head_sent) --unsent_;
    stream->head_sent = true;
    if (whole) stream->request.reset();
}

// --- responses -----------------------------------------------------------------------------------

void Nghttp2Session::feed(std::string_view bytes, TimePoint now) {
    input_ = bytes;
    fed_ = bytes.size();
    joined_size_ = 0;
    if (fed_ < joined_.size() / 16) CleansedBytes().swap(joined_);
    now_ = now;
}

std::optional<Http2Event> Nghttp2Session::next() {
    while (events_.empty() && !input_.empty() && !failed_) input_.remove_prefix(receive(input_));
    if (events_.empty()) return std::nullopt;
    Http2Event event = std::move(events_.front());
    events_.pop_front();
    return event;
}

/// \returns the number of bytes received
std::size_t Nghttp2Session::receive(std::string_view bytes) {
    const ssize_t size = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    rethrow();
    if (size >= 0) return static_cast<std::size_t>(size);
    if (size == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    fail(nghttp2_strerror(static_cast<int>(size)));
    return bytes.size();
}

bool Nghttp2Session::on_frame_begin() {
    if (budget_.on_frame(now_)) return true;
    problem_ = "the server floods the connection with frames without content";
    return false;
}

bool Nghttp2Session::on_field(std::int32_t id, std::string_view name, std::string_view value) {
    constexpr std::size_t overhead = 32;  // RFC 9113 6.5.2
    Stream* const stream = streams_.find(id);
    if (!stream) return true;
    if (!stream->head) stream->head = std::make_unique<Head>();
    Head& received = *stream->head;
    received.size += name.size() + value.size() + overhead;
    if (received.size > max_head) {
        stream->head_too_large = true;
        return false;
    }
    if (stream->answered) return true;  // trailers
    if (name == ":status") {
        received.head.status = status_number(value);
    } else {
        set_field(received.head, name, value);
    }
    return true;
}

void Nghttp2Session::on_head_end(std::int32_t id) {
    Stream* const stream = streams_.find(id);
    if (!stream || !stream->head) return;
    const std::unique_ptr<Head> received = std::move(stream->head);
    if (stream->answered) return;
    const bool interim = received->head.status < 200;
    if (interim && ++stream->interim_heads > max_interim_heads) {
        nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR);
        return end(id, {Http2End::Kind::cut, NGHTTP2_PROTOCOL_ERROR});
    }
    if (interim) return;
    stream->answered = true;
    received->head.http2 = true;
    budget_.on_content();
    if (stream->abandoned) return;
    events_.push_back({Http2Event::Kind::head, id, std::move(received->head)});
}

void Nghttp2Session::on_body(std::int32_t id, std::string_view bytes) {
    budget_.on_content();
    const Stream* const stream = streams_.find(id);
    if (!stream || stream->abandoned) {
        nghttp2_session_consume_connection(session_.get(), bytes.size());
        return;
    }
    nghttp2_session_consume(session_.get(), id, bytes.size());
    const bool goes_on = !events_.empty() && events_.back().kind == Http2Event::Kind::body &&
                         events_.back().stream == id;
    if (!goes_on) {
        events_.push_back({Http2Event::Kind::body, id, {}, bytes});
    } else {
        events_.back().bytes = join(events_.back().bytes, bytes);
    }
}

/// Decoders are faster with one large part than with many small ones, whose borders split objects.
std::string_view Nghttp2Session::join(std::string_view body, std::string_view more) {
    // At the first call for an input, so views stay valid. No byte is copied twice.
    if (joined_.size() < fed_) joined_ = CleansedBytes(fed_);
    const auto append = [this](std::string_view bytes) {
        std::memcpy(joined_.data() + joined_size_, bytes.data(), bytes.size());
        joined_size_ += bytes.size();
    };
    const bool is_last =
        joined_size_ > 0 && body.data() + body.size() == joined_.data() + joined_size_;
    if (!is_last) append(body);
    append(more);
    const std::size_t size = body.size() + more.size();
    return {joined_.data() + (joined_size_ - size), size};
}

void Nghttp2Session::wipe_bodies() noexcept { cleanse(joined_.data(), joined_size_); }

void Nghttp2Session::on_stream_close(std::int32_t id, std::uint32_t code) {
    const Stream* const stream = streams_.find(id);
    if (!stream) return;
    auto kind = Http2End::Kind::cut;
    if (stream->complete && code == NGHTTP2_NO_ERROR) {
        kind = Http2End::Kind::complete;
    } else if (stream->head_too_large) {
        kind = Http2End::Kind::head_too_large;
    } else if (code == NGHTTP2_REFUSED_STREAM && !stream->answered) {
        kind = Http2End::Kind::refused;
    } else if (code == NGHTTP2_HTTP_1_1_REQUIRED && !stream->answered) {
        kind = Http2End::Kind::http1_required;
    }
    end(id, {kind, code});
}

// --- the session ---------------------------------------------------------------------------------

void Nghttp2Session::end(std::int32_t id, Http2End how) {
    const Stream* const stream = streams_.find(id);
    if (!stream) return;
    if (!stream->head_sent) --unsent_;
    how.others = streams_.size() - 1 - unsent_;
    if (!stream->abandoned) events_.push_back({Http2Event::Kind::end, id, {}, {}, how});
    streams_.erase(*stream);
}

void Nghttp2Session::fail(std::string problem) {
    failed_ = true;
    if (problem_.empty()) problem_ = std::move(problem);
}

/// The code of a GOAWAY or RST_STREAM of the server.
void Nghttp2Session::on_error_received(std::uint32_t code) noexcept {
    if (code == NGHTTP2_ENHANCE_YOUR_CALM) demands_pause_ = true;
}

/// nghttp2 ends the session because the server has broken a rule.
void Nghttp2Session::on_goaway_sent(std::uint32_t code, std::string_view reason) {
    if (problem_.empty()) problem_ = reason.empty() ? http2_error_name(code) : std::string(reason);
}

void Nghttp2Session::rethrow() {
    if (thrown_) {
        failed_ = true;
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
}

Http2State Nghttp2Session::state() const {
    Http2State state;
    state.streams = streams_.size();
    state.stream_limit = nghttp2_session_get_remote_settings(
        session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    state.settled = settings_ > 0;
    state.settings = settings_;
    state.draining = failed_ || full_ || goaway_;
    state.goaway = goaway_;
    state.ended = failed_ || (nghttp2_session_want_read(session_.get()) == 0 &&
                              nghttp2_session_want_write(session_.get()) == 0);
    return state;
}

}  // namespace k8s_sd::inline v0::detail
