#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"
#include "k8s_sd/detail/transport/tls/tls_session.hpp"
#include "k8s_sd/detail/transport/tls/tls_tickets.hpp"
#include "support/certificates.hpp"
#include "support/loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::CertificateAuthority;
using test::Identity;
using test::Loopback;
using test::server_context;

using Context = std::shared_ptr<asio::ssl::context>;

TlsConfig trusting(const CertificateAuthority& ca) {
    TlsConfig config;
    config.ca = ca.certificate();
    return config;
}

TlsConfig with_identity(TlsConfig config, const Identity& me) {
    config.cert = me.certificate;
    config.key = me.key;
    return config;
}

/// Connects, and receives a byte and with it the tickets of the server.
/// \returns whether the server accepted a ticket; empty: the handshake failed
std::optional<bool> resumes(Loopback& net, const Context& client, const Context& server,
                            const std::string& name = "127.0.0.1") {
    const long before = SSL_CTX_sess_hits(client->native_handle());
    REQUIRE(net.connect(net.make_client(ClientTls{client, name}), server));
    if (*net.connected.ec) {
        REQUIRE(net.run_until([&] { return net.accepted.done(); }));
        return std::nullopt;
    }
    REQUIRE(net.transfer(*net.server, *net.client, "x") == "x");
    return SSL_CTX_sess_hits(client->native_handle()) > before;
}

std::shared_ptr<TlsTicket> ticket_of(const Context& client, const Loopback& net) {
    return TlsTickets::of(client->native_handle(), "127.0.0.1:" + net.port() + "\n127.0.0.1");
}

/// Begins a handshake with the ticket, which the server never answers.
void hang(const Context& client, const std::shared_ptr<TlsTicket>& ticket) {
    using Socket = asio::local::stream_protocol::socket;
    asio::io_context context;
    Socket near(context), silent(context);
    asio::local::connect_pair(near, silent);
    near.non_blocking(true);
    TlsSession session(client->native_handle(), near.native_handle());
    session.use_ticket(ticket);
    const TlsSession::Result result = session.handshake(TlsSession::Side::client);
    CHECK(result.wait == TlsSession::Result::Wait::readable);
}

/// Whether the session of a new connection would offer a ticket.
bool is_offered(const Context& client, TlsTicket& ticket) {
    SSL* const session = SSL_new(client->native_handle());
    const bool offered = ticket.offer(session) != 0;
    SSL_free(session);
    return offered;
}

}  // namespace

TEST_CASE("TLS tickets: connections after the first one need no certificate") {
    const CertificateAuthority ca;
    for (const TlsVersion version : {TlsVersion::tls_1_2, TlsVersion::tls_1_3}) {
        const Context server = server_context(ca.server({"127.0.0.1"}));
        TlsConfig config = trusting(ca);
        config.min_version = config.max_version = version;
        const Context client = make_client_context(config);
        Loopback net;
        CHECK(resumes(net, client, server) == false);
        for (int i = 0; i < 3; ++i) CHECK(resumes(net, client, server) == true);
    }
}

TEST_CASE("TLS tickets: a ticket is offered again by a server that issues no other") {
    const CertificateAuthority ca;
    const Context server = server_context(ca.server({"127.0.0.1"}));
    const Context client = make_client_context(trusting(ca));
    Loopback net;
    CHECK(resumes(net, client, server) == false);
    SSL_CTX_set_num_tickets(server->native_handle(), 0);
    for (int i = 0; i < 3; ++i) CHECK(resumes(net, client, server) == true);
}

TEST_CASE("TLS tickets: a client certificate is shown in the full handshake only") {
    const CertificateAuthority ca;
    const Context server = server_context(ca.server({"127.0.0.1"}), ca.certificate());
    const Context client = make_client_context(with_identity(trusting(ca), ca.client("me")));
    Loopback net;
    CHECK(resumes(net, client, server) == false);
    CHECK(resumes(net, client, server) == true);
}

TEST_CASE("TLS tickets: another name or another server has another ticket") {
    const CertificateAuthority ca;
    const Context server = server_context(ca.server({"127.0.0.1", "a.example", "b.example"}));
    const Context client = make_client_context(trusting(ca));
    Loopback net, other;
    CHECK(resumes(net, client, server, "a.example") == false);
    CHECK(resumes(net, client, server, "b.example") == false);
    CHECK(resumes(other, client, server, "a.example") == false);
    CHECK(resumes(net, client, server, "a.example") == true);
    // A name that the certificate does not have is refused, although other names have tickets.
    CHECK(resumes(net, client, server, "c.example") == std::nullopt);
}

TEST_CASE("TLS tickets: another CA, client certificate or verification has none of them") {
    const CertificateAuthority ca, other_ca("another CA");
    const Context server = server_context(ca.server({"127.0.0.1"}));
    Loopback net;
    const TlsConfig config = trusting(ca);
    const Context client = make_client_context(config);
    CHECK(resumes(net, client, server) == false);
    CHECK(resumes(net, client, server) == true);

    CHECK(resumes(net, make_client_context(trusting(other_ca)), server) == std::nullopt);
    const TlsConfig identified = with_identity(config, ca.client("me"));
    CHECK(resumes(net, make_client_context(identified), server) == false);
    TlsConfig unverified;
    unverified.insecure_skip_verify = true;
    const Context careless = make_client_context(unverified);
    CHECK(resumes(net, careless, server) == false);
    // Nor has a verifying context those of one that does not verify.
    CHECK(resumes(net, careless, server) == true);
    CHECK(resumes(net, make_client_context(config), server) == false);
}

TEST_CASE("TLS tickets: a server with another certificate and key is verified") {
    const CertificateAuthority ca, other_ca("another CA");
    const Context client = make_client_context(trusting(ca));
    Loopback net;
    CHECK(resumes(net, client, server_context(ca.server({"127.0.0.1"}))) == false);
    // It cannot read the ticket.
    CHECK(resumes(net, client, server_context(other_ca.server({"127.0.0.1"}))) == std::nullopt);
    CHECK(resumes(net, client, server_context(ca.server({"127.0.0.1"}))) == false);
}

TEST_CASE("TLS tickets: none is offered once the certificate of the server has expired") {
    const Context server = server_context(CertificateAuthority().server({"127.0.0.1"}, -1));
    TlsConfig unverified;
    unverified.insecure_skip_verify = true;
    const Context client = make_client_context(unverified);
    Loopback net;
    CHECK(resumes(net, client, server) == false);
    CHECK(resumes(net, client, server) == false);
}

TEST_CASE("TLS tickets: a server that fails handshakes with its tickets gets none in the end") {
    const CertificateAuthority ca;
    const Context server = server_context(ca.server({"127.0.0.1"}), ca.certificate());
    SSL_CTX_set_session_id_context(server->native_handle(), nullptr, 0);
    const Context client = make_client_context(with_identity(trusting(ca), ca.client("me")));
    Loopback net;
    for (int i = 0; i < TlsTicket::max_failures; ++i) {
        CHECK(resumes(net, client, server) == false);
        CHECK(resumes(net, client, server) == std::nullopt);
    }
    for (int i = 0; i < 3; ++i) CHECK(resumes(net, client, server) == false);
}

TEST_CASE("TLS tickets: handshakes that fail together are one failure, and success forgives it") {
    const CertificateAuthority ca;
    const Context server = server_context(ca.server({"127.0.0.1"}));
    const Context client = make_client_context(trusting(ca));
    Loopback net;
    for (int outage = 0; outage < 2 * TlsTicket::max_failures; ++outage) {
        CHECK(resumes(net, client, server) == false);
        CHECK(resumes(net, client, server) == true);
        const std::shared_ptr<TlsTicket> ticket = ticket_of(client, net);
        std::vector<SSL*> sessions;
        std::vector<std::uint64_t> numbers;
        for (int i = 0; i < 10; ++i) {
            sessions.push_back(SSL_new(client->native_handle()));
            numbers.push_back(ticket->offer(sessions.back()));
            CHECK(numbers.back() != 0);
        }
        for (const std::uint64_t number : numbers) ticket->on_failure(number);
        for (SSL* const session : sessions) SSL_free(session);
        CHECK_FALSE(is_offered(client, *ticket));
    }
}

TEST_CASE("TLS tickets: a handshake without an end drops its ticket, and counts as failed") {
    const CertificateAuthority ca;
    const Context server = server_context(ca.server({"127.0.0.1"}));
    const Context client = make_client_context(trusting(ca));
    Loopback net;
    for (int i = 0; i < TlsTicket::max_failures; ++i) {
        CHECK(resumes(net, client, server) == false);
        hang(client, ticket_of(client, net));
        CHECK_FALSE(is_offered(client, *ticket_of(client, net)));
    }
    for (int i = 0; i < 3; ++i) CHECK(resumes(net, client, server) == false);
}

TEST_CASE("TLS tickets: failures count only in a row, also if tickets are declined") {
    const CertificateAuthority ca;
    const Identity identity = ca.server({"127.0.0.1"});
    const Context client = make_client_context(trusting(ca));
    Loopback net;
    for (int outage = 0; outage < 2 * TlsTicket::max_failures; ++outage) {
        // Each server has a key of its own for tickets.
        CHECK(resumes(net, client, server_context(identity)) == false);
        CHECK(resumes(net, client, server_context(identity)) == false);
        CHECK(is_offered(client, *ticket_of(client, net)));
        hang(client, ticket_of(client, net));
    }
}

TEST_CASE("TLS tickets: the number of servers with tickets is bounded") {
    const Context client = make_client_context(TlsConfig{});
    SSL_CTX* const context = client->native_handle();
    const std::shared_ptr<TlsTicket> first = TlsTickets::of(context, "0");
    CHECK(TlsTickets::of(context, "0") == first);
    for (std::size_t i = 1; i < TlsTickets::max_servers; ++i)
        TlsTickets::of(context, std::to_string(i));
    CHECK(TlsTickets::of(context, "0") == first);
    TlsTickets::of(context, "one too many");
    CHECK(TlsTickets::of(context, "0") != first);
}

TEST_CASE("TLS tickets: a context of a host keeps none") {
    asio::ssl::context context(asio::ssl::context::tls_client);
    CHECK(TlsTickets::of(context.native_handle(), "a") == nullptr);
}

}  // namespace k8s_sd::detail
