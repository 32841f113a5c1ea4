#pragma once

#include "k8s_sd/detail/async/permit_queue.hpp"
#include "k8s_sd/detail/transport/response_head.hpp"
#include "k8s_sd/detail/transport/stream_use.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

class Http2Pause;
class Http2Pool;

/// Receives one response incrementally.
class ResponseSink {
 public:
    virtual void on_head(const ResponseHead&) = 0;
    /// An error aborts the exchange with that error.
    virtual error_code on_body(std::string_view bytes) = 0;
    /// The request waits for a permit to connect, or the attempt begins after such a wait. The
    /// former may be called from within async_send().
    virtual void on_connect_wait(bool /*waits*/) {}
    /// The server has demanded a pause: the request is not sent, its exchange is over, and its
    /// handler is not called. It may be sent at this time, with new credentials. Not called for
    /// urgent requests. May be called from within async_send().
    virtual void on_pause(TimePoint /*end*/) {}

 protected:
    ~ResponseSink() = default;
};

struct HttpRequest {
    std::string text;  ///< request line and headers; wiped once answered: credentials
    /// A new connection takes a permit while it is being established; null: it needs none.
    std::shared_ptr<PermitQueue> connect_permits;
    /// Counts a new connection for as long as it exists; null: it is not counted.
    std::shared_ptr<Metrics::Gauge> connections{};
    /// Counts the request each time it is sent; null: it is not counted.
    std::shared_ptr<Metrics::Counter> sent{};
    PermitQueue::Urgency urgency = PermitQueue::Urgency::normal;
    Duration connect_timeout{};  ///< does not include the wait for the permit
    /// Timeout for the response head, then for each further part of the body. White space does not
    /// count as progress.
    Duration idle_timeout{};
    errc idle_error = errc::response_timeout;  ///< reported when the timeout expires
    bool secret_body = false;                  ///< wipe the response from memory
    std::optional<StreamUse> http2{};  ///< may be sent by HTTP/2, for this use; empty: HTTP/1.1
    std::shared_ptr<Http2Pause> http2_pause{};  ///< of the server; null: it gets none
};

/// Sequential requests: by HTTP/1.1 over one connection at a time, or by HTTP/2 over a connection
/// of the pool, as the server chooses. All handlers run on the given executor, a strand or the only
/// thread of its context.
class HttpConnection {
 public:
    /// The text explains the error; without an error the response is complete. An exception of the
    /// Connector, or a null stream, leads to errc::connector_failed.
    using Handler = std::function<void(error_code, std::string)>;
    /// Shared, so a private key is not copied for each request.
    using Target = std::shared_ptr<const ConnectTarget>;

    /// What the connections of a client share.
    struct Client {
        Client(asio::any_io_executor e, std::shared_ptr<Connector> c, std::shared_ptr<Clock> t,
               std::shared_ptr<Http2Pool> h)
            : executor(std::move(e)),
              connector(std::move(c)),
              clock(std::move(t)),
              http2(std::move(h)) {}

        const asio::any_io_executor executor;
        const std::shared_ptr<Connector> connector;
        const std::shared_ptr<Clock> clock;
        const std::shared_ptr<Http2Pool> http2;  ///< of the same executor; null: HTTP/1.1 only
    };

    explicit HttpConnection(std::shared_ptr<const Client>);
    /// The only connection of a client.
    HttpConnection(asio::any_io_executor, std::shared_ptr<Connector>, std::shared_ptr<Clock>,
                   std::shared_ptr<Http2Pool> http2 = nullptr);
    HttpConnection(HttpConnection&&) noexcept = default;
    HttpConnection& operator=(HttpConnection&&) = delete;
    ~HttpConnection();

    /// Reuses the open connection if it has the same target object, else opens a new one. `sink` is
    /// called until the handler is called or close() returns.
    void async_send(Target, HttpRequest, ResponseSink& sink, Handler handler);
    /// Changes the idle timeout of the current exchange, and its error.
    void set_idle_timeout(Duration, errc);
    /// Closes the connection and abandons the current exchange without a call to its handler.
    void close() noexcept;

 private:
    class State;
    std::shared_ptr<State> state_;  ///< null: moved from
};

}  // namespace k8s_sd::inline v0::detail
