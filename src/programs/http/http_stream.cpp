#include "http/http_stream.hpp"

#include "http/http_fields.hpp"

#include <boost/asio/ssl/error.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

bool would_block(const error_code& ec) {
    return ec == asio::error::would_block || ec == asio::error::try_again;
}

tcp::socket& socket_of(BIO* bio) { return *static_cast<tcp::socket*>(BIO_get_data(bio)); }

int write_to_socket(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    error_code ec;
    const std::size_t bytes =
        socket_of(bio).write_some(asio::buffer(data, static_cast<std::size_t>(size)), ec);
    if (would_block(ec)) BIO_set_retry_write(bio);
    return ec ? -1 : static_cast<int>(bytes);
}

int read_from_socket(BIO* bio, char* data, int size) {
    BIO_clear_retry_flags(bio);
    error_code ec;
    const std::size_t bytes =
        socket_of(bio).read_some(asio::buffer(data, static_cast<std::size_t>(size)), ec);
    if (would_block(ec)) BIO_set_retry_read(bio);
    if (ec == asio::error::eof) return 0;
    return ec ? -1 : static_cast<int>(bytes);
}

long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

/// OpenSSL's own socket BIO lets SIGPIPE end the program after a disconnect.
const BIO_METHOD* socket_method() {
    static const auto* method = [] {
        BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
        BIO_meth_set_write(made, write_to_socket);
        BIO_meth_set_read(made, read_from_socket);
        BIO_meth_set_ctrl(made, control_socket);
        return made;
    }();
    return method;
}

}  // namespace

void HttpStream::State::FreeSsl::operator()(SSL* freed) const { SSL_free(freed); }

HttpStream::HttpStream(tcp::socket socket, SSL_CTX* tls)
    : state_(std::make_shared<State>(std::move(socket))) {
    error_code ignored;
    state_->socket.non_blocking(true, ignored);
    state_->socket.set_option(tcp::no_delay(true), ignored);
    if (!tls) return;
    state_->ssl.reset(SSL_new(tls));
    BIO* bio = BIO_new(socket_method());
    if (!state_->ssl || !bio) throw std::bad_alloc();
    BIO_set_data(bio, &state_->socket);
    BIO_set_init(bio, 1);
    SSL_set_bio(state_->ssl.get(), bio, bio);
    SSL_set_accept_state(state_->ssl.get());
}

bool HttpStream::client_is_verified() const {
    const SSL* ssl = state_->ssl.get();
    return ssl && SSL_get0_peer_certificate(ssl) && SSL_get_verify_result(ssl) == X509_V_OK;
}

void HttpStream::finish() {
    if (state_->ssl && !state_->broken) {
        ERR_clear_error();
        SSL_shutdown(state_->ssl.get());
    }
    error_code ignored;
    state_->socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void HttpStream::discard_unsent() {
    error_code ignored;
    state_->socket.set_option(asio::socket_base::linger(true, 0), ignored);
}

void HttpStream::close() {
    error_code ignored;
    state_->socket.close(ignored);
}

HttpStream::Result HttpStream::State::result_of_tls(int returned) {
    if (returned > 0) return {{}, static_cast<std::size_t>(returned)};
    switch (SSL_get_error(ssl.get(), returned)) {
        case SSL_ERROR_WANT_READ: return {asio::error::would_block, 0, tcp::socket::wait_read};
        case SSL_ERROR_WANT_WRITE: return {asio::error::would_block, 0, tcp::socket::wait_write};
        case SSL_ERROR_ZERO_RETURN: return {asio::error::eof};
        default: break;
    }
    broken = true;
    const unsigned long error = ERR_get_error();
    if (error == 0) return {asio::error::connection_reset};
    return {error_code(static_cast<int>(error), asio::error::get_ssl_category())};
}

HttpStream::Result HttpStream::State::handshake(const Job&) {
    ERR_clear_error();
    const Result result = result_of_tls(SSL_do_handshake(ssl.get()));
    if (result.ec.category() == asio::error::get_ssl_category() &&
        ERR_GET_REASON(static_cast<unsigned long>(result.ec.value())) == SSL_R_HTTP_REQUEST) {
        const std::string answer =
            "HTTP/1.1 400 Bad Request\r\nDate: " + http_date_now() +
            "\r\nConnection: close\r\nContent-Type: text/plain\r\n"
            "Content-Length: 44\r\n\r\nthis port speaks HTTPS; begin with https://\n";
        error_code ignored;
        socket.write_some(asio::buffer(answer), ignored);
    }
    return result;
}

HttpStream::Result HttpStream::State::read(const Job& job) {
    if (ssl) {
        ERR_clear_error();
        const auto size = static_cast<int>(std::min<std::size_t>(job.to.size(), 1U << 20));
        return result_of_tls(SSL_read(ssl.get(), job.to.data(), size));
    }
    Result result;
    result.bytes = socket.read_some(asio::buffer(job.to), result.ec);
    if (would_block(result.ec)) result.ec = asio::error::would_block;
    return result;
}

HttpStream::Result HttpStream::State::write(const Job& job) {
    if (ssl) {
        // One record, so head and body of a small response fit into one packet.
        std::array<char, SSL3_RT_MAX_PLAIN_LENGTH> record;
        const std::size_t size = asio::buffer_copy(asio::buffer(record), job.from);
        if (size == 0) return {};
        ERR_clear_error();
        return result_of_tls(SSL_write(ssl.get(), record.data(), static_cast<int>(size)));
    }
    Result result;
    result.bytes = socket.write_some(job.from, result.ec);
    if (would_block(result.ec)) result = {asio::error::would_block, 0, tcp::socket::wait_write};
    return result;
}

/// Discards the bytes below TLS.
HttpStream::Result HttpStream::State::drain(const Job&) {
    std::array<char, 4096> scratch;
    Result result;
    socket.read_some(asio::buffer(scratch), result.ec);
    if (!result.ec || would_block(result.ec)) result.ec = asio::error::would_block;
    return result;
}

}  // namespace http
