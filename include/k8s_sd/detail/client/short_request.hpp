#pragma once

#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

class ApiClientImpl;
struct RequestCredentials;

/// A request with a short response, or one evaluated by its head alone. It uses the credentials of
/// watches and its own connection. After a refusal it renews the credentials and repeats the
/// request once, as watches do. Confined to its client's strand; the client must outlive it.
class ShortRequest final : public std::enable_shared_from_this<ShortRequest>, private ResponseSink {
 public:
    struct Answer {
        error_code ec;                    ///< no response, or an incomplete one
        std::string problem;              ///< explains `ec`
        ResponseHead head;                ///< status 0: no response
        std::string body;                 ///< up to the requested size
        bool cut = false;                 ///< the body was longer
        std::string credentials_problem;  ///< why the request used older credentials
    };
    using Handler = std::function<void(const Answer&)>;
    /// Body size for a document or an error message.
    static constexpr std::size_t short_body = 64 * 1024;
    /// Body size for the head of a successful response alone.
    static constexpr std::size_t no_body = 0;

    explicit ShortRequest(ApiClientImpl&);

    /// The handler is called once, unless the request is cancelled or destroyed before.
    /// \param path  with query, without the server's prefix
    /// \param max_body  maximum size of the body for status 200
    /// \param timeout  for the whole request
    void start(std::string_view path, std::size_t max_body, Duration timeout, Handler);
    /// The same for a write request.
    /// \param method  "POST" or "PUT"
    /// \param body  JSON
    void start_write(std::string_view method, std::string_view path, std::string body,
                     Duration timeout, Handler);
    void cancel() noexcept;

 private:
    void begin(Duration timeout, Handler);
    void on_connect_wait(bool waits) override { waits_to_connect_ = waits; }
    void on_head(const ResponseHead&) override;
    error_code on_body(std::string_view bytes) override;
    void ask();
    void send(const RequestCredentials&);
    void on_timeout();
    void on_end(error_code ec, std::string problem);
    void on_renewed(bool changed);
    void finish(error_code ec, std::string problem);
    /// Wraps a method as a handler, ignored once its request has ended.
    template <class Method>
    auto guarded(Method method);

    ApiClientImpl& api_;
    HttpConnection connection_;
    std::unique_ptr<Timer> timer_;
    std::string method_;  ///< empty: GET
    std::string path_;
    std::string body_;
    std::size_t max_body_ = short_body;
    Duration timeout_{};
    std::uint64_t sent_with_ = 0;  ///< revision of the credentials
    bool renewed_ = false;         ///< this is the second attempt
    bool waits_to_connect_ = false;
    Answer answer_;
    Handler handler_;                   ///< empty: idle
    std::uint64_t request_number_ = 0;  ///< identifies the request, to ignore late credentials
};

}  // namespace k8s_sd::inline v0::detail
