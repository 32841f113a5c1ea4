#include "link.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

namespace bench {

namespace asio = k8s_sd::asio;
using k8s_sd::error_code;

/// Delays each received chunk by a fixed time, independent of later ones. Lives as long as a read.
class Link::DelayLine : public std::enable_shared_from_this<DelayLine> {
 public:
    DelayLine(std::shared_ptr<Link> link, const std::shared_ptr<k8s_sd::ByteStream>& from,
              asio::any_io_executor executor)
        : link_(std::move(link)),
          from_(from),
          executor_(executor),
          timer_(link_->clock_->make_timer(executor)) {}

    void read(asio::mutable_buffer buffer, k8s_sd::ByteStream::IoHandler handler) {
        target_ = buffer;
        handler_ = std::move(handler);
        fetch();
        deliver();
    }
    void end(error_code ec) noexcept {
        timer_->cancel();
        parts_.clear();
        ended_ = true;
        finish(ec, 0);
    }

 private:
    struct Part {
        k8s_sd::TimePoint due;
        std::string bytes;
        error_code ec;
    };

    void fetch() {
        const auto from = from_.lock();
        if (std::exchange(fetching_, true) || !from) return;
        from->async_read_some(
            asio::buffer(room_), [self = shared_from_this()](error_code ec, std::size_t bytes) {
                self->link_->received_ += bytes;
                self->fetching_ = false;
                if (self->ended_) return;
                self->parts_.push_back({self->link_->clock_->now() + self->link_->delay_,
                                        std::string(self->room_.data(), bytes), ec});
                if (!ec) self->fetch();
                self->deliver();
            });
    }
    void deliver() {
        if (!handler_ || parts_.empty()) return;
        Part& part = parts_.front();
        if (part.due > link_->clock_->now()) {
            return timer_->expires_at(part.due, [self = shared_from_this()] { self->deliver(); });
        }
        const std::size_t size = std::min(target_.size(), part.bytes.size());
        std::memcpy(target_.data(), part.bytes.data(), size);
        const error_code ec = part.ec;
        part.bytes.erase(0, size);
        if (part.bytes.empty()) parts_.pop_front();
        finish(ec, size);
    }
    void finish(error_code ec, std::size_t size) noexcept {
        if (!handler_) return;
        asio::post(executor_,
                   [handler = std::exchange(handler_, {}), ec, size] { handler(ec, size); });
    }

    const std::shared_ptr<Link> link_;
    const std::weak_ptr<k8s_sd::ByteStream> from_;
    const asio::any_io_executor executor_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    std::array<char, 16 * 1024> room_;
    std::deque<Part> parts_;
    bool fetching_ = false;
    bool ended_ = false;
    asio::mutable_buffer target_;
    k8s_sd::ByteStream::IoHandler handler_;
};

/// One connection.
class Link::Stream final : public k8s_sd::ByteStream {
 public:
    Stream(std::shared_ptr<Link> link, std::unique_ptr<k8s_sd::ByteStream> stream,
           asio::any_io_executor executor)
        : link_(std::move(link)),
          stream_(std::move(stream)),
          executor_(executor),
          line_(std::make_shared<DelayLine>(link_, stream_, executor)) {
        link_->streams_.push_back(this);
    }
    ~Stream() override {
        close();
        std::erase(link_->streams_, this);
    }

    void async_connect(ConnectHandler handler) override {
        if (!link_->is_cut_) return stream_->async_connect(std::move(handler));
        asio::post(executor_, [handler = std::move(handler)] {
            handler(asio::error::connection_refused, {});
        });
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        if (link_->delay_ != k8s_sd::Duration{}) return line_->read(buffer, std::move(handler));
        stream_->async_read_some(
            buffer, [link = link_, handler = std::move(handler)](error_code ec, std::size_t bytes) {
                link->received_ += bytes;
                handler(link->is_cut_ && ec ? asio::error::connection_reset : ec, bytes);
            });
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        stream_->async_write(buffer, std::move(handler));
    }
    void close() noexcept override {
        line_->end(asio::error::operation_aborted);
        stream_->close();
    }
    void reset() noexcept {
        line_->end(asio::error::connection_reset);
        stream_->close();
    }

 private:
    const std::shared_ptr<Link> link_;
    const std::shared_ptr<k8s_sd::ByteStream> stream_;
    const asio::any_io_executor executor_;
    const std::shared_ptr<DelayLine> line_;
};

Link::Link(std::shared_ptr<k8s_sd::Connector> to, std::shared_ptr<k8s_sd::Clock> clock,
           k8s_sd::Duration delay)
    : to_(std::move(to)), clock_(std::move(clock)), delay_(delay) {}

std::unique_ptr<k8s_sd::ByteStream> Link::make_stream(asio::any_io_executor executor,
                                                      const k8s_sd::ConnectTarget& target) {
    return std::make_unique<Stream>(shared_from_this(), to_->make_stream(executor, target),
                                    executor);
}

void Link::cut() {
    is_cut_ = true;
    for (Stream* stream : streams_) stream->reset();
}

}  // namespace bench
