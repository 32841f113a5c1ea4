#include "link.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace bench {

namespace asio = k8s_sd::asio;
using k8s_sd::error_code;

/// One connection.
class Link::Stream final : public k8s_sd::ByteStream {
 public:
    Stream(std::shared_ptr<Link> link, std::unique_ptr<k8s_sd::ByteStream> stream,
           asio::any_io_executor executor)
        : link_(std::move(link)), stream_(std::move(stream)), executor_(executor) {
        read_->timer = link_->clock_->make_timer(executor);
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
    /// What has come is kept for a while.
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        read_->handler = std::move(handler);
        stream_->async_read_some(
            buffer, [link = link_, read = read_](error_code ec, std::size_t bytes) {
                link->received_ += bytes;
                if (ec || link->delay_ == k8s_sd::Duration{}) return read->finish(ec, bytes);
                read->timer->expires_at(link->clock_->now() + link->delay_,
                                        [read, bytes] { read->finish({}, bytes); });
            });
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        stream_->async_write(buffer, std::move(handler));
    }
    void close() noexcept override { end(asio::error::operation_aborted); }
    void reset() noexcept { end(asio::error::connection_reset); }

 private:
    /// A read that is under way. The stream may go before it ends.
    struct Read {
        void finish(error_code ec, std::size_t bytes) {
            if (handler) std::exchange(handler, {})(ec, bytes);
        }
        std::unique_ptr<k8s_sd::Timer> timer;
        IoHandler handler;
    };

    void end(error_code ec) noexcept {
        read_->timer->cancel();
        stream_->close();
        if (!read_->handler) return;
        asio::post(executor_,
                   [handler = std::exchange(read_->handler, {}), ec] { handler(ec, 0); });
    }

    const std::shared_ptr<Link> link_;
    const std::unique_ptr<k8s_sd::ByteStream> stream_;
    const asio::any_io_executor executor_;
    const std::shared_ptr<Read> read_ = std::make_shared<Read>();
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
