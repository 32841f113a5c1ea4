#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"
#include "k8s_sd/detail/transport/tls/tls_peer.hpp"
#include "support/certificates.hpp"
#include "support/contains.hpp"
#include "support/loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::CertificateAuthority;
using test::contains;
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

/// The error text of the failed handshake with this certificate under this name; "" on success.
std::string rejection(const std::string& ca, const Identity& server,
                      const std::string& server_name) {
    ClientTls tls = client_tls(trusting(ca), server_name);
    tls.config = std::make_shared<TlsConfig>(trusting(ca));
    const Handshake h(tls, server_context(server));
    CHECK(h.ok() == h.connected.text.empty());
    return h.connected.text;
}
std::string rejection(const CertificateAuthority& ca, const Identity& server,
                      const std::string& server_name) {
    return rejection(ca.certificate(), server, server_name);
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
    const std::string not_trusted = "certificate of 127.0.0.1 (CN=server) is not trusted: ";
    CHECK(rejection(ca, other.server({"127.0.0.1"}), "127.0.0.1") ==
          not_trusted + "it is signed by CN=another CA, which is not the one of the inline CA; is "
                        "it the CA of this server?");
    Identity with_ca = other.server({"127.0.0.1"});
    with_ca.certificate += other.certificate();
    CHECK(rejection(ca, with_ca, "127.0.0.1") ==
          not_trusted + "its chain ends with CN=another CA, which is not the one of the inline "
                        "CA; is it the CA of this server?");
    CHECK(rejection(ca, CertificateAuthority::self_signed({"127.0.0.1"}), "127.0.0.1") ==
          "certificate of 127.0.0.1 (CN=self) is not trusted: it is self-signed, and not the one "
          "of the inline CA; is it the CA of this server?");
    const auto two = ca.certificate() + CertificateAuthority("a third").certificate();
    CHECK(rejection(two, other.server({"127.0.0.1"}), "127.0.0.1") ==
          not_trusted + "it is signed by CN=another CA, which is none of the 2 of the inline CA; "
                        "is it the CA of this server?");
    CHECK(rejection("", other.server({"127.0.0.1"}), "127.0.0.1") ==
          not_trusted + "it is signed by CN=another CA, which is none of the system's trust "
                        "store; configure the CA that signs it (ca_file)");
}

TEST_CASE("TLS client: one of several authorities in a file is enough") {
    const CertificateAuthority ca, other("another CA");
    const std::string both = other.certificate() + "some words between\n" + ca.certificate();
    CHECK(rejection(both, ca.server({"127.0.0.1"}), "127.0.0.1") == "");
    CHECK(rejection(both, other.server({"127.0.0.1"}), "127.0.0.1") == "");
}

TEST_CASE("TLS client: verifies names and addresses, subject alternative names only") {
    const CertificateAuthority ca;
    const std::string remedy = "; is it the right server? Then set server_name (in a kubeconfig "
                               "tls-server-name) to one of its names";
    CHECK(rejection(ca, ca.server({"foo.example", "10.0.0.1", "::1"}), "127.0.0.1") ==
          "certificate is for foo.example, 10.0.0.1, ::1, not for 127.0.0.1" + remedy);
    CHECK(rejection(ca, ca.server({"foo.example"}), "bar.example") ==
          "certificate is for foo.example, not for bar.example" + remedy);
    CHECK(rejection(ca, ca.server({}), "server") ==
          // "server" is its common name.
          "certificate is for no name at all, not for server" + remedy);
    CHECK(rejection(ca, ca.server({"foo.example"}), "foo.example").empty());
    CHECK(rejection(ca, ca.server({"foo.example"}), "foo.example.").empty());
    CHECK(rejection(ca, ca.server({"::1"}), "::1").empty());
    CHECK(rejection(ca, ca.server({"*.foo.example"}), "a.foo.example").empty());
    CHECK_FALSE(rejection(ca, ca.server({"a*.foo.example"}), "ab.foo.example").empty());
    CHECK_FALSE(rejection(ca, ca.server({"*.foo.example"}), "a.b.foo.example").empty());
}

TEST_CASE("TLS client: takes certificates for any use, as Go does") {
    using Special = CertificateAuthority::Special;
    const CertificateAuthority ca;
    const auto rejected = [&](const Special& special) {
        return rejection(ca, ca.special({"127.0.0.1"}, special), "127.0.0.1");
    };
    CHECK(rejected({.usage = "anyExtendedKeyUsage"}).empty());
    CHECK(rejected({.usage = "clientAuth,anyExtendedKeyUsage"}).empty());
    CHECK(rejected({.usage = "anyExtendedKeyUsage", .key_usage = "digitalSignature"}).empty());
    CHECK(rejected({.usage = ""}).empty());
    CHECK_FALSE(rejected({.usage = "clientAuth"}).empty());
    CHECK_FALSE(rejected({.usage = "codeSigning"}).empty());
    CHECK_FALSE(rejected({.usage = "anyExtendedKeyUsage", .key_usage = "cRLSign"}).empty());
    // No other violation is ignored.
    const Identity server = ca.special({"127.0.0.1"}, {.usage = "anyExtendedKeyUsage"});
    CHECK_FALSE(rejection(CertificateAuthority("another"), server, "127.0.0.1").empty());
    CHECK_FALSE(rejection(ca, server, "127.0.0.2").empty());
}

TEST_CASE("TLS client: takes RSA keys of 1024 bits, as Go does, and no smaller ones") {
    const CertificateAuthority ca;
    const Identity small = ca.special({"127.0.0.1"}, {.rsa_bits = 1024});
    const auto server = [](const Identity& identity) {
        auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
        SSL_CTX_set_security_level(context->native_handle(), 0);
        context->use_certificate_chain(asio::buffer(identity.certificate));
        context->use_private_key(asio::buffer(identity.key), asio::ssl::context::pem);
        return context;
    };
    const TlsConfig config = trusting(ca.certificate());
    const Handshake taken(client_tls(config), server(small));
    INFO(taken.connected.text);
    CHECK(taken.ok());
    const Identity tiny = ca.special({"127.0.0.1"}, {.rsa_bits = 768});
    CHECK_FALSE(Handshake(client_tls(config), server(tiny)).ok());
    // Another authority or another name is still refused.
    const CertificateAuthority other("another");
    CHECK_FALSE(Handshake(client_tls(trusting(other.certificate())), server(small)).ok());
    CHECK_FALSE(Handshake(client_tls(config, "127.0.0.2"), server(small)).ok());

    TlsConfig own = config;
    own.cert = small.certificate;
    own.key = small.key;
    CHECK(Handshake(client_tls(own), server_context(ca.server({"127.0.0.1"}))).ok());
    own.cert = tiny.certificate;
    own.key = tiny.key;
    CHECK_THROWS_AS(make_client_context(own), TlsError);
}

TEST_CASE("TLS client: an address of IPv4 in its form of IPv6 is the same address") {
    const CertificateAuthority ca;
    const std::vector<unsigned char> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
    const Identity server = ca.special({}, {.addresses = {mapped}});
    CHECK(rejection(ca, server, "127.0.0.1").empty());
    CHECK(rejection(ca, server, "::ffff:127.0.0.1").empty());
    CHECK_FALSE(rejection(ca, server, "127.0.0.2").empty());
    CHECK_FALSE(rejection(ca, server, "::127.0.0.1").empty());
    CHECK_FALSE(rejection(ca, server, "localhost").empty());
    CHECK(rejection(ca, ca.server({"127.0.0.1"}), "::ffff:127.0.0.1").empty());
    CHECK_FALSE(rejection(ca, ca.server({"127.0.0.1"}), "::ffff:127.0.0.2").empty());
    CHECK_FALSE(rejection(ca, ca.server({"::7f00:1"}), "127.0.0.1").empty());
    CHECK_FALSE(rejection(ca, ca.special({}, {.addresses = {{127, 0, 0}}}), "127.0.0.1").empty());
}

TEST_CASE("TLS client: names of a hostile certificate stay short and printable in texts") {
    const CertificateAuthority ca;
    std::vector<std::string> names(8, std::string(200, 'a'));
    names[0] = "evil\nname\x1b[31m";
    const std::string text = rejection(ca, ca.server(names), "foo.example");
    INFO(text);
    CHECK(text.starts_with("certificate is for evil?name?[31m, aaa"));
    CHECK(contains(text, ", ..., not for foo.example; "));
    CHECK(text.size() < 700);
}

TEST_CASE("TLS client: a hostile certificate of another CA stays short and printable in texts") {
    const CertificateAuthority ca;
    for (const std::string& evil : {std::string(64, 'a'), std::string("foo\0.example", 12),
                                    std::string("k8s_sd:\x1b[31m error:\r\nforged\xc2\x85")}) {
        const CertificateAuthority other(evil);
        const std::string text =
            rejection(ca, other.server({"127.0.0.1"}, 1, -1, evil), "127.0.0.1");
        INFO(text);
        CHECK(contains(text, " is not trusted: "));
        CHECK(text.size() < 500);
        for (const char c : text) CHECK((c >= 0x20 && c < 0x7f));
    }
    // A name with an embedded NUL does not match its prefix.
    CHECK_FALSE(
        rejection(ca, ca.server({std::string("foo.example\0.evil", 17)}), "foo.example").empty());
}

TEST_CASE("TLS client: thousands of names in a certificate are no problem") {
    const CertificateAuthority ca;
    std::vector<std::string> names;
    for (int i = 0; i < 3000; ++i) names.push_back("name-" + std::to_string(i) + ".example");
    CHECK(rejection(ca, ca.server(names), "name-2999.example") == "");
    CHECK(rejection(ca, ca.server(names), "other.example").size() < 400);
    // Limits the certificate chain to 100 KiB.
    for (int i = 0; i < 3000; ++i) names.push_back(std::string(40, 'x') + std::to_string(i));
    CHECK_FALSE(rejection(ca, ca.server(names), "name-2999.example").empty());
}

/// "2026-01-02", that many days from now.
std::string day(int days) {
    const std::time_t time = std::time(nullptr) + days * 24L * 60 * 60;
    char text[16];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&time))};
}

TEST_CASE("TLS client: rejects a certificate that has expired or is not valid yet") {
    const CertificateAuthority ca;
    const std::string expired = rejection(ca, ca.server({"127.0.0.1"}, -3), "127.0.0.1");
    CHECK(expired.starts_with("certificate of 127.0.0.1 (CN=server) expired " + day(-3)));
    CHECK(contains(expired, " UTC; is this machine's clock right? It says " + day(0)));
    const std::string future = rejection(ca, ca.server({"127.0.0.1"}, 9, 5), "127.0.0.1");
    CHECK(future.starts_with("certificate of 127.0.0.1 (CN=server) is not valid before " + day(5)));
    CHECK(contains(future, "; is this machine's clock right? It says " + day(0)));
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

/// The content of the client's hello, as the server sees it.
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

TEST_CASE("TLS client: a server that refuses HTTP/1.1 is said to") {
    const CertificateAuthority ca;
    const auto context = server_context(ca.server({"127.0.0.1"}));
    SSL_CTX_set_alpn_select_cb(
        context->native_handle(),
        [](SSL*, const unsigned char**, unsigned char*, const unsigned char*, unsigned, void*) {
            return SSL_TLSEXT_ERR_ALERT_FATAL;
        },
        nullptr);
    const Handshake h(client_tls(trusting(ca.certificate())), context);
    CHECK(h.connected.text ==
          "127.0.0.1:" + h.port() +
              " offers no HTTP/1.1, perhaps HTTP/2 only; enable HTTP/1.1 there");
}

/// A server of that version only.
std::shared_ptr<asio::ssl::context> server_of(const CertificateAuthority& ca, int version) {
    const auto context = server_context(ca.server({"127.0.0.1"}));
    SSL_CTX_set_cipher_list(context->native_handle(), "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context->native_handle(), version);
    SSL_CTX_set_max_proto_version(context->native_handle(), version);
    return context;
}

TEST_CASE("TLS client: speaks the versions that are configured, and 1.2 at least") {
    const CertificateAuthority ca;
    const auto problem = [&](TlsVersion least, TlsVersion greatest, int server) {
        TlsConfig config = trusting(ca.certificate());
        config.min_version = least;
        config.max_version = greatest;
        auto tls = client_tls(config);
        SSL_CTX_set_cipher_list(tls.context->native_handle(), "ALL:@SECLEVEL=0");
        const Handshake h(tls, server_of(ca, server));
        const std::string who = "127.0.0.1:" + h.port() + " does not speak TLS ";
        if (!h.ok()) CHECK(h.connected.text.starts_with(who));
        return h.ok() ? "" : h.connected.text.substr(who.size());
    };
    using enum TlsVersion;
    const std::string limits = ", which min_version and max_version allow";
    CHECK(problem(tls_1_2, tls_1_3, TLS1_1_VERSION) == "1.2 to 1.3" + limits);
    CHECK(problem(tls_1_2, tls_1_3, TLS1_2_VERSION) == "");
    CHECK(problem(tls_1_2, tls_1_3, TLS1_3_VERSION) == "");
    CHECK(problem(tls_1_3, tls_1_3, TLS1_2_VERSION) == "1.3" + limits);
    CHECK(problem(tls_1_3, tls_1_3, TLS1_3_VERSION) == "");
    CHECK(problem(tls_1_2, tls_1_2, TLS1_3_VERSION) == "1.2" + limits);
    CHECK(problem(tls_1_2, tls_1_2, TLS1_2_VERSION) == "");
}

TEST_CASE("TLS client: shows its certificate when the server demands one") {
    const CertificateAuthority ca, users("users");
    const auto context = server_context(ca.server({"127.0.0.1"}), users.certificate());
    TlsConfig config = trusting(ca.certificate());
    const auto show = [&config](const Identity& user) {
        config.cert = user.certificate;
        config.key = user.key;
    };
    /// With TLS 1.3, the client learns the server's verdict with its first read.
    const auto verdict = [&] {
        Handshake h(client_tls(config), context);
        char byte = 0;
        const Outcome read = h.read(*h.client, asio::buffer(&byte, 1));
        CHECK(*h.accepted.ec);
        CHECK(h.accepted.text.starts_with("TLS handshake with the client failed: "));
        return explain_tls_error(*read.ec, !config.cert.empty());
    };
    SECTION("it has one") {
        show(users.client("system:prometheus"));
        Handshake h(client_tls(config), context);
        CHECK(h.ok());
        CHECK(h.transfer(*h.server, *h.client, "welcome") == "welcome");
    }
    SECTION("it has none") {
        CHECK(verdict() == "demands a client certificate (cert_file and key_file): none was shown");
    }
    SECTION("it has expired") {
        show(users.client("me", -1));
        CHECK(verdict() == "does not accept the client certificate: it has expired");
    }
    SECTION("it is of another CA") {
        show(CertificateAuthority("other").client("me"));
        CHECK(verdict() == "does not accept the client certificate: it is signed by a CA that "
                           "is unknown there");
    }
    SECTION("TLS 1.2 reports it in the handshake") {
        config.max_version = TlsVersion::tls_1_2;
        show(users.client("me", -1));
        const Handshake h(client_tls(config), context);
        CHECK(h.connected.text ==
              "127.0.0.1:" + h.port() + " does not accept the client certificate: it has expired");
        config.cert = config.key = "";
        const Handshake none(client_tls(config), context);
        const std::string missing = "refuses the handshake: a client certificate may be";
        CHECK(contains(none.connected.text, missing));
        // Without verification, the verification cannot be the reason.
        config.ca = "";
        config.insecure_skip_verify = true;
        CHECK(contains(Handshake(client_tls(config), context).connected.text, missing));
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
        CHECK(net.connected.text == "127.0.0.1:" + net.port() +
                                        " does not speak TLS; should the URL start with http://?");
    }
    SECTION("end of stream") {
        char hello[4096];
        net.read(*net.server, asio::buffer(hello));  // unread bytes would make it a reset
        net.server.reset();
        REQUIRE(net.run_until([&] { return net.connected.done(); }));
        CHECK(net.connected.text == "127.0.0.1:" + net.port() +
                                        " closed the connection during the TLS handshake; should "
                                        "the URL start with http://?");
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
