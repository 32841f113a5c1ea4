#pragma once

#include "k8s_sd/detail/transport/http2/http2_connection.hpp"
#include "k8s_sd/detail/transport/http2/http2_pause.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The HTTP/2 connections of one client. One request connects, and others to the same target wait
/// for its connection. Confined to the executor of its requests.
class Http2Pool : public std::enable_shared_from_this<Http2Pool> {
    struct Attempt;
    struct Waiter;

 public:
    /// Equal objects only are the same target, as for HttpConnection.
    using Target = std::shared_ptr<const ConnectTarget>;
    using Shared = std::shared_ptr<Http2Connection>;

    /// The end of an attempt to connect, for the requests that wait for it.
    struct Result {
        enum class Kind : std::uint8_t {
            again,  ///< look again: a connection, HTTP/1.1, or the attempt was abandoned
            failed  ///< the other request could not connect
        };
        Kind kind = Kind::again;
        error_code ec{};
        std::string why{};
    };
    using Handler = std::function<void(const Result&)>;

    /// The obligation to connect, from the start of an attempt on. Its destruction without a result
    /// passes it on.
    class Lead {
     public:
        Lead() = default;
        Lead(Lead&&) noexcept = default;
        Lead& operator=(Lead&& other) noexcept;
        ~Lead() { reset(); }
        void reset() noexcept;
        explicit operator bool() const noexcept { return attempt_ != nullptr; }
        /// The stream is connected: adds a connection.
        void on_http2(std::unique_ptr<ByteStream>);
        /// The server has chosen HTTP/1.1.
        void on_http1();
        void on_failure(error_code, const std::string& why);

     private:
        friend class Http2Pool;
        Lead(std::shared_ptr<Http2Pool> pool, std::shared_ptr<Attempt> attempt)
            : pool_(std::move(pool)), attempt_(std::move(attempt)) {}
        void finish(const Result&);

        std::shared_ptr<Http2Pool> pool_;
        std::shared_ptr<Attempt> attempt_;
    };
    /// A waiting request; its destruction withdraws it.
    using Wait = std::shared_ptr<void>;

    /// \param open  counts the connections; may be null
    Http2Pool(asio::any_io_executor, std::shared_ptr<Clock>, std::size_t max_watches,
              std::shared_ptr<Metrics::Gauge> open = nullptr);
    ~Http2Pool();

    /// A connection with room; null: none.
    Shared find(const Target&, StreamUse);
    /// Whether the server has lately chosen or required HTTP/1.1.
    bool is_http1(const Target&) const;
    /// The server has refused a request by HTTP/2.
    void require_http1(const Target&);
    /// Waits for another request that connects, if there is one with room. The handler is posted.
    /// \returns null if there is none
    [[nodiscard]] Wait async_wait(const Target&, StreamUse, Handler);
    /// Waits for the next connection to the target, for a request without a permit to connect. The
    /// handler is posted.
    [[nodiscard]] Wait async_connection(const Target&, Handler);
    /// \param pause  learns the demands of the server on the new connection; may be null
    [[nodiscard]] Lead lead(Target, std::shared_ptr<Http2Pause> pause);

 private:
    using Waiters = std::vector<std::weak_ptr<Waiter>>;

    std::size_t known_limit(const Target&) const;
    void post(const Waiters&, const Result&);
    void clean();
    void drop(const Attempt&) noexcept;

    const asio::any_io_executor executor_;
    const std::shared_ptr<Clock> clock_;
    const std::size_t max_watches_;
    const std::shared_ptr<Metrics::Gauge> gauge_;
    std::map<Target, std::vector<Shared>> connections_;
    std::list<std::shared_ptr<Attempt>> attempts_;
    std::map<Target, Waiters> undecided_;  ///< of async_connection()
    std::map<Target, TimePoint> http1_until_;
};

}  // namespace k8s_sd::inline v0::detail
