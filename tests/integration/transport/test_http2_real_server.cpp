#include "k8s_sd/detail/transport/http2/http2_pool.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/certificates.hpp"
#include "support/real_server.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// The collected response of a real server.
struct RealAnswer final : ResponseSink {
    void on_head(const ResponseHead& received) override { head = received; }
    error_code on_body(std::string_view bytes) override {
        size += bytes.size();
        return {};
    }
    std::unique_ptr<HttpConnection> connection;
    ResponseHead head;
    std::size_t size = 0;
    std::optional<error_code> ec;
    std::string why;
};

/// nghttpd with some files, over TLS, and a client of it.
struct FileServer {
    static constexpr std::size_t large = 100 << 20;

    explicit FileServer(std::vector<std::string> options = {}) {
        if (!has_http2()) SKIP("built without nghttp2");
        const test::CertificateAuthority authority;
        const test::Identity identity = authority.server({"127.0.0.1"});
        folder.write("small", "hello");
        folder.write("large", std::string(large, 'x'));
        options.insert(options.end(), {"--address=127.0.0.1", "--htdocs=" + folder.path()});
        server.emplace("nghttpd", authority.certificate(), [&](unsigned short port) {
            std::vector<std::string> all = options;
            all.insert(all.end(), {std::to_string(port), folder.write("key", identity.key),
                                   folder.write("certificate", identity.certificate)});
            return all;
        });
        const auto to = std::make_shared<ConnectTarget>();
        to->host = "127.0.0.1";
        to->port = std::to_string(server->port());
        to->tls.emplace();
        to->tls->ca = authority.certificate();
        target = to;
    }
    RealAnswer& get(const std::string& path) {
        RealAnswer& answer = answers.emplace_back();
        answer.connection = std::make_unique<HttpConnection>(io.get_executor(), system_connector(),
                                                             system_clock(), pool);
        HttpRequest request;
        request.text = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        request.connect_timeout = request.idle_timeout = 60s;
        request.idle_error = errc::response_timeout;
        request.http2 = StreamUse::watch;
        answer.connection->async_send(target, std::move(request), answer,
                                      [this, &answer](error_code ec, std::string why) {
                                          answer.ec = ec;
                                          answer.why = std::move(why);
                                          if (++ended == answers.size()) {
                                              answers_ended();
                                          }
                                      });
        return answer;
    }
    void answers_ended() { io.stop(); }
    void run() {
        io.restart();
        io.run_for(60s);
        for (const RealAnswer& answer : answers) {
            INFO(answer.why);
            CHECK(answer.ec == error_code());
            CHECK(answer.head.status == 200);
        }
    }

    test::ServerFolder folder;
    std::optional<test::RealProgram> server;
    asio::io_context io;
    std::shared_ptr<Http2Pool> pool =
        std::make_shared<Http2Pool>(io.get_executor(), system_clock(), 0);
    HttpConnection::Target target;
    std::deque<RealAnswer> answers;
    std::size_t ended = 0;
};

TEST_CASE("HTTP/2 and nghttpd: many requests and a large body over one connection") {
    FileServer server;
    const RealAnswer& body = server.get("/large");
    for (int i = 0; i < 50; ++i) server.get("/small");
    server.run();
    CHECK(body.size == FileServer::large);
    for (std::size_t i = 1; i < server.answers.size(); ++i) CHECK(server.answers[i].size == 5);
    CHECK(server.pool->find(server.target, StreamUse::brief));
    CHECK_FALSE(server.pool->is_http1(server.target));
}

TEST_CASE("HTTP/2 and nghttpd: more requests than streams of a connection") {
    FileServer server({"--max-concurrent-streams=5"});
    for (int i = 0; i < 60; ++i) server.get("/small");
    server.run();
    for (const RealAnswer& answer : server.answers) CHECK(answer.size == 5);
}

}  // namespace
}  // namespace k8s_sd::detail
