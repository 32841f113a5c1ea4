#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/channel.hpp"
#include "k8s_sd/detail/transport/connect_op.hpp"

#include <boost/asio/error.hpp>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using asio::ip::tcp;

class SocketStream : public ByteStream {
 public:
    ~SocketStream() override { channel_->close(); }

    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        channel_->read(buffer, std::move(handler));
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        channel_->write(buffer, std::move(handler));
    }
    void close() noexcept override { channel_->close(); }
    bool uses_http2() const override { return channel_->uses_http2(); }
    std::string waits_for() const override {
        const auto op = channel_->connecting.lock();
        return op ? op->waits_for() : std::string();
    }

 protected:
    explicit SocketStream(tcp::socket socket)
        : channel_(std::make_shared<Channel>(std::move(socket))) {}

    std::shared_ptr<ConnectOp> begin_connect(ConnectHandler handler) {
        auto op = std::make_shared<ConnectOp>(channel_, std::move(handler));
        channel_->connecting = op;
        return op;
    }

 private:
    std::shared_ptr<Channel> channel_;
};

class AcceptedStream final : public SocketStream {
 public:
    AcceptedStream(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
        : SocketStream(std::move(socket)), context_(std::move(context)) {}

    void async_connect(ConnectHandler handler) override {
        begin_connect(std::move(handler))->accept(context_);
    }

 private:
    const std::shared_ptr<asio::ssl::context> context_;  ///< null: plain TCP
};

class ClientStream final : public SocketStream {
 public:
    ClientStream(const asio::any_io_executor& executor, ClientRoute route, Dialing dialing)
        : SocketStream(tcp::socket(executor)),
          route_(std::move(route)),
          dialing_(std::move(dialing)) {}

    void offer_http2() override {
        if (route_) route_->offers_http2 = true;
    }
    void async_connect(ConnectHandler handler) override {
        const auto op = begin_connect(std::move(handler));
        if (!route_) return op->finish(asio::error::already_started, "already connected");
        op->connect(std::move(*route_), dialing_);
        route_.reset();  // do not keep an inline key or password in memory for the life of a watch
    }

 private:
    std::optional<ClientRoute> route_;
    const Dialing dialing_;
};

}  // namespace

std::unique_ptr<ByteStream> make_tcp_stream(tcp::socket socket) {
    return std::make_unique<AcceptedStream>(std::move(socket), nullptr);
}

std::unique_ptr<ByteStream> make_tls_server_stream(tcp::socket socket,
                                                   std::shared_ptr<asio::ssl::context> context) {
    return std::make_unique<AcceptedStream>(std::move(socket), std::move(context));
}

std::unique_ptr<ByteStream> make_client_stream(asio::any_io_executor executor, ClientRoute route,
                                               Dialing dialing) {
    return std::make_unique<ClientStream>(std::move(executor), std::move(route),
                                          std::move(dialing));
}

}  // namespace k8s_sd::inline v0::detail
