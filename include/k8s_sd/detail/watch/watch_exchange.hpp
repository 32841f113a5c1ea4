#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/detail/transport/inflate.hpp"
#include "k8s_sd/detail/watch/exchange_times.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
#include "k8s_sd/environment.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Learns that a response is good.
class GoodHeadSink {
 public:
    /// The server has answered successfully with a readable body. Called once per response, from
    /// on_head(), or from read() if the first byte shows the encoding. May call stop().
    virtual void on_good_head() = 0;

 protected:
    ~GoodHeadSink() = default;
};

/// The current request of one watch and its response, on one connection: credentials, head, body
/// and end, with all its bytes and times. The objects go to the sink of the reader.
///
/// A member of its owner, which must stay alive during each call. Used on the executor of the
/// connection.
class WatchExchange {
 public:
    /// All references must outlive the exchange.
    WatchExchange(HttpConnection, const Clock&, const KindSchema&, std::size_t max_object_bytes,
                  EventSink&, GoodHeadSink&);

    /// Closes the connection; no sink is called again.
    void stop() noexcept;
    void close() noexcept { connection_.close(); }
    /// Also wipes the memory for decoding.
    void discard();

    /// The part that decides the next step.
    Exchange& state() noexcept { return exchange_; }
    const Exchange& state() const noexcept { return exchange_; }
    const ListWatchReader& reader() const noexcept { return reader_; }
    const BodyMeter& meter() const noexcept { return meter_; }

    // --- the request ---

    /// An exchange for this purpose without a request.
    void begin_unsent(Purpose);
    void begin(const WatchRequest&, ExchangeRequest);
    /// Sends the request. The sink and the handler are called until close().
    /// \param credentials  their revision
    void send(HttpConnection::Target, HttpRequest, std::uint64_t credentials, ResponseSink&,
              HttpConnection::Handler);
    /// The connection is being established after a wait for a connect permit.
    void on_connecting() { times_.on_sent(clock_.now()); }
    void set_idle_timeout(Duration timeout, errc error) {
        connection_.set_idle_timeout(timeout, error);
    }

    // --- the response ---

    void on_head(const ResponseHead&);
    /// The response is a working watch from now on.
    void begin_watch();
    /// A part of the body has arrived.
    void begin_read(std::size_t size) { meter_.begin_read(size, clock_.now()); }
    /// Decodes the part, or collects it for an error message.
    /// \returns an error if the rest of the body is of no use
    error_code read(std::string_view bytes);
    void end_read() { meter_.end_read(clock_.now()); }
    /// Whether the body is a list or events, as far as is known.
    bool may_be_readable() const noexcept { return exchange_.readable || untyped_; }
    void on_listed() noexcept { meter_.on_listed(); }
    /// If the server ignores the limit of a probe, its second object follows the version.
    void on_probed_object();

    // --- the end ---

    /// The response has ended: checks its completeness. \returns why it is not complete
    Failure finish(error_code, std::string why);
    /// The end of the exchange, as far as the response decides it.
    ExchangeEnd end(Failure) const;

    Duration response_time() const { return times_.response_time(); }
    /// Arrival of the head. Requires one.
    TimePoint head_at() const { return times_.head_at(); }
    /// Time since begin_watch(); zero without it.
    Duration watched() const { return times_.watched(clock_.now()); }
    /// The requested `timeoutSeconds`; zero: the server's default.
    std::chrono::seconds watch_timeout() const noexcept { return times_.watch_timeout(); }

    // --- rejected credentials ---

    /// Revision of the credentials sent.
    std::uint64_t credentials() const noexcept { return credentials_; }
    /// The request is repeated at once with new credentials.
    void on_retry() { retried_at_ = clock_.now(); }
    /// Some sources return new credentials each time, though the server rejects all of them.
    bool has_just_retried() const;

 private:
    void take_coding_from(char first);
    bool take_type_from(std::string_view bytes);
    error_code unpack(std::string_view bytes);
    error_code decode(std::string_view bytes);

    HttpConnection connection_;
    const Clock& clock_;
    GoodHeadSink& owner_;
    ListWatchReader reader_;
    Exchange exchange_;
    BodyMeter meter_;
    std::unique_ptr<Inflater> inflater_;  ///< null: the body is not compressed
    std::uint64_t credentials_ = 0;
    ExchangeTimes times_;
    OptionalTime retried_at_;  ///< immediate retry with new credentials
    bool uncoded_ = false;     ///< the first byte of the body decides whether it is compressed
    bool untyped_ = false;     ///< no usable content type; the first byte of the body decides
    bool stopped_ = false;
};

}  // namespace k8s_sd::inline v0::detail
