#pragma once

#include "k8s_sd/detail/transport/byte_stream.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// A proxy on 127.0.0.1 in the test's io_context, which has one thread.
class TestProxy {
 public:
    using tcp = asio::ip::tcp;

    struct Options {
        bool socks = false;                            ///< SOCKS5 instead of CONNECT
        std::shared_ptr<asio::ssl::context> tls = {};  ///< the proxy's own TLS
        /// Sent in place of a regular response; then the proxy closes the connection.
        std::string answer = {};
        bool silent = false;                    ///< it never responds
        bool byte_by_byte = false;              ///< each byte of its response in a separate packet
        std::string username = {}, password{};  ///< required by SOCKS5
    };

    explicit TestProxy(asio::io_context& io) : TestProxy(io, Options()) {}
    TestProxy(asio::io_context& io, Options options) : io_(io), options_(std::move(options)) {
        accept();
    }

    std::string port() const { return port_; }
    /// The bytes from clients before their data for a server.
    std::string heard;
    int connections = 0;
    /// Ends all connections.
    void kill() { sessions_.clear(); }
    /// Refuses new connections.
    void stop() { acceptor_.close(); }

 private:
    struct Session : std::enable_shared_from_this<Session> {
        Session(TestProxy& p, std::unique_ptr<ByteStream> s) : proxy(p), client(std::move(s)) {}

        void start() {
            client->async_connect([weak = weak_from_this()](error_code ec, const std::string&) {
                const auto self = weak.lock();
                if (!self) return;
                ec ? self->client->close() : self->listen();
            });
        }
        void listen() {
            read(*client, [this](const std::string& bytes) {
                proxy.heard += bytes;
                head += bytes;
                if (proxy.options_.silent) return listen();
                if (!proxy.options_.answer.empty()) return refuse();
                proxy.options_.socks ? socks() : http();
            });
        }
        void refuse() {
            write(*client, proxy.options_.answer, [this] { client->close(); });
        }
        void http() {
            if (head.find("\r\n\r\n") == std::string::npos) return listen();
            const std::string target = head.substr(8, head.find(' ', 8) - 8);
            const std::size_t colon = target.rfind(':');
            dial(target.substr(0, colon), target.substr(colon + 1),
                 "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
        }
        void socks() {
            const Options& o = proxy.options_;
            if (step == 0) {
                head.clear();
                ++step;
                if (o.username.empty()) ++step;
                return say(o.username.empty() ? std::string("\5\0", 2) : std::string("\5\2"));
            }
            if (step == 1) {
                const std::string login = std::string("\1") + static_cast<char>(o.username.size()) +
                                          o.username + static_cast<char>(o.password.size()) +
                                          o.password;
                const bool ok = head == login;
                head.clear();
                ++step;
                return say(ok ? std::string("\1\0", 2) : std::string("\1\1"));
            }
            const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
            const std::size_t size = byte(3) == 3 ? 1u + byte(4) : 4u;
            const std::size_t at = 4 + size;
            const std::string host =
                byte(3) == 3 ? head.substr(5, size - 1)
                             : std::to_string(byte(4)) + '.' + std::to_string(byte(5)) + '.' +
                                   std::to_string(byte(6)) + '.' + std::to_string(byte(7));
            dial(host, std::to_string(byte(at) * 256 + byte(at + 1)),
                 std::string("\5\0\0\1\0\0\0\0\0\0", 10));
        }
        void say(const std::string& text) {
            write(*client, text, [this] { listen(); });
        }
        void dial(const std::string& host, const std::string& port, const std::string& answer) {
            server = detail::make_client_stream(proxy.io_.get_executor(), {host, port, {}},
                                                {system_clock(), system_resolver()});
            server->async_connect([weak = weak_from_this(), answer](error_code ec, std::string) {
                const auto self = weak.lock();
                if (!self) return;
                if (ec) return self->client->close();
                self->write(*self->client, answer, [raw = self.get()] {
                    raw->relay(*raw->client, *raw->server);
                    raw->relay(*raw->server, *raw->client);
                });
            });
        }
        void relay(ByteStream& from, ByteStream& to) {
            read(from, [this, &from, &to](const std::string& bytes) {
                write(to, bytes, [this, &from, &to] { relay(from, to); });
            });
        }
        /// The end of one side ends the other.
        void read(ByteStream& from, std::function<void(const std::string&)> then) {
            const auto buffer = std::make_shared<std::array<char, 16384>>();
            from.async_read_some(asio::buffer(*buffer),
                                 [weak = weak_from_this(), buffer,
                                  then = std::move(then)](error_code ec, std::size_t n) {
                                     const auto self = weak.lock();
                                     if (!self) return;
                                     if (ec) return self->close();
                                     then(std::string(buffer->data(), n));
                                 });
        }
        void write(ByteStream& to, std::string text, std::function<void()> then) {
            const bool split = proxy.options_.byte_by_byte && !server;
            const auto now = std::make_shared<std::string>(split ? text.substr(0, 1) : text);
            const std::string rest = split ? text.substr(1) : std::string();
            to.async_write(asio::buffer(*now),
                           [weak = weak_from_this(), now, rest, &to,
                            then = std::move(then)](error_code ec, std::size_t) {
                               const auto self = weak.lock();
                               if (!self || ec) return;
                               if (rest.empty()) return then();
                               self->write(to, rest, then);
                           });
        }
        void close() {
            client->close();
            if (server) server->close();
        }

        TestProxy& proxy;
        std::unique_ptr<ByteStream> client, server;
        std::string head;
        int step = 0;
    };

    void accept() {
        acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
            if (ec) return;
            ++connections;
            auto stream = options_.tls
                              ? detail::make_tls_server_stream(std::move(socket), options_.tls)
                              : detail::make_tcp_stream(std::move(socket));
            sessions_.push_back(std::make_shared<Session>(*this, std::move(stream)));
            sessions_.back()->start();
            accept();
        });
    }

    asio::io_context& io_;
    const Options options_;
    tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
    const std::string port_ = std::to_string(acceptor_.local_endpoint().port());
    std::vector<std::shared_ptr<Session>> sessions_;
};

}  // namespace k8s_sd::test
