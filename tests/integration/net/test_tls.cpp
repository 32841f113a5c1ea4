#include "k8s_sd/detail/net/byte_stream.hpp"
#include "k8s_sd/detail/net/tls.hpp"
#include "support/certificates.hpp"
#include "support/loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::CertificateAuthority;
using test::Identity;
using test::Loopback;
using test::Outcome;
using test::server_context;

TlsConfig trusting(const std::string& ca) {
    TlsConfig config;
    config.ca = ca;
    return config;
}

ClientTls client_tls(const TlsConfig& config, std::string server_name = "127.0.0.1") {
    return {make_client_context(config), std::move(server_name)};
}

/// One handshake over loopback.
struct Handshake : Loopback {
    Handshake(const ClientTls& tls, std::shared_ptr<asio::ssl::context> context) {
        REQUIRE(connect(make_client(tls), std::move(context)));
    }
    bool ok() const { return !*connected.ec; }
};

/// The text of the failed handshake with this certificate under this name; "" when it succeeds.
std::string rejection(const CertificateAuthority& ca, const Identity& server,
                      const std::string& server_name) {
    const Handshake h(client_tls(trusting(ca.certificate()), server_name), server_context(server));
    CHECK(h.ok() == h.connected.text.empty());
    return h.connected.text;
}

TEST_CASE("TLS client: talks to a server with a certificate of the configured CA") {
    const CertificateAuthority ca;
    Handshake h(client_tls(trusting(ca.certificate())), server_context(ca.server({"127.0.0.1"})));
    INFO(h.connected.text);
    REQUIRE(h.ok());
    CHECK_FALSE(*h.accepted.ec);
    const std::string large(300'000, 'x');
    CHECK(h.transfer(*h.client, *h.server, "question") == "question");
    CHECK(h.transfer(*h.server, *h.client, large) == large);
}

TEST_CASE("TLS client: trusts a certificate that is not self-signed when it is configured") {
    const Identity server = CertificateAuthority().server({"127.0.0.1"});
    CHECK(Handshake(client_tls(trusting(server.certificate)), server_context(server)).ok());
}

TEST_CASE("TLS client: a server that ends without close_notify gives eof") {
    const CertificateAuthority ca;
    Handshake h(client_tls(trusting(ca.certificate())), server_context(ca.server({"127.0.0.1"})));
    REQUIRE(h.transfer(*h.server, *h.client, "x") == "x");
    h.server.reset();
    char byte = 0;
    CHECK(h.read(*h.client, asio::buffer(&byte, 1)).ec == asio::error::eof);
}

TEST_CASE("TLS client: explains a certificate of another CA") {
    const CertificateAuthority ca, other("another CA");
    CHECK(rejection(ca, other.server({"127.0.0.1"}), "127.0.0.1") ==
          "certificate of 127.0.0.1 is not trusted: unable to get local issuer certificate "
          "(check the CA file)");
    Identity with_ca = other.server({"127.0.0.1"});
    with_ca.certificate += other.certificate();
    CHECK(rejection(ca, with_ca, "127.0.0.1") ==
          "certificate of 127.0.0.1 is not trusted: self-signed certificate in certificate chain "
          "(check the CA file)");
}

TEST_CASE("TLS client: verifies names and addresses, subject alternative names only") {
    const CertificateAuthority ca;
    CHECK(rejection(ca, ca.server({"foo.example", "10.0.0.1", "::1"}), "127.0.0.1") ==
          "certificate is for foo.example, 10.0.0.1, ::1, not for 127.0.0.1");
    CHECK(rejection(ca, ca.server({"foo.example"}), "bar.example") ==
          "certificate is for foo.example, not for bar.example");
    CHECK(rejection(ca, ca.server({}), "server") ==
          "certificate is for no name at all, not for server");  // "server" is its common name
    CHECK(rejection(ca, ca.server({"foo.example"}), "foo.example").empty());
    CHECK(rejection(ca, ca.server({"foo.example"}), "foo.example.").empty());
    CHECK(rejection(ca, ca.server({"::1"}), "::1").empty());
    CHECK(rejection(ca, ca.server({"*.foo.example"}), "a.foo.example").empty());
    CHECK_FALSE(rejection(ca, ca.server({"a*.foo.example"}), "ab.foo.example").empty());
    CHECK_FALSE(rejection(ca, ca.server({"*.foo.example"}), "a.b.foo.example").empty());
}

TEST_CASE("TLS client: names of a hostile certificate stay short and printable in texts") {
    const CertificateAuthority ca;
    std::vector<std::string> names(8, std::string(200, 'a'));
    names[0] = "evil\nname\x1b[31m";
    const std::string text = rejection(ca, ca.server(names), "foo.example");
    INFO(text);
    CHECK(text.starts_with("certificate is for evil?name?[31m, aaa"));
    CHECK(text.ends_with(", ..., not for foo.example"));
    CHECK(text.size() < 600);
}

TEST_CASE("TLS client: rejects an expired certificate") {
    const CertificateAuthority ca;
    CHECK(rejection(ca, ca.server({"127.0.0.1"}, -1), "127.0.0.1") ==
          "certificate of 127.0.0.1 is not valid: certificate has expired");
}

TEST_CASE("TLS client: never takes a missing name as permission not to verify") {
    const CertificateAuthority ca;
    for (const std::string& name : {std::string(), std::string("."), std::string("a\0b", 3)}) {
        const Handshake h(client_tls(trusting(ca.certificate()), name),
                          server_context(ca.server({"127.0.0.1"})));
        CHECK_FALSE(h.ok());
    }
}

TEST_CASE("TLS client: insecure_skip_verify accepts any certificate") {
    const CertificateAuthority ca;
    TlsConfig config;
    config.insecure_skip_verify = true;
    CHECK(Handshake(client_tls(config), server_context(ca.server({"foo.example"}, -1))).ok());
}

/// What the server is told in the client's hello.
struct Hello {
    std::string alpn;
    std::string server_name;
};

Hello hello_for(const std::string& server_name) {
    const CertificateAuthority ca;
    const auto context = server_context(ca.server({server_name}));
    Hello hello;
    const auto record = [](SSL* ssl, const unsigned char**, unsigned char*, const unsigned char* in,
                           unsigned size, void* to) {
        auto& result = *static_cast<Hello*>(to);
        result.alpn.assign(reinterpret_cast<const char*>(in), size);
        const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        result.server_name = name ? name : "";
        return SSL_TLSEXT_ERR_NOACK;
    };
    SSL_CTX_set_alpn_select_cb(context->native_handle(), record, &hello);
    CHECK(Handshake(client_tls(trusting(ca.certificate()), server_name), context).ok());
    return hello;
}

TEST_CASE("TLS client: asks for HTTP/1.1 and names the server, but never an address") {
    CHECK(hello_for("foo.example").alpn == "\x08http/1.1");
    CHECK(hello_for("foo.example").server_name == "foo.example");
    CHECK(hello_for("127.0.0.1").server_name.empty());
    CHECK(hello_for("::1").server_name.empty());
}

TEST_CASE("TLS client: refuses TLS 1.1") {
    const CertificateAuthority ca;
    const auto context = server_context(ca.server({"127.0.0.1"}));
    SSL_CTX_set_cipher_list(context->native_handle(), "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context->native_handle(), TLS1_1_VERSION);
    auto tls = client_tls(trusting(ca.certificate()));
    SSL_CTX_set_cipher_list(tls.context->native_handle(), "ALL:@SECLEVEL=0");
    const Handshake h(tls, context);
    CHECK_FALSE(h.ok());
    CHECK(h.connected.text.find("version") != std::string::npos);
}

TEST_CASE("TLS client: shows its certificate when the server demands one") {
    const CertificateAuthority ca, users("users");
    const auto context = server_context(ca.server({"127.0.0.1"}), users.certificate());
    TlsConfig config = trusting(ca.certificate());
    SECTION("it has one") {
        const Identity user = users.client("system:prometheus");
        config.cert = user.certificate;
        config.key = user.key;
        Handshake h(client_tls(config), context);
        CHECK(h.ok());
        CHECK(h.transfer(*h.server, *h.client, "welcome") == "welcome");
    }
    SECTION("it has none") {
        // TLS 1.3: the client learns it with its first read.
        Handshake h(client_tls(config), context);
        char byte = 0;
        const Outcome read = h.read(*h.client, asio::buffer(&byte, 1));
        CHECK(read.ec->message().find("certificate required") != std::string::npos);
        CHECK(*h.accepted.ec);
        CHECK(h.accepted.text.starts_with("TLS handshake with the client failed: "));
    }
}

TEST_CASE("TLS client: says so when the peer does not speak TLS or hangs up") {
    const CertificateAuthority ca;
    Loopback net;
    net.client = net.make_client(client_tls(trusting(ca.certificate())));
    net.accept();
    net.client->async_connect(net.on_connect(net.connected));
    REQUIRE(net.run_until([&] { return net.accepted.done(); }));
    SECTION("plain HTTP") {
        Outcome written;
        net.server->async_write(asio::buffer("HTTP/1.1 400 Bad Request\r\n\r\n", 28),
                                net.on_io(written));
        REQUIRE(net.run_until([&] { return net.connected.done(); }));
        CHECK(net.connected.text == "127.0.0.1:" + net.port() + " does not speak TLS");
    }
    SECTION("end of stream") {
        char hello[4096];
        net.read(*net.server, asio::buffer(hello));  // unread bytes would make it a reset
        net.server.reset();
        REQUIRE(net.run_until([&] { return net.connected.done(); }));
        CHECK(net.connected.text ==
              "127.0.0.1:" + net.port() + " closed the connection during the TLS handshake");
    }
    CHECK(*net.connected.ec);
}

TEST_CASE("TLS stream: close and destruction end handshakes, reads and writes") {
    const CertificateAuthority ca;
    Loopback net;
    const auto tls = client_tls(trusting(ca.certificate()));
    SECTION("handshake") {
        net.client = net.make_client(tls);
        net.accept();
        net.client->async_connect(net.on_connect(net.connected));
        REQUIRE(net.run_until([&] { return net.accepted.done(); }));
        SECTION("close") { net.client->close(); }
        SECTION("destruction") { net.client.reset(); }
        net.drain();
        CHECK(net.connected.ec == asio::error::operation_aborted);
        CHECK(net.connected.calls == 1);
    }
    SECTION("read and write") {
        REQUIRE(net.connect(net.make_client(tls), server_context(ca.server({"127.0.0.1"}))));
        const std::string more_than_fits(std::size_t{64} << 20, 'x');
        char buffer[16];
        Outcome read, written;
        net.client->async_read_some(asio::buffer(buffer), net.on_io(read));
        net.client->async_write(asio::buffer(more_than_fits), net.on_io(written));
        net.io.poll();
        SECTION("close") { net.client->close(); }
        SECTION("destruction") { net.client.reset(); }
        net.drain();
        CHECK(read.ec == asio::error::operation_aborted);
        CHECK(written.ec == asio::error::operation_aborted);
    }
}

}  // namespace
}  // namespace k8s_sd::detail
