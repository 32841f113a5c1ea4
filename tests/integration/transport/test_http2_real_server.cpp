#include "k8s_sd/detail/transport/http2/http2_pool.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/certificates.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <unistd.h>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// A folder for the files of a server, deleted in the end.
class ServerFolder {
 public:
    ServerFolder() {
        std::string name = (fs::temp_directory_path() / "k8s_sd-h2-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~ServerFolder() { fs::remove_all(path_); }
    ServerFolder(const ServerFolder&) = delete;
    ServerFolder& operator=(const ServerFolder&) = delete;
    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }
    std::string path() const { return path_; }

 private:
    fs::path path_;
};

bool is_installed(const std::string& program) {
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/usr/sbin/"}) {
        if (fs::exists(folder + program)) return true;
    }
    return false;
}

unsigned short free_port() {
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    return acceptor.local_endpoint().port();
}

bool accepts_connections(unsigned short port) {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    error_code ec;
    socket.connect({asio::ip::address_v4::loopback(), port}, ec);
    return !ec;
}

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
struct RealServer {
    static constexpr std::size_t large = 100 << 20;

    explicit RealServer(std::vector<std::string> options = {}) {
        if (!has_http2()) SKIP("built without nghttp2");
        if (!is_installed("nghttpd")) SKIP("nghttpd is not installed");
        const test::CertificateAuthority authority;
        const test::Identity identity = authority.server({"127.0.0.1"});
        folder.write("small", "hello");
        folder.write("large", std::string(large, 'x'));
        options.insert(options.end(), {"--address=127.0.0.1", "--htdocs=" + folder.path(),
                                       std::to_string(port), folder.write("key", identity.key),
                                       folder.write("certificate", identity.certificate)});
        ProgramRunner::Program program;
        program.command = "nghttpd";
        program.args = std::move(options);
        program.timeout = 2min;
        program.max_output = 1 << 20;
        running = system_program_runner()->async_run(program, [](const auto&) {});
        for (int i = 0; i < 300 && !accepts_connections(port); ++i) {
            std::this_thread::sleep_for(20ms);
        }
        REQUIRE(accepts_connections(port));
        const auto to = std::make_shared<ConnectTarget>();
        to->host = "127.0.0.1";
        to->port = std::to_string(port);
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

    ServerFolder folder;
    unsigned short port = free_port();
    std::shared_ptr<void> running;
    asio::io_context io;
    std::shared_ptr<Http2Pool> pool =
        std::make_shared<Http2Pool>(io.get_executor(), system_clock(), 0);
    HttpConnection::Target target;
    std::deque<RealAnswer> answers;
    std::size_t ended = 0;
};

TEST_CASE("HTTP/2 and nghttpd: many requests and a large body over one connection") {
    RealServer server;
    const RealAnswer& body = server.get("/large");
    for (int i = 0; i < 50; ++i) server.get("/small");
    server.run();
    CHECK(body.size == RealServer::large);
    for (std::size_t i = 1; i < server.answers.size(); ++i) CHECK(server.answers[i].size == 5);
    CHECK(server.pool->find(server.target, StreamUse::brief));
    CHECK_FALSE(server.pool->is_http1(server.target));
}

TEST_CASE("HTTP/2 and nghttpd: more requests than streams of a connection") {
    RealServer server({"--max-concurrent-streams=5"});
    for (int i = 0; i < 60; ++i) server.get("/small");
    server.run();
    for (const RealAnswer& answer : server.answers) CHECK(answer.size == 5);
}

}  // namespace
}  // namespace k8s_sd::detail
