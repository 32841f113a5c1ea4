#pragma once

#include "k8s_sd/detail/transport/byte_stream.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::test {

/// The completion of one asynchronous call.
struct Outcome {
    std::optional<error_code> ec;
    std::string text;
    std::size_t bytes = 0;
    int calls = 0;

    bool done() const { return ec.has_value(); }
};

/// A listening socket of 127.0.0.1 and the streams of one connection to it.
struct Loopback {
    using tcp = asio::ip::tcp;

    /// Runs handlers until `done()`; false if that takes unreasonably long.
    template <class Done>
    bool run_until(Done done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            io.restart();
            if (io.run_one_until(deadline) == 0) return false;
        }
        return true;
    }

    /// Runs all ready and outstanding work.
    void drain() {
        io.restart();
        io.run();
    }

    std::string port() const { return std::to_string(acceptor.local_endpoint().port()); }

    std::unique_ptr<ByteStream> make_client(std::optional<detail::ClientTls> tls = {},
                                            std::string host = "127.0.0.1") {
        return detail::make_client_stream(strand, {std::move(host), port(), std::move(tls)},
                                          dialing);
    }

    /// Accepts the next connection as `server`; with a context, uses TLS.
    void accept(std::shared_ptr<asio::ssl::context> context = {}) {
        acceptor.async_accept(strand, [this, context](error_code ec, tcp::socket socket) {
            if (ec) return;
            server = context ? detail::make_tls_server_stream(std::move(socket), context)
                             : detail::make_tcp_stream(std::move(socket));
            server->async_connect(on_connect(accepted));
        });
    }

    /// Connects `client` to `server`; false if that takes unreasonably long.
    bool connect(std::unique_ptr<ByteStream> stream,
                 std::shared_ptr<asio::ssl::context> server_context = {}) {
        accepted = connected = {};
        client = std::move(stream);
        accept(std::move(server_context));
        client->async_connect(on_connect(connected));
        return run_until([this] { return connected.done() && (*connected.ec || accepted.done()); });
    }

    ByteStream::ConnectHandler on_connect(Outcome& outcome) {
        return [&outcome](error_code ec, std::string text) {
            outcome.ec = ec;
            outcome.text = std::move(text);
            ++outcome.calls;
        };
    }
    ByteStream::IoHandler on_io(Outcome& outcome) {
        return [&outcome](error_code ec, std::size_t bytes) {
            outcome.ec = ec;
            outcome.bytes = bytes;
            ++outcome.calls;
        };
    }

    Outcome read(ByteStream& stream, asio::mutable_buffer buffer) {
        Outcome outcome;
        stream.async_read_some(buffer, on_io(outcome));
        run_until([&] { return outcome.done(); });
        return outcome;
    }

    /// Sends `text` from one to the other and returns the received text.
    std::string transfer(ByteStream& from, ByteStream& to, const std::string& text) {
        Outcome written;
        from.async_write(asio::buffer(text), on_io(written));
        std::string received;
        char chunk[4096];
        while (received.size() < text.size()) {
            const Outcome part = read(to, asio::buffer(chunk));
            if (!part.done() || *part.ec) break;
            received.append(chunk, part.bytes);
        }
        run_until([&] { return written.done(); });
        return received;
    }

    asio::io_context io;
    asio::strand<asio::io_context::executor_type> strand{io.get_executor()};
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    detail::Dialing dialing{system_clock(), system_resolver()};
    Outcome connected, accepted;
    std::unique_ptr<ByteStream> client, server;
};

}  // namespace k8s_sd::test
