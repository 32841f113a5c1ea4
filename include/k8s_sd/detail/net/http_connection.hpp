#pragma once

#include "k8s_sd/detail/net/response_head.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Receives one response as it arrives.
class ResponseSink {
 public:
    virtual void on_head(const ResponseHead&) = 0;
    /// An error ends the exchange with that error.
    virtual error_code on_body(std::string_view bytes) = 0;

 protected:
    ~ResponseSink() = default;
};

struct HttpRequest {
    std::string text;  ///< request line and header; cleansed once answered: it holds credentials
    Duration connect_timeout{};
    /// Silence allowed while waiting for the head of the response, then for more of its body. White
    /// space is silence.
    Duration idle_timeout{};
    error_code idle_error;     ///< what that silence is reported as
    bool secret_body = false;  ///< leave nothing of the response behind in memory
};

/// HTTP/1.1 requests, one after the other, over one connection at a time. Everything happens on
/// the given executor, which must be a strand or the only thread of its context.
class HttpConnection {
 public:
    /// The text explains the error. A response is complete only without one. What the Connector
    /// throws is errc::connector_failed, and so is no stream.
    using Handler = std::function<void(error_code, std::string)>;
    /// Shared, because it may hold a private key, which is better not copied for each request.
    using Target = std::shared_ptr<const ConnectTarget>;

    HttpConnection(asio::any_io_executor, std::shared_ptr<Connector>, std::shared_ptr<Clock>);
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;
    ~HttpConnection();

    /// Sends over the open connection if it was made for the same target object, else over a new
    /// one. `sink` and `handler` are called until the handler was, or until close().
    void async_send(Target, HttpRequest, ResponseSink& sink, Handler handler);
    /// Changes the silence allowed in the exchange that is running, and what it is reported as.
    void set_idle_timeout(Duration, error_code);
    /// Drops the connection and forgets the exchange that is running: its handler is not called.
    void close() noexcept;

 private:
    class State;
    std::shared_ptr<State> state_;
};

}  // namespace k8s_sd::inline v0::detail
