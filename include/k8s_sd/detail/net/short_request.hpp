#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/detail/net/http_connection.hpp"
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

/// One request whose answer is short, or whose head is all that counts, with the credentials of
/// watches and over a connection of its own. Credentials that are refused are renewed, and it is
/// asked once more, as by watches. Lives on the strand of its client, which must outlive it.
class ShortRequest final : public std::enable_shared_from_this<ShortRequest>, private ResponseSink {
 public:
    struct Answer {
        error_code ec;                    ///< there is no answer, or not all of it
        std::string problem;              ///< explains it
        ResponseHead head;                ///< status 0: there was no answer
        std::string body;                 ///< as much of it as was wanted
        bool cut = false;                 ///< there was more
        std::string credentials_problem;  ///< why older credentials were sent
    };
    using Handler = std::function<void(const Answer&)>;
    /// How much of the body of an answer is wanted: for a document, or to say what is wrong.
    static constexpr std::size_t short_body = 64 * 1024;
    /// Of a successful answer, the head alone.
    static constexpr std::size_t no_body = 0;

    explicit ShortRequest(ApiClientImpl&);

    /// The handler is called once, unless cancel() or the destruction comes before.
    /// \param path  with query, without the server's prefix
    /// \param most  bytes that are wanted of the body of an answer with status 200
    /// \param timeout  of the whole
    void start(std::string_view path, std::size_t most, Duration timeout, Handler);
    /// The same for a request that changes something.
    /// \param method  "POST" or "PUT" \param body  JSON
    void start_write(std::string_view method, std::string_view path, std::string body,
                     Duration timeout, Handler);
    void cancel() noexcept;

 private:
    void begin(Duration timeout, Handler);
    void on_head(const ResponseHead&) override;
    error_code on_body(std::string_view bytes) override;
    void ask();
    void send(const RequestCredentials&);
    void on_end(error_code ec, std::string problem);
    void on_renewed(bool changed);
    void finish(error_code ec, std::string problem);
    /// Calls a method if the question that began the call is still asked.
    template <class Method>
    auto guarded(Method method);

    ApiClientImpl& api_;
    std::unique_ptr<HttpConnection> connection_;
    std::unique_ptr<Timer> timer_;
    std::string method_;  ///< empty: GET
    std::string path_;
    std::string body_;
    std::size_t most_ = short_body;
    Duration timeout_{};
    std::uint64_t sent_with_ = 0;  ///< the revision of the credentials
    bool renewed_ = false;         ///< it is asked the second time
    Answer answer_;
    Handler handler_;              ///< empty: nothing is asked
    std::uint64_t questions_ = 0;  ///< credentials that come late are for none
};

}  // namespace k8s_sd::inline v0::detail
