#include "http/http_fields.hpp"
#include "http/tls_files.hpp"
#include "http_loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace http_loopback;
namespace ssl = asio::ssl;

/// A folder with a self-signed certificate and its key.
class Certificate {
 public:
    explicit Certificate(long seconds = 86'400) : seconds_(seconds) {
        std::string name = (std::filesystem::temp_directory_path() / "k8s-sd-tls-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        renew();
    }
    ~Certificate() { std::filesystem::remove_all(folder_); }
    Certificate(const Certificate&) = delete;
    Certificate& operator=(const Certificate&) = delete;

    http::TlsFiles files() const {
        return {(folder_ / "tls.crt").string(), (folder_ / "tls.key").string(), {}};
    }
    void renew() const {
        using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
        using X = std::unique_ptr<X509, decltype(&X509_free)>;
        const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
        const X cert(X509_new(), X509_free);
        X509_gmtime_adj(X509_getm_notBefore(cert.get()), 0);
        X509_gmtime_adj(X509_getm_notAfter(cert.get()), seconds_);
        X509_set_pubkey(cert.get(), key.get());
        X509_sign(cert.get(), key.get(), EVP_sha256());
        write(files().cert, [&](FILE* file) { PEM_write_X509(file, cert.get()); });
        write(files().key, [&](FILE* file) {
            PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        });
    }

 private:
    template <class Write>
    static void write(const std::string& path, Write write_it) {
        FILE* file = std::fopen(path.c_str(), "w");
        write_it(file);
        std::fclose(file);
    }

    std::filesystem::path folder_;
    const long seconds_;
};

class TlsRunning {
 public:
    explicit TlsRunning(HttpServer::Handler handler = echo, const HttpLimits& limits = {})
        : server_(std::move(handler), limits, [this] { return tls_.context(); }) {}
    const Running& server() const { return server_; }
    void stop() { server_.stop(); }

 private:
    Certificate certificate_;
    http::RenewedTls tls_{certificate_.files()};
    Running server_;
};

/// Accepts any certificate.
class TlsClient {
 public:
    explicit TlsClient(const TlsRunning& running) {
        stream_.next_layer().connect(running.server().endpoint());
        stream_.handshake(ssl::stream_base::client);
    }
    void send(const std::string& text) { asio::write(stream_, asio::buffer(text)); }
    std::string until(const std::string& mark) {
        const std::size_t size = asio::read_until(stream_, asio::dynamic_buffer(read_), mark);
        std::string text = read_.substr(0, size);
        read_.erase(0, size);
        return text;
    }
    /// Until the end of the connection.
    std::string rest(boost::system::error_code& ec) {
        asio::read(stream_, asio::dynamic_buffer(read_), ec);
        return std::exchange(read_, {});
    }
    void leave() { stream_.next_layer().close(); }

 private:
    asio::io_context io_;
    ssl::context context_{ssl::context::tls_client};
    ssl::stream<tcp::socket> stream_{io_, context_};
    std::string read_;
};

/// All pieces at once.
class Pieces : public HttpServer::Stream {
 public:
    Pieces(int count, std::size_t size) : left_(count), size_(size) {}
    void next(OnPiece on_piece) override {
        on_piece(left_-- > 0 ? std::make_shared<const std::string>(size_, 'x') : nullptr);
    }

 private:
    int left_;
    const std::size_t size_;
};

/// Never supplies a piece, and reports its destruction.
class Silence : public HttpServer::Stream {
 public:
    explicit Silence(std::promise<void>& ended) : ended_(ended) {}
    ~Silence() override { ended_.set_value(); }
    void next(OnPiece) override {}

 private:
    std::promise<void>& ended_;
};

}  // namespace

TEST_CASE("HttpServer: TLS carries request after request, also if they come at once") {
    TlsRunning running;
    TlsClient client(running);
    client.send(get("/one"));
    client.until("GET /one?");
    client.send(get("/two") + get("/three"));
    client.until("GET /two?");
    client.until("GET /three?");
    client.send("GET /four HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    boost::system::error_code ec;
    CHECK(client.rest(ec).ends_with("GET /four?"));
    // The end is signalled by TLS, not only by TCP.
    CHECK(ec == asio::error::eof);
}

TEST_CASE("HttpServer: TLS carries long answers and streams while the client talks") {
    const auto body = std::make_shared<const std::string>(5'000'000, 'x');
    TlsRunning running([&](const HttpServer::Request& request, const auto& respond) {
        if (request.path == "/long") return respond({200, body});
        respond({.stream = std::make_shared<Pieces>(100, 50'000)});
    });
    TlsClient client(running);
    client.send(get("/long"));
    client.until("\r\n\r\n");
    client.send(get("/stream"));
    std::string all = client.until("HTTP/1.1 200 OK\r\n");
    CHECK(all == *body + "HTTP/1.1 200 OK\r\n");
    client.until("\r\n\r\n");
    client.send(std::string(100'000, 'y'));
    boost::system::error_code ec;
    all = client.rest(ec);
    CHECK(all.size() == 100 * (50'000 + std::string("c350\r\n\r\n").size()) + 5);
    CHECK(all.ends_with("\r\n0\r\n\r\n"));
}

TEST_CASE("HttpServer: a client of TLS that leaves ends its stream") {
    std::promise<void> ended;
    TlsRunning running([&](const auto&, const auto& respond) {
        respond({.stream = std::make_shared<Silence>(ended)});
    });
    TlsClient client(running);
    client.send(get("/"));
    client.until("\r\n\r\n");
    client.leave();
    ended.get_future().wait();
}

TEST_CASE("HttpServer: who shakes no hands is let go") {
    TlsRunning running(echo, {.handshake = std::chrono::milliseconds(20),
                              .farewell = std::chrono::milliseconds(1)});
    CHECK(Client(running.server()).rest().empty());
    Client half(running.server());
    half.send("\x16\x03\x01");
    CHECK(half.rest().empty());
}

TEST_CASE("HttpServer: handshakes are few at a time, and the oldest one ends for others") {
    TlsRunning running(echo, {.handshakes = 1});
    Client slow(running.server());
    slow.send("\x16");
    TlsClient client(running);
    client.send(get("/"));
    CHECK(client.until("GET /?").ends_with("GET /?"));
    CHECK(slow.rest().empty());
    // A connection after its handshake no longer counts.
    TlsClient first(running);
    TlsClient second(running);
    first.send(get("/"));
    CHECK(first.until("GET /?").ends_with("GET /?"));
}

TEST_CASE("HttpServer: stop() ends connections of TLS, and handshakes") {
    TlsRunning running;
    TlsClient idle(running);
    Client silent(running.server());
    idle.send(get("/"));
    idle.until("GET /?");
    running.stop();
    boost::system::error_code ec;
    CHECK(idle.rest(ec).empty());
    CHECK(silent.rest().empty());
}

TEST_CASE("RenewedTls: a renewed certificate is taken once, together with its key") {
    const Certificate certificate;
    http::RenewedTls tls(certificate.files());
    const SSL_CTX* first = tls.context();
    CHECK(tls.refresh().empty());
    certificate.renew();
    CHECK(tls.refresh() ==
          "new connections get the renewed certificate of " + certificate.files().cert);
    CHECK(tls.context() != first);
    CHECK(tls.refresh().empty());
}

TEST_CASE(
    "RenewedTls: the expiry of a certificate is reported before it, by its time, and after it") {
    const Certificate certificate;
    const http::RenewedTls tls(certificate.files());
    constexpr std::int64_t day = 86'400;
    const std::int64_t end = tls.valid_until();
    const auto note = [&](std::int64_t now) {
        const auto notes = tls.notes(now);
        REQUIRE(notes.size() == 1);
        return notes.front();
    };
    const std::string name = "the certificate of " + certificate.files().cert;
    CHECK(tls.notes(end - day).empty());
    CHECK(tls.notes(end - day / 4).empty());
    CHECK(note(end - day / 4 + 1) ==
          name + " expires at " + http::http_date(end) + ", then clients refuse it");
    CHECK(note(end).starts_with(name + " expires at "));
    CHECK(note(end + 1) ==
          name + " has expired at " + http::http_date(end) + ": clients refuse it");
    CHECK(note(end - day - 1).starts_with(name + " is not valid before "));
}

TEST_CASE("RenewedTls: the shortest of a chain counts, and the longest of those who vouch") {
    constexpr std::int64_t day = 86'400;
    const Certificate certificate;
    const Certificate longer(100 * day);
    const auto text = [](const std::string& path) {
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        return all.str();
    };
    http::TlsFiles files = longer.files();
    std::ofstream(files.cert, std::ios::app) << text(certificate.files().cert);
    const std::int64_t end = http::RenewedTls(certificate.files()).valid_until();
    CHECK(http::RenewedTls(files).notes(end + 1).size() == 1);
    files = longer.files();
    longer.renew();
    files.client_ca = certificate.files().cert;
    const auto notes = http::RenewedTls(files).notes(end + 1);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].ends_with(": no certificate of a client is accepted"));
    std::ofstream(files.client_ca, std::ios::app) << text(files.cert);
    CHECK(http::RenewedTls(files).notes(end + 1).empty());
    // 7 days, because a quarter would be more.
    CHECK(http::RenewedTls(files).notes(end + 92 * day - 1).empty());
    CHECK(http::RenewedTls(files).notes(end + 93 * day).size() == 2);
}

TEST_CASE("RenewedTls: a broken certificate among those of clients' CAs is skipped and reported") {
    const Certificate certificate;
    const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    http::TlsFiles files = certificate.files();
    std::ostringstream good;
    good << std::ifstream(files.cert).rdbuf();
    files.client_ca = files.cert + ".ca";
    std::ofstream(files.client_ca) << "\xEF\xBB\xBF# comment\n" << broken << good.str() << broken;
    http::RenewedTls tls(files);
    const std::int64_t now = tls.valid_until() - 86'400;
    const auto notes = tls.notes(now);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].starts_with(files.client_ca + ": 2 of 3 certificates cannot be read"));
    std::ofstream(files.client_ca) << good.str();
    CHECK_FALSE(tls.refresh().empty());
    CHECK(tls.notes(now).empty());
    std::ofstream(files.client_ca) << broken;
    CHECK(tls.refresh().starts_with("the certificates in use stay: " + files.client_ca +
                                    " holds a broken certificate"));
    CHECK(tls.notes(now).empty());
}

TEST_CASE("RenewedTls: an unusable file is reported once for each content, and changes nothing") {
    const Certificate certificate;
    const Certificate other;
    const http::TlsFiles files = certificate.files();
    http::RenewedTls tls(files);
    const SSL_CTX* first = tls.context();
    const auto problem = [&](const std::string& words) {
        const std::string received = tls.refresh();
        INFO(received);
        CHECK(received.starts_with("the certificates in use stay: " + words));
        CHECK(tls.refresh().empty());
        CHECK(tls.context() == first);
    };
    std::filesystem::copy_file(other.files().key, files.key,
                               std::filesystem::copy_options::overwrite_existing);
    problem(files.key + " holds no usable key, or not that of " + files.cert);
    for (const char* text : {"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA"}) {
        std::ofstream(files.cert) << text;
        problem(files.cert + " holds no usable certificate");
    }
    std::ofstream(files.cert) << std::string(2'000'000, 'x');
    problem("cannot read " + files.cert + ": it is larger than a megabyte");
    std::filesystem::remove(files.cert);
    problem("cannot read " + files.cert + ": No such file or directory");
}
