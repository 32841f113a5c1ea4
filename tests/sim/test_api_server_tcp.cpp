#include "k8s_sd/error.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/certificates.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <openssl/ssl.h>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using k8s_sd::sim::ApiServer;
using k8s_sd::sim::ApiServerOptions;
using k8s_sd::test::CertificateAuthority;
using k8s_sd::test::Identity;

/// A context with its own threads, as a host may use it.
class Threads {
 public:
    explicit Threads(int count) {
        for (int i = 0; i < count; ++i) threads_.emplace_back([this] { context_.run(); });
    }
    ~Threads() {
        work_.reset();
        context_.stop();
        for (std::thread& thread : threads_) thread.join();
    }
    asio::any_io_executor executor() { return context_.get_executor(); }

 private:
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_ =
        asio::make_work_guard(context_);
    std::vector<std::thread> threads_;
};

tcp::endpoint loopback(unsigned short port) { return {asio::ip::address_v4::loopback(), port}; }

template <class Stream>
std::string get(Stream& stream, const std::string& path) {
    asio::write(stream, asio::buffer("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"));
    std::string received;
    asio::read_until(stream, asio::dynamic_buffer(received), "]}\n");
    return received;
}

std::string pod(int number) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":"p)" +
           std::to_string(number) + R"("}})";
}

}  // namespace

TEST_CASE("ApiServer: it answers on a loopback port of its own") {
    Threads threads(1);
    ApiServer server(threads.executor());
    const unsigned short port = server.listen();
    CHECK(server.url() == "http://127.0.0.1:" + std::to_string(port));
    asio::io_context context;
    tcp::socket socket(context);
    socket.connect(loopback(port));
    CHECK(get(socket, "/api/v1/pods").find("PodList") != std::string::npos);
    CHECK(get(socket, "/api/v1/nodes").find("NodeList") != std::string::npos);
    CHECK_THROWS_AS(ApiServer(threads.executor()).listen(port), boost::system::system_error);
}

TEST_CASE("ApiServer: with a certificate it speaks TLS and can ask clients for theirs") {
    const CertificateAuthority authority;
    const Identity identity = authority.server({"127.0.0.1"});
    ApiServerOptions options;
    options.tls_certificate = identity.certificate;
    options.tls_key = identity.key;
    options.tls_client_ca = authority.certificate();
    Threads threads(1);
    ApiServer server(threads.executor(), options);
    const unsigned short port = server.listen();
    CHECK(server.url().starts_with("https://"));

    ssl::context trust(ssl::context::tls_client);
    trust.add_certificate_authority(asio::buffer(authority.certificate()));
    trust.set_verify_mode(ssl::verify_peer);
    asio::io_context context;
    SECTION("a client without certificate is turned away") {
        ssl::stream<tcp::socket> stream(context, trust);
        stream.lowest_layer().connect(loopback(port));
        boost::system::error_code ignored;
        stream.handshake(ssl::stream_base::client, ignored);
        CHECK_THROWS(get(stream, "/api/v1/pods"));
    }
    SECTION("a client with one is served") {
        const Identity client = authority.client("me");
        trust.use_certificate_chain(asio::buffer(client.certificate));
        trust.use_private_key(asio::buffer(client.key), ssl::context::pem);
        ssl::stream<tcp::socket> stream(context, trust);
        stream.lowest_layer().connect(loopback(port));
        stream.handshake(ssl::stream_base::client);
        CHECK(get(stream, "/api/v1/pods").find("PodList") != std::string::npos);
        // It has issued a session ticket, and accepts it.
        const std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session(
            SSL_get1_session(stream.native_handle()), SSL_SESSION_free);
        REQUIRE(SSL_SESSION_is_resumable(session.get()) == 1);
        ssl::stream<tcp::socket> resumed(context, trust);
        REQUIRE(SSL_set_session(resumed.native_handle(), session.get()) == 1);
        resumed.lowest_layer().connect(loopback(port));
        resumed.handshake(ssl::stream_base::client);
        CHECK(SSL_session_reused(resumed.native_handle()) == 1);
        CHECK(get(resumed, "/api/v1/pods").find("PodList") != std::string::npos);
    }
}

TEST_CASE("ApiServer: a certificate that cannot be used is an error of the configuration") {
    const Identity identity = CertificateAuthority().server({"127.0.0.1"});
    const Identity other = CertificateAuthority().server({"127.0.0.1"});
    asio::io_context context;
    for (const auto& [certificate, key] :
         std::vector<std::pair<std::string, std::string>>{{"nonsense", identity.key},
                                                          {identity.certificate, "nonsense"},
                                                          {identity.certificate, ""},
                                                          {identity.certificate, other.key}}) {
        ApiServerOptions options;
        options.tls_certificate = certificate;
        options.tls_key = key;
        ApiServer server(context.get_executor(), options);
        CHECK_THROWS_AS(server.listen(), k8s_sd::ConfigError);
    }
}

TEST_CASE("ApiServer: many threads may watch while others change and ask") {
    constexpr int changes = 200;
    constexpr int watchers = 4;
    Threads threads(2);
    ApiServer server(threads.executor());
    const unsigned short port = server.listen();
    std::atomic<int> complete{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < watchers; ++i) {
        clients.emplace_back([&] {
            asio::io_context context;
            tcp::socket socket(context);
            socket.connect(loopback(port));
            asio::write(socket, asio::buffer(std::string(
                                    "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n")));
            std::string received;
            asio::read_until(socket, asio::dynamic_buffer(received),
                             "\"p" + std::to_string(changes - 1) + "\"");
            ++complete;
        });
    }
    std::thread observer([&] {
        while (complete < watchers) {
            static_cast<void>(server.requests());
            static_cast<void>(server.open_watches());
            static_cast<void>(server.url());
            static_cast<void>(server.count("pods"));
            server.compact();
            server.fail_next(k8s_sd::sim::Response::never(), 1, "/nowhere");
        }
    });
    for (int i = 0; i < changes; ++i) {
        server.apply(pod(i));
        server.remove("pods", "d", "p" + std::to_string(i - 1));
    }
    for (std::thread& client : clients) client.join();
    observer.join();
    CHECK(complete == watchers);
    CHECK(server.count("pods") == 1);
    server.disconnect_all();
    server.end_watches();
}
