#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/transport/http2/http2_connection.hpp"
#include "k8s_sd/detail/transport/tls/tls_peer.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t min_input = 1024;  // an event of a quiet watch
constexpr std::size_t max_input = 256 * 1024;
/// Of one write: less than this and a frame.
constexpr std::size_t enough_output = 16 * 1024;
/// A timer this late was held up by a busy executor, and so were received bytes.
constexpr Duration busy_delay = std::chrono::seconds(1);
constexpr std::uint32_t no_error_code = 0, calm_code = 11, http1_code = 13;  // RFC 9113 7

std::string explain_goaway(std::uint32_t code) {
    std::string text = "the server ended the HTTP/2 connection (" + http2_error_name(code) + ")";
    if (code == calm_code) text += "; it complains about too many requests or PINGs";
    return text;
}

/// The end of all streams after a GOAWAY with an error, of unprocessed ones too.
StreamEnd end_by_goaway(std::uint32_t code) {
    const auto kind = code == http1_code ? Http2End::Kind::http1_required : Http2End::Kind::cut;
    return {kind, asio::error::connection_reset, explain_goaway(code), false};
}

std::string explain_end_of_stream(const Http2End& end) {
    switch (end.kind) {
        case Http2End::Kind::complete: return {};
        case Http2End::Kind::refused: return "the server refused the stream";
        case Http2End::Kind::http1_required: return "the server requires HTTP/1.1";
        case Http2End::Kind::head_too_large: return {};
        case Http2End::Kind::cut: break;
    }
    return "the server reset the stream (" + http2_error_name(end.code) + ")";
}

}  // namespace

Http2Connection::Http2Connection(const asio::any_io_executor& executor,
                                 std::shared_ptr<Clock> clock,
                                 std::unique_ptr<ByteStream> transport, Limits limits,
                                 std::shared_ptr<Metrics::Gauge> open)
    : executor_(executor),
      clock_(std::move(clock)),
      transport_(std::move(transport)),
      limits_(limits),
      old_at_(clock_->now() + max_age),
      gauge_(std::move(open)),
      session_(make_http2_session()),
      timer_(clock_->make_timer(executor_)),
      liveness_(clock_->now()),
      input_(min_input) {
    if (gauge_) ++*gauge_;
}

Http2Connection::~Http2Connection() { uncount(); }

void Http2Connection::uncount() noexcept {
    if (const auto gauge = std::exchange(gauge_, nullptr)) --*gauge;
}

void Http2Connection::start(std::function<void()> on_calm) {
    on_calm_ = std::move(on_calm);
    watch_silence();
    flush_later();
    read();
}

void Http2Connection::close() noexcept {
    if (!closed_) fail({Http2End::Kind::cut, asio::error::operation_aborted, {}});
}

// --- streams -------------------------------------------------------------------------------------

bool Http2Connection::takes_streams() const {
    const bool is_old = retired_ || clock_->now() >= old_at_;
    return !closed_ && !write_error_ && !is_old && !session_->state().draining;
}

std::size_t Http2Connection::refused_beyond() const {
    const bool known = refusal_ && refusal_->settings == session_->state().settings &&
                       clock_->now() < refusal_->until;
    return known ? refusal_->streams : static_cast<std::size_t>(-1);
}

std::size_t Http2Connection::stream_limit() const {
    const Http2State state = session_->state();
    const std::size_t limit =
        state.settled ? state.stream_limit : std::min(state.stream_limit, limits_.presumed_streams);
    return std::min(limit, refused_beyond());
}

std::size_t Http2Connection::watch_limit(std::size_t streams, std::size_t max_watches) {
    const std::size_t max = streams - streams / 10;
    return max_watches == 0 ? max : std::min(max, max_watches);
}

bool Http2Connection::has_room(StreamUse use) const {
    const std::size_t limit = stream_limit();
    if (!takes_streams() || session_->state().streams >= limit) return false;
    return use == StreamUse::brief || watches_ < watch_limit(limit, limits_.max_watches);
}

std::int32_t Http2Connection::open(std::string_view text, StreamUse use, bool secret,
                                   Http2Stream& caller) {
    const std::int32_t id = closed_ ? 0 : session_->open(text);
    if (id == 0) return 0;
    secret_ = secret_ || secret;
    open_.add({id, use, &caller, never});
    if (use == StreamUse::watch) ++watches_;
    flush_later();
    return id;
}

void Http2Connection::cancel(std::int32_t id) noexcept {
    const Open* const open = open_.find(id);
    if (!open) return;
    forget(*open);
    try {
        reset(id);
    } catch (...) {
        // Without memory for a handler; the next flush or reset comes with other input or a PING.
    }
}

void Http2Connection::reset(std::int32_t id) {
    if (session_->needs_reset(id) && !resets_.admit(id, clock_->now())) {
        session_->abandon(id);
        return call_no_later_than(resets_.next_due());
    }
    session_->cancel(id);
    flush_later();
}

void Http2Connection::forget(const Open& open) {
    if (open.use == StreamUse::watch) --watches_;
    open_.erase(open);
}

/// The rest of a read must not reach a reader that has missed a part of it.
void Http2Connection::deliver() {
    end_if_it_throws("a reader threw", [this] { deliver_all(); });
}

/// Ends all streams after an exception. Other requests without a response are repeated.
/// \param why  short: it takes no memory
template <class Call>
void Http2Connection::end_if_it_throws(const char* why, Call call) {
    try {
        call();
    } catch (...) {
        FirstException problem;
        problem.catch_from([] { throw; });
        problem.catch_from([&] {
            if (!closed_) fail({Http2End::Kind::cut, errc::connector_failed, why, true});
        });
        problem.rethrow();
    }
}

void Http2Connection::deliver_all() {
    while (!closed_) {
        const auto event = session_->next();
        // Before the event: the caller may send its next request at once.
        if (session_->take_pause_demand() && on_calm_) on_calm_();
        if (!event) return;
        deliver(*event);
    }
}

void Http2Connection::deliver(const Http2Event& event) {
    const Open* const open = open_.find(event.stream);
    if (!open) return;
    Http2Stream& stream = *open->stream;
    switch (event.kind) {
        case Http2Event::Kind::head: answered_ = true; return stream.on_stream_head(event.head);
        case Http2Event::Kind::body: return stream.on_stream_body(event.bytes);
        case Http2Event::Kind::end: break;
    }
    forget(*open);
    // After GOAWAY a refusal says nothing about the limit.
    const Http2State state = session_->state();
    if (event.end.kind == Http2End::Kind::refused && !state.draining) {
        refusal_ = {event.end.others, clock_->now() + refusal_memory, state.settings};
    }
    const bool is_error = state.goaway && *state.goaway != no_error_code;
    if (event.end.kind == Http2End::Kind::refused && is_error)
        return stream.on_stream_end(end_by_goaway(*state.goaway));
    stream.on_stream_end({event.end.kind, {}, explain_end_of_stream(event.end), false});
}

// --- input and output ----------------------------------------------------------------------------

/// A host's transport may throw: then the connection breaks, but not within a call of its user.
template <class Call>
void Http2Connection::attempt(Call call) {
    std::string problem = "unknown exception";
    try {
        return call();
    } catch (const std::exception& error) {
        problem = in_words(error);
    } catch (...) {
    }
    try {
        asio::post(executor_, [self = shared_from_this(), problem = std::move(problem)] {
            if (!self->closed_) self->fail({Http2End::Kind::cut, errc::connector_failed, problem});
        });
    } catch (...) {
        transport_->close();  // without memory; a pending read reports it, or the timer
        throw;
    }
}

void Http2Connection::read() {
    attempt([this] {
        transport_->async_read_some(asio::buffer(input_),
                                    [self = shared_from_this()](error_code ec, std::size_t size) {
                                        self->on_read(ec, size);
                                    });
    });
}

void Http2Connection::on_read(error_code ec, std::size_t size) {
    if (closed_) return;
    if (ec) return on_broken(ec, "the connection broke: " + in_words(ec));
    liveness_.on_bytes(clock_->now());
    session_->feed({input_.data(), size}, clock_->now());
    deliver();
    if (secret_) {
        cleanse(input_.data(), size);
        session_->wipe_bodies();
    }
    if (!closed_) check_state();
    if (closed_) return;
    if (due_ == never) watch_silence();
    flush_later();
    adapt_buffer(size);
    read();
}

/// Large during bulk transfers, small for quiet watches.
void Http2Connection::adapt_buffer(std::size_t filled) {
    if (filled == input_.size() && filled < max_input) {
        input_.resize(filled * 2);
    } else if (filled < input_.size() / 16 && input_.size() > min_input) {
        input_.resize(input_.size() / 2);
        input_.shrink_to_fit();
    }
}

void Http2Connection::check_state() {
    const Http2State state = session_->state();
    if (state.goaway && *state.goaway != no_error_code) return fail(end_by_goaway(*state.goaway));
    if (state.ended) {
        const std::string& problem = session_->problem();
        if (problem.empty()) return on_broken(asio::error::eof, {});
        return fail({Http2End::Kind::cut,
                     boost::system::errc::make_error_code(boost::system::errc::protocol_error),
                     "the server breaks the rules of HTTP/2: " + printable(problem)});
    }
    const bool useless = !takes_streams() || refused_beyond() == 0;
    if (useless && open_.empty()) close();
}

/// Later, so that requests made at the same time are one write.
void Http2Connection::flush_later() {
    if (closed_ || flushing_) return;
    asio::post(executor_, [self = shared_from_this()] { self->flush(); });
    flushing_ = true;  // not before: without memory, post() throws
}

void Http2Connection::flush() {
    if (closed_) return;
    // Frames would be missing.
    end_if_it_throws("out of memory", [this] { session_->append_output(output_, enough_output); });
    deliver();
    if (closed_) return;
    if (output_.empty()) {
        flushing_ = false;
        return check_state();
    }
    attempt([this] {
        transport_->async_write(
            asio::buffer(output_),
            [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
    });
}

void Http2Connection::on_written(error_code ec) {
    if (closed_) return;
    if (ec) {
        // The reader may learn why, from a last frame of the server.
        write_error_ = ec;
        return call_at(clock_->now() + max_last_words);
    }
    CleansedBytes().swap(output_);
    flush();
}

// --- silence -------------------------------------------------------------------------------------

void Http2Connection::call_at(TimePoint due) {
    due_ = never;  // without memory the timer is not set
    timer_->expires_at(due, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_timer();
    });
    due_ = due;
}

void Http2Connection::call_at(std::int32_t stream, TimePoint due) {
    Open* const open = open_.find(stream);
    if (!open) return;
    // One pass over the streams serves all that are due at about the same time.
    using Tenths = std::chrono::duration<std::int64_t, std::deci>;
    if (due != never) due = std::chrono::ceil<Tenths>(due);
    open->due = due;
    call_no_later_than(due);
}

void Http2Connection::call_no_later_than(TimePoint due) {
    // After a failed write, the end of all streams is near.
    if (due < due_ && !write_error_) call_at(due);
}

void Http2Connection::watch_silence() {
    TimePoint due = std::min(liveness_.next_check(), resets_.next_due());
    for (const Open& open : open_) due = std::min(due, open.due);
    call_at(due);
}

void Http2Connection::notify_due_streams(TimePoint now) {
    std::vector<std::int32_t> due;
    for (const Open& open : open_) {
        if (open.due <= now) due.push_back(open.id);
    }
    FirstException problem;
    for (const std::int32_t id : due) {
        Open* const open = open_.find(id);  // a call may end others
        if (!open) continue;
        open->due = never;
        problem.catch_from([&stream = *open->stream] { stream.on_stream_due(); });
    }
    problem.rethrow();
}

void Http2Connection::reset_waiting_streams(TimePoint now) {
    // The server may have ended streams meanwhile.
    const auto is_open = [this](std::int32_t id) { return session_->needs_reset(id); };
    while (const auto stream = resets_.take(now, is_open)) {
        session_->cancel(*stream);
        flush_later();
    }
}

void Http2Connection::on_timer() {
    if (closed_) return;
    if (write_error_)
        return on_broken(write_error_, "the connection broke: " + in_words(write_error_));
    const TimePoint now = clock_->now();
    try {
        notify_due_streams(now);
    } catch (...) {
        if (!closed_) watch_silence();  // the other streams need the timer
        throw;
    }
    if (closed_) return;
    reset_waiting_streams(now);
    if (now - due_ > busy_delay && liveness_.next_check() <= now) return call_at(now + busy_delay);
    // No request needs the connection.
    if (open_.empty() && liveness_.next_check() <= now) return close();
    switch (liveness_.check(now)) {
        case Http2Liveness::Step::wait: break;
        case Http2Liveness::Step::ping:
            session_->ping(static_cast<std::uint64_t>(now.time_since_epoch().count()));
            flush_later();
            break;
        case Http2Liveness::Step::dead:
            return on_broken(
                errc::ping_timeout,
                "the connection is dead: silent for 30 s, and no answer to a PING in 15 s");
    }
    watch_silence();
}

// --- the end -------------------------------------------------------------------------------------

void Http2Connection::on_broken(error_code ec, const std::string& why) {
    const bool ended = ec == asio::error::eof;
    fail({Http2End::Kind::cut, ec, ended ? "the server closed the connection" : why, true});
}

void Http2Connection::fail(const StreamEnd& end) {
    const auto self = weak_from_this().lock();  // streams own this object; null in the destructor
    closed_ = true;
    uncount();
    timer_->cancel();
    transport_->close();
    FirstException problem;
    while (!open_.empty()) {
        Http2Stream& stream = *open_.back().stream;
        forget(open_.back());
        problem.catch_from([&] { stream.on_stream_end(end); });
    }
    problem.rethrow();
}

}  // namespace k8s_sd::inline v0::detail
