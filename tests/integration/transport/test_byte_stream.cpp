#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/post.hpp>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::Loopback;
using test::Outcome;

/// A port of 127.0.0.1 without a listener.
std::string closed_port() {
    asio::io_context io;
    const asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    return std::to_string(acceptor.local_endpoint().port());
}

TEST_CASE("TCP stream: carries bytes both ways and ends with eof") {
    Loopback net;
    REQUIRE(net.connect(net.make_client()));
    CHECK_FALSE(*net.connected.ec);
    CHECK(net.connected.text.empty());
    CHECK_FALSE(*net.accepted.ec);

    const std::string large(1'000'000, 'x');
    CHECK(net.transfer(*net.client, *net.server, "question") == "question");
    CHECK(net.transfer(*net.server, *net.client, large) == large);

    net.server.reset();
    char byte = 0;
    CHECK(net.read(*net.client, asio::buffer(&byte, 1)).ec == asio::error::eof);
}

TEST_CASE("TCP stream: connects to a name") {
    Loopback net;
    REQUIRE(net.connect(net.make_client({}, "localhost")));
    CHECK_FALSE(*net.connected.ec);
}

TEST_CASE("TCP stream: connects to an IPv6 literal without brackets") {
    Loopback net;
    error_code no_v6;
    asio::ip::tcp::acceptor acceptor(net.io);
    acceptor.open(asio::ip::tcp::v6(), no_v6);
    if (!no_v6) acceptor.bind({asio::ip::address_v6::loopback(), 0}, no_v6);
    if (!no_v6) acceptor.listen(1, no_v6);
    if (no_v6) SKIP("no IPv6 here: " << no_v6.message());
    net.acceptor = std::move(acceptor);
    REQUIRE(net.connect(net.make_client({}, "::1")));
    CHECK_FALSE(*net.connected.ec);
}

TEST_CASE("TCP stream: a failed connect says whom it did not reach and why") {
    Loopback net;
    const std::string port = closed_port();
    SECTION("no listener") {
        net.client = make_client_stream(net.strand, {"127.0.0.1", port, {}}, net.dialing);
        net.client->async_connect(net.on_connect(net.connected));
        net.drain();
        CHECK(net.connected.ec == asio::error::connection_refused);
        CHECK(net.connected.text == "connection refused by 127.0.0.1:" + port);
    }
    SECTION("the port is none") {
        net.client =
            make_client_stream(net.strand, {"localhost", "no-such-service", {}}, net.dialing);
        net.client->async_connect(net.on_connect(net.connected));
        net.drain();
        CHECK(net.connected.ec == errc::invalid_config);
        CHECK(net.connected.text == "not a port number: \"no-such-service\"");
    }
}

TEST_CASE("TCP stream: handlers run on the executor and never inside the call") {
    Loopback net;
    REQUIRE(net.connect(net.make_client()));
    bool inside = true;
    int calls = 0;
    const auto check = [&] {
        CHECK_FALSE(inside);
        CHECK(net.strand.running_in_this_thread());
        ++calls;
    };
    asio::post(net.strand, [&] {
        net.accepted = {};
        net.server->async_connect([&](error_code, std::string) { check(); });
        net.server->async_write(asio::buffer("x", 1), [&](error_code, std::size_t) { check(); });
        net.client->async_write(asio::buffer("", 0), [&](error_code, std::size_t) { check(); });
        inside = false;
    });
    REQUIRE(net.run_until([&] { return calls == 3; }));
    const auto refused =
        make_client_stream(net.strand, {"127.0.0.1", closed_port(), {}}, net.dialing);
    refused->async_connect([&](error_code, std::string) { check(); });
    REQUIRE(net.run_until([&] { return calls == 4; }));
}

TEST_CASE("TCP stream: close ends a connect, whatever it waits for") {
    Loopback net;
    SECTION("for a name lookup") { net.client = net.make_client({}, "localhost"); }
    SECTION("for the connection") { net.client = net.make_client(); }
    SECTION("for nothing: it failed already") {
        const auto unusable = std::make_shared<TlsConfig>();
        unusable->ca = "broken";
        const auto contexts = std::make_shared<TlsContexts>(net.dialing.clock, nullptr);
        net.client = net.make_client(ClientTls{nullptr, "127.0.0.1", contexts, unusable});
    }
    net.client->async_connect(net.on_connect(net.connected));
    net.client->close();
    CHECK(net.connected.calls == 0);
    net.io.poll();  // the handler does not wait for a lookup
    CHECK(net.connected.ec == asio::error::operation_aborted);
    net.drain();
    CHECK(net.connected.calls == 1);
}

TEST_CASE("TCP stream: destruction ends connects, reads and writes like close") {
    Loopback net;
    SECTION("connect") {
        net.client = net.make_client({}, "localhost");
        net.client->async_connect(net.on_connect(net.connected));
        net.client.reset();
        net.drain();
        CHECK(net.connected.ec == asio::error::operation_aborted);
        CHECK(net.connected.calls == 1);
    }
    SECTION("read and write") {
        REQUIRE(net.connect(net.make_client()));
        const std::string more_than_fits(std::size_t{64} << 20, 'x');
        char buffer[16];
        Outcome read, written;
        net.client->async_read_some(asio::buffer(buffer), net.on_io(read));
        net.client->async_write(asio::buffer(more_than_fits), net.on_io(written));
        SECTION("destroyed") { net.client.reset(); }
        SECTION("closed") { net.client->close(); }
        net.drain();
        CHECK(read.ec == asio::error::operation_aborted);
        CHECK(written.ec == asio::error::operation_aborted);
        CHECK(read.calls + written.calls == 2);
    }
}

TEST_CASE("TCP stream: after close a success that was already queued is operation_aborted") {
    Loopback net;
    REQUIRE(net.connect(net.make_client()));
    char buffer[1];
    Outcome written, read;
    net.server->async_write(asio::buffer("ab", 2), net.on_io(written));
    REQUIRE_FALSE(*net.read(*net.client, asio::buffer(buffer)).ec);
    // The second byte has arrived, so the read succeeds immediately and only its handler is
    // pending.
    asio::post(net.strand, [&] {
        net.client->async_read_some(asio::buffer(buffer), net.on_io(read));
        net.client->close();
    });
    REQUIRE(net.run_until([&] { return read.done(); }));
    CHECK(read.ec == asio::error::operation_aborted);
    CHECK(net.read(*net.client, asio::buffer(buffer)).ec == asio::error::operation_aborted);
}

TEST_CASE("TCP stream: close is idempotent and a connect after it is aborted") {
    Loopback net;
    net.client = net.make_client();
    net.client->close();
    net.client->close();
    net.client->async_connect(net.on_connect(net.connected));
    net.drain();
    CHECK(net.connected.ec == asio::error::operation_aborted);
}

TEST_CASE("TCP stream: a context that goes releases handlers that own their stream") {
    std::weak_ptr<ByteStream> alive;
    {
        Loopback net;
        char buffer[1];
        std::shared_ptr<ByteStream> stream;
        SECTION("in a lookup") {
            stream = net.make_client({}, "localhost");
            stream->async_connect([stream](error_code, std::string) {});
        }
        SECTION("in a read") {
            REQUIRE(net.connect(net.make_client()));
            stream = std::move(net.client);
            stream->async_read_some(asio::buffer(buffer), [stream](error_code, std::size_t) {});
        }
        alive = stream;
    }
    CHECK(alive.expired());
}

/// The sockets of this process that are connected to that port.
std::vector<int> sockets_to(unsigned short port) {
    std::vector<int> result;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = std::stoi(entry.path().filename().string());
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        const int failed = ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size);
        if (failed == 0 && peer.sin_family == AF_INET && ntohs(peer.sin_port) == port) {
            result.push_back(descriptor);
        }
    }
    return result;
}

TEST_CASE("TCP stream: a peer that is gone is noticed without writing") {
    Loopback net;
    REQUIRE(net.connect(net.make_client()));
    const auto sockets = sockets_to(net.acceptor.local_endpoint().port());
    REQUIRE(sockets.size() == 1);
    const auto option = [&](int level, int name) {
        int value = 0;
        socklen_t size = sizeof value;
        REQUIRE(::getsockopt(sockets[0], level, name, &value, &size) == 0);
        return value;
    };
    CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) == 30);
    CHECK(option(IPPROTO_TCP, TCP_KEEPINTVL) == 10);
    CHECK(option(IPPROTO_TCP, TCP_KEEPCNT) == 3);
    CHECK(option(IPPROTO_TCP, TCP_USER_TIMEOUT) == 45'000);
    CHECK(option(IPPROTO_TCP, TCP_NODELAY) == 1);
}

volatile std::sig_atomic_t broken_pipes = 0;

TEST_CASE("TCP and TLS stream: writing to a closed connection raises no SIGPIPE") {
    const auto previous = std::signal(SIGPIPE, [](int) { broken_pipes = broken_pipes + 1; });
    const test::CertificateAuthority ca;
    Loopback net;
    SECTION("TCP") { REQUIRE(net.connect(net.make_client())); }
    SECTION("TLS") {
        TlsConfig config;
        config.ca = ca.certificate();
        REQUIRE(net.connect(net.make_client(ClientTls{make_client_context(config), "127.0.0.1"}),
                            test::server_context(ca.server({"127.0.0.1"}))));
    }
    net.server.reset();
    const std::string text(100'000, 'x');
    Outcome written;
    for (int i = 0; i < 100 && !(written.done() && *written.ec); ++i) {
        written = {};
        net.client->async_write(asio::buffer(text), net.on_io(written));
        REQUIRE(net.run_until([&] { return written.done(); }));
    }
    CHECK(*written.ec);
    CHECK(broken_pipes == 0);
    std::signal(SIGPIPE, previous);
}

}  // namespace
}  // namespace k8s_sd::detail
