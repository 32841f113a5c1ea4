#include "sim/http/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace {

/// Bytes of one write of a watch; further ones wait in the history, shared by all watches.
constexpr std::size_t watch_write_size = 256 * 1024;
/// Maximum of bytes received ahead while a request is processed.
constexpr std::size_t max_pipelined = 256 * 1024;
/// Duration of a watch without timeoutSeconds; a real server draws from 30 to 60 minutes.
constexpr std::chrono::minutes default_watch_time{45};
constexpr std::chrono::seconds last_bookmark_before_end{2};

}  // namespace

Connection::Connection(Server& server, asio::any_io_executor strand,
                       std::unique_ptr<ByteStream> stream, Transport transport,
                       const ApiServerOptions& options)
    : server_(server),
      options_(options),
      stream_(std::move(stream)),
      transport_(transport),
      timer_(server.clock().make_timer(std::move(strand))) {}

void Connection::start() {
    if (transport_ != Transport::unconnected) return read();
    stream_->async_connect([weak = weak_from_this()](error_code ec, const std::string&) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        ec ? self->close() : self->read();
    });
}

void Connection::close() {
    if (std::exchange(closed_, true)) return;
    const auto self = shared_from_this();
    timer_->cancel();
    stream_->close();
    if (watch_) server_.watch_ended();
    watch_ = nullptr;
    server_.closed(*this);
}

void Connection::read() {
    stream_->async_read_some(asio::buffer(*input_), [weak = weak_from_this(), input = input_](
                                                        error_code ec, std::size_t size) {
        if (const auto self = weak.lock()) self->on_read(ec, size);
    });
}

void Connection::on_read(error_code ec, std::size_t size) {
    if (closed_) return;
    if (ec) {
        // After closing its side, a client may still wait for a response, but not for a watch.
        client_closes_ = true;
        if (!writing_ || watch_) close();
        return;
    }
    reader_.append({input_->data(), size});
    if (!busy_) next_request();
    if (closed_) return;
    reader_.buffered() > max_pipelined&& busy_ ? close() : read();
}

void Connection::next_request() {
    Request request;
    bool close_after = false;
    switch (reader_.next(request, close_after)) {
        case RequestReader::Result::incomplete: return;
        case RequestReader::Result::malformed: {
            client_closes_ = true;
            Response response;
            response.status = 400;
            response.content_type = "text/plain; charset=utf-8";
            response.body = "400 Bad Request";
            answer(response);
            return;
        }
        case RequestReader::Result::complete: break;
    }
    client_closes_ = client_closes_ || close_after;
    busy_ = true;
    server_.serve(*this, std::move(request));
}

void Connection::answer(const Response& response) {
    busy_ = true;
    const bool cut = response.cut_after < response.body.size();
    close_when_written_ = cut || response.framing == Response::Framing::until_close;
    write(serialize(response, client_closes_));
}

void Connection::start_watch(std::unique_ptr<Watch> watch, BodyCoding coding) {
    watch_ = std::move(watch);
    coding_ = coding;
    const TimePoint now = server_.clock().now();
    deadline_ = now + watch_->options().timeout.value_or(default_watch_time);
    schedule_bookmark(now);
    arm_timer();
    write(watch_header(watch_->encoding().content_type(true), coding_.is_declared()));
}

void Connection::wake(const ResourceType& type) {
    if (!watch_ || &watch_->type() != &type) return;
    if (writing_ && watch_->unread() > options_.max_unread_events) watch_->cut();
    pump();
}

void Connection::inject(const ResourceType& type, const std::string& bytes,
                        ApiServer::After after) {
    if (!watch_ || &watch_->type() != &type) return;
    injected_ += bytes;
    after_ = after;
    pump();
}

void Connection::end_watch_with(const ResourceType& type, std::string_view event) {
    if (!watch_ || &watch_->type() != &type) return;
    std::string bytes;
    append_recorded(bytes, event, type, watch_->encoding());
    inject(type, bytes, ApiServer::After::end);
}

void Connection::end_watch() {
    if (!watch_) return;
    watch_->end();
    pump();
}

void Connection::pump() {
    if (!watch_ || writing_ || closed_) return;
    std::string events;
    const bool interrupted = !injected_.empty() || after_ != ApiServer::After::go_on;
    const auto after = std::exchange(after_, ApiServer::After::go_on);
    if (interrupted) {
        events = std::exchange(injected_, {});
        if (after == ApiServer::After::end) watch_->cut();
        close_when_written_ = after == ApiServer::After::drop;
    }
    watch_->produce(events, interrupted ? 0 : watch_write_size);
    std::string out;
    if (!events.empty()) {
        out = chunk(coding_.apply(std::move(events)));
        if (coding_.cuts()) {
            watch_->cut();
            events.clear();
            watch_->produce(events, 0);
        }
    }
    if (watch_->ended()) {
        out += last_chunk;
        watch_ = nullptr;
        timer_->cancel();
        server_.watch_ended();
    }
    if (out.empty() && close_when_written_) {
        close();
    } else if (!out.empty()) {
        write(std::move(out));
    }
}

void Connection::write(std::string bytes) {
    writing_ = true;
    const auto out = std::make_shared<const std::string>(std::move(bytes));
    stream_->async_write(asio::buffer(*out),
                         [weak = weak_from_this(), out](error_code ec, std::size_t) {
                             if (const auto self = weak.lock()) self->on_written(ec);
                         });
}

void Connection::on_written(error_code ec) {
    if (closed_) return;
    writing_ = false;
    if (ec || close_when_written_ || (client_closes_ && !watch_)) {
        close();
    } else if (watch_) {
        pump();
    } else {
        busy_ = false;
        next_request();
    }
}

void Connection::schedule_bookmark(TimePoint now) {
    next_bookmark_ = now + options_.bookmark_interval;
    const TimePoint last = deadline_ - last_bookmark_before_end;
    if (now < last) next_bookmark_ = std::min(next_bookmark_, last);
}

void Connection::arm_timer() {
    TimePoint due = deadline_;
    if (options_.bookmarks) due = std::min(due, next_bookmark_);
    timer_->expires_at(due, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->on_timer();
    });
}

void Connection::on_timer() {
    if (closed_ || !watch_) return;
    const TimePoint now = server_.clock().now();
    if (now >= deadline_) {
        end_watch();
        return;
    }
    if (now >= next_bookmark_) {
        watch_->want_bookmark();
        schedule_bookmark(now);
        pump();
        if (!watch_) return;
    }
    arm_timer();
}

}  // namespace k8s_sd::inline v0::sim
