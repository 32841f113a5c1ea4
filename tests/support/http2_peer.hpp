#pragma once

#include "k8s_sd/environment.hpp"
#include "support/http2_frames.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test::http2 {

/// A server whose frames a test writes itself: the state of one connection.
struct Peer {
    explicit Peer(asio::io_context& context) : io(context) {}

    asio::io_context& io;
    bool offered = false;  ///< HTTP/2, by the client
    bool accepts = true;   ///< false: chooses HTTP/1.1
    error_code refusal;    ///< of the connection; none: accepted
    bool connects = true;  ///< false: the attempt ends with connect()
    bool closed = false;   ///< by the client
    bool throws = false;   ///< any read or write
    error_code write_error;
    FrameReader reader;
    std::vector<Frame> received;
    std::string text;  ///< all received bytes
    int writes = 0;

    /// Sends bytes, now or when the client reads.
    void send(std::string_view bytes) {
        pending += bytes;
        serve();
    }
    void end(error_code ec = asio::error::eof) {
        ending = ec;
        serve();
    }
    std::size_t count(std::uint8_t type) const {
        return static_cast<std::size_t>(
            std::count_if(received.begin(), received.end(),
                          [type](const Frame& frame) { return frame.type == type; }));
    }
    /// The identifiers of the requested streams.
    std::vector<std::int32_t> streams() const {
        std::vector<std::int32_t> ids;
        for (const Frame& frame : received) {
            if (frame.type == headers) ids.push_back(frame.stream);
        }
        return ids;
    }

    void connect() {
        asio::post(io, [call = std::exchange(connecting, nullptr), ec = refusal] {
            call(ec, ec ? "refused" : "");
        });
    }
    ByteStream::ConnectHandler connecting;

    void serve() {
        if (!handler || (pending.empty() && !ending)) return;
        const std::size_t size = std::min(buffer.size(), pending.size());
        std::memcpy(buffer.data(), pending.data(), size);
        pending.erase(0, size);
        const error_code ec = size == 0 ? ending : error_code();
        asio::post(io, [call = std::exchange(handler, nullptr), ec, size] { call(ec, size); });
    }
    std::string pending;
    error_code ending;
    asio::mutable_buffer buffer;
    ByteStream::IoHandler handler;
};

class PeerStream final : public ByteStream {
 public:
    explicit PeerStream(std::shared_ptr<Peer> peer) : peer_(std::move(peer)) {}
    ~PeerStream() override { close(); }
    void offer_http2() override { peer_->offered = true; }
    bool uses_http2() const override { return peer_->offered && peer_->accepts; }
    void async_connect(ConnectHandler handler) override {
        peer_->connecting = std::move(handler);
        if (peer_->connects) peer_->connect();
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        if (peer_->throws) throw std::runtime_error("out of order");
        peer_->buffer = buffer;
        peer_->handler = std::move(handler);
        peer_->serve();
    }
    void async_write(asio::const_buffer bytes, IoHandler handler) override {
        if (peer_->throws) throw std::runtime_error("out of order");
        if (peer_->write_error) {
            return asio::post(peer_->io, [handler, ec = peer_->write_error] { handler(ec, 0); });
        }
        const std::string_view written(static_cast<const char*>(bytes.data()), bytes.size());
        ++peer_->writes;
        peer_->text += written;
        if (uses_http2()) {
            const auto frames = peer_->reader.read(written);
            peer_->received.insert(peer_->received.end(), frames.begin(), frames.end());
        }
        asio::post(peer_->io, [handler, size = bytes.size()] { handler({}, size); });
    }
    void close() noexcept override {
        peer_->closed = true;
        peer_->connecting = nullptr;
        if (!peer_->handler) return;
        asio::post(peer_->io, [call = std::exchange(peer_->handler, nullptr)] {
            call(asio::error::operation_aborted, 0);
        });
    }

 private:
    std::shared_ptr<Peer> peer_;
};

/// Each connection leads to a new peer; `next` prepares it.
class PeerConnector final : public Connector {
 public:
    explicit PeerConnector(asio::io_context& context) : io_(context) {}
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override {
        peers.push_back(std::make_shared<Peer>(io_));
        if (next) next(*peers.back());
        return std::make_unique<PeerStream>(peers.back());
    }
    std::vector<std::shared_ptr<Peer>> peers;
    std::function<void(Peer&)> next;

 private:
    asio::io_context& io_;
};

}  // namespace k8s_sd::test::http2
