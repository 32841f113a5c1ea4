#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <openssl/types.h>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace http {

/// The byte stream of one connection to a server, with or without TLS: an AsyncStream of Asio and
/// Beast. TLS has only OpenSSL's buffers, released while no operation is pending, so idle
/// connections take little memory. One read and one write at a time.
class HttpStream {
 public:
    using executor_type = boost::asio::any_io_executor;
    /// The completion signature of operations.
    using Signature = void(boost::system::error_code, std::size_t);

    /// \param tls  null: plain
    HttpStream(boost::asio::ip::tcp::socket, SSL_CTX* tls);
    ~HttpStream() { close(); }
    HttpStream(const HttpStream&) = delete;
    HttpStream& operator=(const HttpStream&) = delete;

    executor_type get_executor() const { return state_->socket.get_executor(); }
    const boost::asio::ip::tcp::socket& socket() const { return state_->socket; }

    bool is_tls() const { return state_->ssl != nullptr; }
    /// The first operation with TLS. A client of plain HTTP gets an error in plain text.
    template <class Token>
    auto async_handshake(Token&& token) {
        return perform(&State::handshake, {}, {}, std::forward<Token>(token));
    }
    /// After the handshake: whether the client has presented a valid certificate.
    bool client_is_verified() const;

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return perform(&State::read, *boost::asio::buffer_sequence_begin(buffers), {},
                       std::forward<Token>(token));
    }
    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return perform(&State::write, {}, Pieces(buffers), std::forward<Token>(token));
    }

    /// Signals the end of output to the client.
    void finish();
    /// After finish(): reads and discards bytes in flight, since they could turn the end into a
    /// reset, and the client could lose the last response. Completes when the client has closed its
    /// side.
    template <class Token>
    auto async_drain(Token&& token) {
        return perform(&State::drain, {}, {}, std::forward<Token>(token));
    }
    /// Lets close() end the connection with a reset.
    void discard_unsent();
    /// Pending operations end with an error.
    void close();

 private:
    /// The first buffers of a sequence. Further ones are written next time.
    class Pieces {
     public:
        Pieces() = default;
        template <class Buffers>
        explicit Pieces(const Buffers& buffers) {
            const auto end = boost::asio::buffer_sequence_end(buffers);
            for (auto i = boost::asio::buffer_sequence_begin(buffers);
                 i != end && count_ != items_.size(); ++i) {
                const boost::asio::const_buffer piece(*i);
                if (piece.size() != 0) items_[count_++] = piece;
            }
        }
        const boost::asio::const_buffer* begin() const { return items_.data(); }
        const boost::asio::const_buffer* end() const { return items_.data() + count_; }

     private:
        std::array<boost::asio::const_buffer, 8> items_;
        std::size_t count_ = 0;
    };

    /// The operation of an attempt.
    struct Job {
        boost::asio::mutable_buffer to;
        Pieces from;
    };
    /// would_block: repeat the attempt when the socket is ready for `wait`.
    struct Result {
        boost::system::error_code ec{};
        std::size_t bytes = 0;
        boost::asio::ip::tcp::socket::wait_type wait = boost::asio::ip::tcp::socket::wait_read;
    };

    struct State {
        explicit State(boost::asio::ip::tcp::socket s) : socket(std::move(s)) {}
        Result handshake(const Job&);
        Result read(const Job&);
        Result write(const Job&);
        Result drain(const Job&);
        Result result_of_tls(int returned);

        struct FreeSsl {
            void operator()(SSL*) const;
        };
        boost::asio::ip::tcp::socket socket;
        std::unique_ptr<SSL, FreeSsl> ssl;  // null: plain
        bool broken = false;                // TLS is unusable
    };
    using Attempt = Result (State::*)(const Job&);

    /// Tries, waits until the socket is ready, and tries again. Never completes within the
    /// initiating call.
    struct Operation {
        std::shared_ptr<State> state;
        Attempt attempt;
        Job job;
        Result result{};
        bool waited = false;
        bool done = false;

        template <class Self>
        void operator()(Self& self, boost::system::error_code ec = {}) {
            if (done) return self.complete(result.ec, result.bytes);
            result = ec ? Result{ec} : ((*state).*attempt)(job);
            if (result.ec == boost::asio::error::would_block) {
                waited = true;
                const std::shared_ptr<State> kept = state;
                return kept->socket.async_wait(result.wait, std::move(self));
            }
            if (waited) return self.complete(result.ec, result.bytes);
            done = true;
            const executor_type executor = state->socket.get_executor();
            boost::asio::post(executor, std::move(self));
        }
    };

    template <class Token>
    auto perform(Attempt attempt, boost::asio::mutable_buffer to, const Pieces& from,
                 Token&& token) {
        return boost::asio::async_compose<Token, Signature>(Operation{state_, attempt, {to, from}},
                                                            token, state_->socket);
    }

    std::shared_ptr<State> state_;
};

}  // namespace http
