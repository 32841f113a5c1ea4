#include "k8s_sd/detail/auth/connect_targets.hpp"
#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"
#include "support/certificates.hpp"
#include "support/contains.hpp"
#include "support/loopback.hpp"
#include "support/manual_clock.hpp"
#include "support/test_proxy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::CertificateAuthority;
using test::contains;
using test::Identity;
using test::Loopback;
using test::Outcome;
using test::server_context;
using test::TestProxy;
using Protocol = ProxyTarget::Protocol;

/// A server behind a proxy, and the authorities of both.
struct Behind : Loopback {
    explicit Behind(TestProxy::Options options = {}) : proxy(io, std::move(options)) {}
    ~Behind() {
        client.reset();
        server.reset();
        proxy.stop();
        proxy.kill();
        acceptor.close();
        drain();
    }

    ProxyTarget target(Protocol protocol) const {
        ProxyTarget result;
        result.protocol = protocol;
        result.host = "127.0.0.1";
        result.port = proxy.port();
        result.tls.ca = proxy_ca.certificate();
        return result;
    }

    /// The stream of system_connector().
    std::unique_ptr<ByteStream> stream(const ProxyTarget& through, bool tls = true) {
        ConnectTarget to;
        to.host = "127.0.0.1";
        to.port = port();
        to.proxy = through;
        if (tls) {
            to.tls.emplace();
            to.tls->ca = server_ca.certificate();
        }
        return connector->make_stream(strand, to);
    }
    /// The server's side of TLS.
    std::shared_ptr<asio::ssl::context> context() const {
        return server_context(server_ca.server({"127.0.0.1"}));
    }
    /// The outcome of connecting, if no server is reached.
    Outcome fail(std::unique_ptr<ByteStream> unconnected) {
        connected = {};
        client = std::move(unconnected);
        client->async_connect(on_connect(connected));
        CHECK(run_until([this] { return connected.done(); }));
        return connected;
    }
    std::string name(const std::string& scheme) const {
        return "the proxy " + scheme + "://127.0.0.1:" + proxy.port();
    }

    CertificateAuthority server_ca{"server CA"}, proxy_ca{"proxy CA"};
    TestProxy proxy;
    std::shared_ptr<Connector> connector = system_connector();
};

std::shared_ptr<asio::ssl::context> proxy_tls(const std::string& name, const std::string& ca = "") {
    const CertificateAuthority authority;
    return server_context(authority.server({name}), ca);
}

void check_both_ways(Behind& net) {
    INFO(net.connected.text);
    REQUIRE_FALSE(*net.connected.ec);
    const std::string large(1'000'000, 'x');
    CHECK(net.transfer(*net.client, *net.server, "question") == "question");
    CHECK(net.transfer(*net.server, *net.client, large) == large);
    CHECK(net.transfer(*net.client, *net.server, large) == large);
    net.server.reset();
    char byte = 0;
    CHECK(net.read(*net.client, asio::buffer(&byte, 1)).ec == asio::error::eof);
}

TEST_CASE("Proxy: a server of http or https is reached through proxies of all kinds") {
    const bool tls = GENERATE(true, false);
    const Protocol protocol = GENERATE(Protocol::http, Protocol::https, Protocol::socks5);
    const bool byte_by_byte = GENERATE(false, true);
    CAPTURE(tls, static_cast<int>(protocol), byte_by_byte);
    const CertificateAuthority ca;
    TestProxy::Options options;
    options.socks = protocol == Protocol::socks5;
    options.byte_by_byte = byte_by_byte;
    if (protocol == Protocol::https) options.tls = server_context(ca.server({"127.0.0.1"}));
    Behind net(options);
    ProxyTarget through = net.target(protocol);
    through.tls.ca = ca.certificate();
    REQUIRE(net.connect(net.stream(through, tls), tls ? net.context() : nullptr));
    check_both_ways(net);
    CHECK(net.proxy.connections == 1);
}

TEST_CASE("Proxy: bytes go both ways at the same time within TLS in TLS") {
    const CertificateAuthority ca;
    Behind net({.tls = server_context(ca.server({"127.0.0.1"}))});
    ProxyTarget through = net.target(Protocol::https);
    through.tls.ca = ca.certificate();
    REQUIRE(net.connect(net.stream(through), net.context()));
    const std::string large(3'000'000, 'x');
    Outcome up, down;
    net.client->async_write(asio::buffer(large), net.on_io(up));
    net.server->async_write(asio::buffer(large), net.on_io(down));
    std::vector<char> at_client(large.size()), at_server(large.size());
    std::size_t client_got = 0, server_got = 0;
    const auto reads = [&](ByteStream& stream, std::vector<char>& to, std::size_t& got,
                           auto& again) -> void {
        stream.async_read_some(asio::buffer(to.data() + got, to.size() - got),
                               [&, sum = &got](error_code ec, std::size_t n) {
                                   if (ec) return;
                                   *sum += n;
                                   if (*sum < to.size()) again(stream, to, *sum, again);
                               });
    };
    reads(*net.client, at_client, client_got, reads);
    reads(*net.server, at_server, server_got, reads);
    CHECK(net.run_until([&] {
        return up.done() && down.done() && client_got == large.size() && server_got == large.size();
    }));
    CHECK(std::string(at_client.begin(), at_client.end()) == large);
    CHECK(std::string(at_server.begin(), at_server.end()) == large);
}

TEST_CASE("Proxy: credentials and headers reach it, and it alone") {
    Behind net;
    ProxyTarget through = net.target(Protocol::http);
    through.username = "u";
    through.password = "p";
    through.connect_headers = {{"X-Team", "a", ""}};
    REQUIRE(net.connect(net.stream(through, false)));
    CHECK(contains(net.proxy.heard, "Proxy-Authorization: Basic dTpw\r\n"));
    CHECK(contains(net.proxy.heard, "X-Team: a\r\n"));
    CHECK(net.transfer(*net.client, *net.server, "first") == "first");
}

TEST_CASE("Proxy: SOCKS5 checks user and password") {
    Behind net({.socks = true, .username = "me", .password = "sesame"});
    ProxyTarget through = net.target(Protocol::socks5);
    through.username = "me";
    through.password = "sesame";
    REQUIRE(net.connect(net.stream(through), net.context()));
    CHECK_FALSE(*net.connected.ec);
    through.password = "wrong";
    const Outcome refused = net.fail(net.stream(through));
    CHECK(refused.ec == errc::proxy_failed);
    CHECK(refused.text == net.name("socks5") + " does not accept the user and password of its URL");
}

TEST_CASE("Proxy: the name of the server is looked up by the proxy") {
    Behind net;
    ConnectTarget to;
    to.host = "localhost";
    to.port = net.port();
    to.proxy = net.target(Protocol::http);
    REQUIRE(net.connect(net.connector->make_stream(net.strand, to)));
    CHECK(contains(net.proxy.heard, "CONNECT localhost:" + net.port() + " HTTP/1.1\r\n"));
}

TEST_CASE("Proxy: a refusal is reported as the proxy's, without credentials") {
    Behind net({.answer = "HTTP/1.1 503 Service Unavailable\r\n\r\nsaw u:open-sesame-42 "
                          "dTpvcGVuLXNlc2FtZS00Mg== today"});
    ProxyTarget through = net.target(Protocol::http);
    through.username = "u";
    through.password = "open-sesame-42";
    const Outcome refused = net.fail(net.stream(through));
    CHECK(refused.ec == errc::proxy_failed);
    CHECK(refused.text == net.name("http") + " cannot reach 127.0.0.1:" + net.port() +
                              " (503 Service Unavailable). It says: saw u:<redacted> <redacted> "
                              "today");
}

TEST_CASE("Proxy: a server other than a proxy, or none, is reported as such") {
    SECTION("it ends the connection") {
        Behind net({.answer = "HTTP/1.1 2"});
        const Outcome outcome = net.fail(net.stream(net.target(Protocol::http)));
        CHECK(outcome.ec == errc::proxy_failed);
        CHECK(outcome.text == net.name("http") + " closed the connection without an answer");
    }
    SECTION("it is a web server that shows a page") {
        Behind net({.answer = "HTTP/1.1 200 OK\r\n\r\n<html>"});
        const Outcome outcome = net.fail(net.stream(net.target(Protocol::http)));
        CHECK(outcome.text == net.name("http") + " sent data after its answer, before any request");
    }
    SECTION("it wants TLS") {
        Behind net({.tls = proxy_tls("127.0.0.1")});
        const Outcome outcome = net.fail(net.stream(net.target(Protocol::http)));
        CHECK(outcome.ec == errc::proxy_failed);
        CHECK(outcome.text.starts_with(net.name("http") + " "));
    }
    SECTION("it speaks no TLS") {
        Behind net({.answer = "HTTP/1.1 400 Bad Request\r\n\r\n"});
        const Outcome outcome = net.fail(net.stream(net.target(Protocol::https)));
        CHECK(outcome.ec == errc::proxy_failed);
        CHECK(outcome.text ==
              net.name("https") + " does not speak TLS; should the URL start with http://?");
    }
    SECTION("it speaks SOCKS5") {
        Behind net({.answer = "\x05\xff"});
        const Outcome outcome = net.fail(net.stream(net.target(Protocol::http)));
        CHECK(contains(outcome.text, "does not speak HTTP; is it of another kind"));
    }
    SECTION("it speaks HTTP") {
        Behind net({.answer = "HTTP/1.1 400 Bad Request\r\n\r\n"});
        const Outcome outcome = net.fail(net.stream(net.target(Protocol::socks5)));
        CHECK(outcome.text == net.name("socks5") +
                                  " does not speak SOCKS5; is it of another kind (http://, "
                                  "https://)?");
    }
    SECTION("no listener") {
        Behind net;
        net.proxy.stop();
        ProxyTarget gone = net.target(Protocol::http);
        const Outcome outcome = net.fail(net.stream(gone));
        CHECK(outcome.ec == asio::error::connection_refused);
        CHECK(outcome.text == "connection refused by " + net.name("http"));
    }
}

/// Resolves no name.
class NoNames final : public Resolver {
 public:
    void async_resolve(const std::string&, Handler handler) override {
        handler(asio::error::host_not_found, {});
    }
};

TEST_CASE("Proxy: an unknown name of the proxy is reported as the proxy's") {
    Behind net;
    Environment environment;
    environment.resolver = std::make_shared<NoNames>();
    net.connector = system_connector(environment);
    ProxyTarget through = net.target(Protocol::http);
    through.host = "proxy.corp";
    through.port = "3128";
    const Outcome outcome = net.fail(net.stream(through));
    CHECK(outcome.ec == asio::error::host_not_found);
    CHECK(outcome.text.starts_with(
        "cannot resolve the name of the proxy http://proxy.corp:3128: host not found"));
}

TEST_CASE("Proxy: its certificate must be for its host and of a trusted authority") {
    const CertificateAuthority ca{"proxy CA"};
    const auto outcome = [&](const Identity& identity, const std::string& trusted) {
        Behind net({.tls = server_context(identity)});
        ProxyTarget through = net.target(Protocol::https);
        through.tls.ca = trusted;
        return net.fail(net.stream(through));
    };
    const Outcome other_name = outcome(ca.server({"proxy.corp"}), ca.certificate());
    CHECK(other_name.ec == errc::proxy_failed);
    CHECK(other_name.text == "certificate is for proxy.corp, not for the proxy 127.0.0.1; put one "
                             "of its names into the proxy's URL");
    const Outcome other_ca =
        outcome(ca.server({"127.0.0.1"}), CertificateAuthority("x").certificate());
    CHECK(other_ca.ec == errc::proxy_failed);
    CHECK(contains(other_ca.text, "certificate of the proxy 127.0.0.1 (CN=server) is not trusted"));
    CHECK(contains(other_ca.text, "the inline CA and the system's trust store"));
}

TEST_CASE("Proxy: a client certificate is for the server, not for the proxy") {
    const CertificateAuthority ca, users("users");
    // A proxy that requires a client certificate gets none.
    Behind net({.tls = server_context(ca.server({"127.0.0.1"}), users.certificate())});
    const Identity user = users.client("me");
    TlsConfig tls;
    tls.ca = ca.certificate();
    tls.cert = user.certificate;
    tls.key = user.key;
    const auto to = make_connect_target(parse_server_url("https://127.0.0.1:" + net.port(), false),
                                        tls, {.url = "https://127.0.0.1:" + net.proxy.port()});
    const Outcome outcome = net.fail(net.connector->make_stream(net.strand, *to));
    CHECK(outcome.ec == errc::proxy_failed);
    CHECK(net.proxy.heard.empty());
}

TEST_CASE("Proxy: a problem of the server behind it is reported as the server's") {
    Behind net;
    REQUIRE(net.connect(net.stream(net.target(Protocol::http)),
                        server_context(CertificateAuthority("x").server({"127.0.0.1"}))));
    CHECK(net.connected.ec != errc::proxy_failed);
    CHECK(net.connected.text.starts_with("certificate of 127.0.0.1 (CN=server) is not trusted"));
    CHECK_FALSE(contains(net.connected.text, "proxy"));
}

TEST_CASE("Proxy: close and destruction end each step") {
    const Protocol protocol = GENERATE(Protocol::http, Protocol::https, Protocol::socks5);
    const bool silent = GENERATE(true, false);
    const CertificateAuthority ca;
    TestProxy::Options options;
    options.socks = protocol == Protocol::socks5;
    options.silent = silent;
    if (protocol == Protocol::https) options.tls = server_context(ca.server({"127.0.0.1"}));
    // After each number of handlers.
    for (int steps = 0; steps < 40; ++steps) {
        Behind net(options);
        ProxyTarget through = net.target(protocol);
        through.tls.ca = ca.certificate();
        net.client = net.stream(through);
        net.client->async_connect(net.on_connect(net.connected));
        for (int i = 0; i < steps && !net.connected.done(); ++i) {
            net.io.restart();
            net.io.run_one_for(std::chrono::milliseconds(2));
        }
        const bool was_done = net.connected.done();
        steps % 2 == 0 ? net.client->close() : net.client.reset();
        net.io.restart();
        net.io.poll();
        REQUIRE(net.connected.calls == 1);
        if (!was_done) CHECK(net.connected.ec == asio::error::operation_aborted);
    }
}

TEST_CASE("Proxy: nothing can be read or written before the way is open") {
    Behind net({.silent = true});
    net.client = net.stream(net.target(Protocol::http), false);
    net.client->async_connect(net.on_connect(net.connected));
    REQUIRE(net.run_until([&] { return contains(net.proxy.heard, "CONNECT"); }));
    Outcome written;
    net.client->async_write(asio::buffer("secret", 6), net.on_io(written));
    REQUIRE(net.run_until([&] { return written.done(); }));
    CHECK(written.ec == asio::error::not_connected);
    char byte = 0;
    CHECK(net.read(*net.client, asio::buffer(&byte, 1)).ec == asio::error::not_connected);
    CHECK_FALSE(contains(net.proxy.heard, "secret"));
    CHECK(net.client->waits_for() == "the answer of " + net.name("http"));
}

TEST_CASE("TCP stream: a second connect of a stream is an error, also behind a proxy") {
    Behind net;
    REQUIRE(net.connect(net.stream(net.target(Protocol::http), false)));
    net.connected = {};
    net.client->async_connect(net.on_connect(net.connected));
    REQUIRE(net.run_until([&] { return net.connected.done(); }));
    CHECK(net.connected.ec == asio::error::already_started);
}

struct NoSink final : ResponseSink {
    void on_head(const ResponseHead&) override {}
    error_code on_body(std::string_view) override { return {}; }
};

/// The error text of a request that ends as the clock advances.
std::string timeout_problem(Behind& net, const std::shared_ptr<const ConnectTarget>& to) {
    const auto clock = std::make_shared<test::ManualClock>();
    HttpConnection connection(net.strand, net.connector, clock);
    NoSink sink;
    HttpRequest request;
    request.text = "GET / HTTP/1.1\r\n\r\n";
    request.connect_timeout = std::chrono::seconds(30);
    std::optional<std::string> problem;
    const int before = net.proxy.connections;
    connection.async_send(to, request, sink, [&](error_code ec, const std::string& why) {
        CHECK(ec == errc::connect_timeout);
        problem = why;
    });
    net.run_until([&] { return net.proxy.connections > before; });
    for (int i = 0; i < 20; ++i) {
        net.io.restart();
        net.io.run_for(std::chrono::milliseconds(1));
    }
    clock->advance(std::chrono::seconds(30));
    net.run_until([&] { return problem.has_value(); });
    return *problem;
}

TEST_CASE("Proxy: a silent proxy is reported after the timeout") {
    Behind net({.silent = true});
    const ServerUrl url = parse_server_url("https://api.corp", false);
    const auto through = [&](const std::string& scheme) {
        return make_connect_target(url, {},
                                   {.url = scheme + "://u:p@127.0.0.1:" + net.proxy.port()});
    };
    CHECK(timeout_problem(net, through("http")) ==
          "no connection within connect_timeout (30 s); it waits for the answer of " +
              net.name("http"));
    CHECK(timeout_problem(net, through("https")) ==
          "no connection within connect_timeout (30 s); it waits for the TLS handshake with " +
              net.name("https"));
    CHECK(timeout_problem(net, through("socks5")) ==
          "no connection within connect_timeout (30 s); it waits for the answer of " +
              net.name("socks5"));
}

}  // namespace
}  // namespace k8s_sd::detail
