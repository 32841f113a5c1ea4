#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/detail/watch/watch_exchange.hpp"

#include <boost/asio/error.hpp>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

bool is_gzip(std::string_view content_encoding) noexcept {
    return content_encoding == "gzip" || content_encoding == "x-gzip";
}

/// Detects the encoding of a body by its first byte; empty: unknown.
std::string_view type_of_body(char first, bool events) noexcept {
    constexpr std::string_view json_begins_with = "{ \t\r\n\xEF";
    // A list in protobuf begins with "k8s", an event with its length: less than 16 MiB.
    if (first == (events ? '\0' : 'k')) return protobuf_media_type;
    return json_begins_with.find(first) != std::string_view::npos ? json_media_type
                                                                  : std::string_view();
}

}  // namespace

WatchExchange::WatchExchange(HttpConnection connection, const Clock& clock,
                             const KindSchema& schema, std::size_t max_object_bytes,
                             EventSink& sink, GoodHeadSink& owner)
    : connection_(std::move(connection)),
      clock_(clock),
      owner_(owner),
      reader_(schema, max_object_bytes, sink) {}

void WatchExchange::stop() noexcept {
    stopped_ = true;
    close();
}

void WatchExchange::discard() {
    close();
    reader_.release();
}

// --- the request --------------------------------------------------------------------------------

void WatchExchange::begin_unsent(Purpose purpose) {
    exchange_ = {};
    exchange_.purpose = purpose;
}

void WatchExchange::begin(const WatchRequest& request, ExchangeRequest about) {
    exchange_ = {};
    static_cast<ExchangeRequest&>(exchange_) = std::move(about);
    exchange_.has_position = request.has_position;
    exchange_.streamed = request.streamed;
    exchange_.gzip = request.gzip;
    exchange_.sharded = request.sharded;
    exchange_.drops = request.drops;
    exchange_.hasty = request.hasty;
    exchange_.body_timeout = request.body_timeout;
    const bool events = exchange_.watching() || exchange_.streamed;
    times_.begin(events ? request.watch_timeout : std::chrono::seconds());
    reader_.expect(events ? Document::watch : Document::list, request.of_one_object);
    meter_ = {};
    inflater_.reset();
    uncoded_ = untyped_ = false;
}

void WatchExchange::send(HttpConnection::Target target, HttpRequest request,
                         std::uint64_t credentials, ResponseSink& sink,
                         HttpConnection::Handler handler) {
    credentials_ = credentials;
    times_.on_sent(clock_.now());
    connection_.async_send(std::move(target), std::move(request), sink, std::move(handler));
}

// --- the response -------------------------------------------------------------------------------

void WatchExchange::on_head(const ResponseHead& head) {
    ResponseFields& fields = exchange_.fields.emplace() = head;  // without memory there is no head
    exchange_.status = head.status;
    fields.content_type_as_sent.clear();
    if (head.status == 200) fields.date.clear();  // for refusals only
    times_.on_head(clock_.now());
    meter_.on_head(times_.head_at());
    const bool packed = is_gzip(head.content_encoding);
    if (head.status != 200 || (!packed && !head.content_encoding.empty())) return;
    exchange_.packed = packed;
    uncoded_ = true;
    exchange_.readable = reader_.choose_decoder(head.content_type);
    untyped_ = !exchange_.readable || head.content_type.empty();
    exchange_.protobuf = head.content_type == protobuf_media_type;
    if (exchange_.readable) fields.content_type.clear();  // it has named the decoder
    if (fields.empty()) exchange_.fields.reset();         // there may be thousands of watches
    if (exchange_.readable) owner_.on_good_head();
}

void WatchExchange::begin_watch() {
    exchange_.purpose = Purpose::watch;
    times_.begin_watch(clock_.now());
    meter_.on_watch();
}

error_code WatchExchange::read(std::string_view bytes) {
    if (!bytes.empty() && std::exchange(uncoded_, false)) take_coding_from(bytes.front());
    return inflater_ ? unpack(bytes) : decode(bytes);
}

/// Some gateways compress without a request for it, or unpack a body and leave its
/// Content-Encoding. Neither JSON nor protobuf begins like gzip.
void WatchExchange::take_coding_from(char first) {
    exchange_.packed = first == '\x1F';
    if (exchange_.packed) inflater_ = std::make_unique<Inflater>();
}

error_code WatchExchange::unpack(std::string_view bytes) {
    return inflater_->feed(bytes, [this](std::string_view unpacked) { return decode(unpacked); });
}

error_code WatchExchange::decode(std::string_view bytes) {
    if (!take_type_from(bytes)) return exchange_.add_error_text(bytes);
    if (stopped_) return asio::error::operation_aborted;
    const error_code ec = reader_.feed(bytes);
    if (stopped_) return asio::error::operation_aborted;
    if (ec) return ec;
    if (exchange_.has_verdict() || exchange_.found.doubted) return asio::error::operation_aborted;
    if (exchange_.too_many) return errc::too_many_objects;
    // An ERROR event ends the stream.
    return exchange_.error_event ? make_error_code(errc::server_error) : error_code();
}

/// A proxy has removed or replaced the content type.
/// \returns whether the body is readable
bool WatchExchange::take_type_from(std::string_view bytes) {
    if (bytes.empty() || !std::exchange(untyped_, false)) return exchange_.readable;
    const bool events = exchange_.watching() || exchange_.streamed;
    const std::string_view type = type_of_body(bytes.front(), events);
    if (type.empty() || (exchange_.readable && type == json_media_type)) return exchange_.readable;
    const bool known = std::exchange(exchange_.readable, reader_.choose_decoder(type));
    exchange_.mistyped = exchange_.fields && !exchange_.fields->content_type.empty();
    if (exchange_.readable && !known) owner_.on_good_head();
    return exchange_.readable;
}

void WatchExchange::on_probed_object() {
    if (exchange_.items > 1) exchange_.found.version = reader_.early_version();
}

// --- the end ------------------------------------------------------------------------------------

Failure WatchExchange::finish(error_code ec, std::string why) {
    uncoded_ = false;
    const std::unique_ptr<Inflater> inflater = std::exchange(inflater_, nullptr);
    if (!ec && inflater) ec = inflater->finish();
    if (ec) {
        reader_.release();
    } else if (exchange_.readable) {
        ec = reader_.finish();
    }
    if (ec && ec.category() == category() && !reader_.problem().empty()) {
        why = reader_.problem();
    } else if (ec && inflater && !inflater->problem().empty()) {
        why = inflater->problem();
    }
    return {ec, std::move(why)};
}

ExchangeEnd WatchExchange::end(Failure failure) const {
    const TimePoint now = clock_.now();
    ExchangeEnd end;
    end.failure = std::move(failure);
    end.page = {std::string(reader_.resource_version()), std::string(reader_.continue_token()),
                exchange_.items};
    end.life = times_.life(now);
    end.in_time = times_.is_in_time(now);
    return end;
}

bool WatchExchange::has_just_retried() const {
    return retried_at_ && clock_.now() - *retried_at_ < std::chrono::seconds(30);
}

}  // namespace k8s_sd::inline v0::detail
