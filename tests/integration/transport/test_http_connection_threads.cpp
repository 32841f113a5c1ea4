#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/certificates.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using Strand = asio::strand<asio::io_context::executor_type>;

/// Answers each connection repeatedly, with a complete or a truncated body.
class Session : public std::enable_shared_from_this<Session> {
 public:
    Session(std::unique_ptr<ByteStream> stream, int number)
        : stream_(std::move(stream)), number_(number) {}
    void start() {
        stream_->async_connect([self = shared_from_this()](error_code ec, const std::string&) {
            if (!ec) self->read();
        });
    }

 private:
    void read() {
        stream_->async_read_some(asio::buffer(input_),
                                 [self = shared_from_this()](error_code ec, std::size_t) {
                                     if (!ec) self->answer();
                                 });
    }
    void answer() {
        const std::string body(static_cast<std::size_t>(20'000 + number_ * 7919 % 50'000), 'x');
        output_ = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        output_ += number_ % 3 == 0 ? body.substr(0, 3000) : body;
        number_ += 7;
        stream_->async_write(asio::buffer(output_),
                             [self = shared_from_this()](error_code ec, std::size_t) {
                                 if (!ec) self->read();
                             });
    }

    std::unique_ptr<ByteStream> stream_;
    int number_;
    std::array<char, 4096> input_{};
    std::string output_;
};

struct Server {
    explicit Server(asio::io_context& context) : io(context) {
        tls = test::server_context(ca.server({"127.0.0.1"}));
    }
    void accept() {
        acceptor.async_accept(asio::make_strand(io), [this](error_code ec, tcp::socket socket) {
            if (ec) return;
            std::make_shared<Session>(make_tls_server_stream(std::move(socket), tls), accepted++)
                ->start();
            accept();
        });
    }
    asio::io_context& io;
    test::CertificateAuthority ca;
    std::shared_ptr<asio::ssl::context> tls;
    tcp::acceptor acceptor{asio::make_strand(io), {asio::ip::address_v4::loopback(), 0}};
    int accepted = 0;
};

/// Sends requests repeatedly; every third response is aborted.
struct Client final : ResponseSink, std::enable_shared_from_this<Client> {
    Client(asio::io_context& io, std::shared_ptr<Connector> connector,
           std::shared_ptr<const ConnectTarget> t)
        : strand(asio::make_strand(io)),
          target(std::move(t)),
          connection(strand, std::move(connector), system_clock()) {}
    void get() {
        HttpRequest request;
        request.text = "GET / HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n";
        request.connect_timeout = 10s;
        request.idle_timeout = 3ms;
        request.idle_error = errc::idle_timeout;
        request.secret_body = true;
        received = 0;
        expected = true;
        connection.async_send(target, std::move(request), *this,
                              [weak = weak_from_this()](error_code ec, const std::string&) {
                                  const auto self = weak.lock();
                                  if (!self) return;
                                  if (!self->expected) ++self->wrong;
                                  ++(ec ? self->failures : self->complete);
                                  if (--self->left > 0) self->get();
                              });
    }
    void on_head(const ResponseHead& head) override {
        if (head.status != 200) ++wrong;
    }
    error_code on_body(std::string_view bytes) override {
        received += bytes.size();
        if (bytes.find_first_not_of('x') != std::string_view::npos) expected = false;
        return {};
    }

    Strand strand;
    std::shared_ptr<const ConnectTarget> target;
    HttpConnection connection;
    std::size_t received = 0;
    bool expected = true;
    int left = 40;
    std::atomic<int> wrong{0}, complete{0}, failures{0};
};

TEST_CASE("HttpConnection: over TLS and on many threads, time-outs spoil no other exchange") {
    asio::io_context io;
    auto server = std::make_unique<Server>(io);
    server->accept();
    ConnectTarget target{"127.0.0.1", std::to_string(server->acceptor.local_endpoint().port()),
                         TlsConfig()};
    target.tls->ca = server->ca.certificate();
    const auto shared = std::make_shared<const ConnectTarget>(target);
    const auto connector = system_connector();
    std::vector<std::shared_ptr<Client>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_shared<Client>(io, connector, shared));
        asio::post(clients.back()->strand, [client = clients.back()] { client->get(); });
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&io] { io.run(); });
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    const auto done = [&] {
        int sum = 0;
        for (const auto& client : clients) sum += client->complete + client->failures;
        return sum == 8 * 40;
    };
    while (!done() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(5ms);
    }
    CHECK(done());
    asio::post(server->acceptor.get_executor(), [&] { server->acceptor.close(); });
    for (const auto& client : clients) {
        asio::post(client->strand, [client] { client->connection.close(); });
    }
    for (std::thread& thread : threads) thread.join();
    int complete = 0, failures = 0;
    for (const auto& client : clients) {
        CHECK(client->wrong == 0);
        complete += client->complete;
        failures += client->failures;
    }
    CHECK(complete > 0);
    CHECK(failures > 0);
}

}  // namespace
}  // namespace k8s_sd::detail
