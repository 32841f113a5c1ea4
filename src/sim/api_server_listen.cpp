#include "sim/api_server_impl.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace k8s_sd::sim {
namespace {

class SocketStream final : public ByteStream {
 public:
    explicit SocketStream(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}
    void async_connect(ConnectHandler handler) override {
        asio::post(socket_.get_executor(), [handler = std::move(handler)] { handler({}, {}); });
    }
    void async_read_some(asio::mutable_buffer target, IoHandler handler) override {
        socket_.async_read_some(asio::buffer(target), std::move(handler));
    }
    void async_write(asio::const_buffer source, IoHandler handler) override {
        asio::async_write(socket_, asio::buffer(source), std::move(handler));
    }
    void close() noexcept override {
        error_code ignored;
        socket_.close(ignored);
    }

 private:
    asio::ip::tcp::socket socket_;
};

}  // namespace

unsigned short ApiServer::Impl::listen(unsigned short port) {
    auto listener = std::make_shared<Listener>(
        strand_, [weak = weak_from_this()](asio::ip::tcp::socket socket) {
            if (const auto self = weak.lock()) {
                self->add_connection(std::make_unique<SocketStream>(std::move(socket)));
            }
        });
    listener->listen(port);
    {
        const std::lock_guard lock(mutex_);
        listener_ = listener;
    }
    asio::post(strand_, [self = shared_from_this(), listener] {
        if (!self->shut_down_) listener->start();
    });
    return listener->port();
}

}  // namespace k8s_sd::sim
