#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/chunked_body.hpp"
#include "k8s_sd/detail/transport/http2/http2_pause.hpp"
#include "k8s_sd/detail/transport/http2/http2_pool.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"
#include "k8s_sd/detail/transport/response_fields.hpp"
#include "k8s_sd/detail/transport/response_head_text.hpp"
#include "k8s_sd/detail/transport/tls/tls_peer.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace http = boost::beast::http;

namespace {

/// Whether the bytes start with the first frame of an HTTP/2 server: SETTINGS, or GOAWAY in
/// response to other protocols. Both have stream identifier 0 (RFC 9113 4.1).
bool is_http2(std::string_view bytes) {
    constexpr char settings = 4, goaway = 7;
    constexpr std::string_view connection("\0\0\0\0", 4);
    return bytes.size() >= 9 && bytes[0] == 0 && (bytes[3] == settings || bytes[3] == goaway) &&
           bytes.substr(5, 4) == connection;
}

ResponseHead read_head(const http::response_header<>& header) {
    ResponseHead head;
    head.status = header.result_int();
    for (const auto& field : header) {
        const auto name = field.name_string();
        const auto value = field.value();
        set_field(head, lower_case({name.data(), name.size()}), {value.data(), value.size()});
    }
    return head;
}

constexpr std::size_t header_limit = 64 * 1024;
constexpr std::size_t min_buffer = 1024;
constexpr std::size_t max_buffer = 256 * 1024;
/// A compressed list of pods grows twentyfold. A handler unpacks and decodes a buffer as a whole.
constexpr std::size_t max_packed_buffer = 32 * 1024;
constexpr int max_interim_heads = 16;
constexpr int max_refusals = 4;
/// A timer this late was held up by a busy executor, and so were incoming bytes.
constexpr Duration very_late = std::chrono::seconds(1);

}  // namespace

struct HttpExchange;

// A Beast body with direct delivery to the sink, for any framing except chunks (see ChunkedBody).
struct SinkBody {
    using value_type = HttpExchange*;
    class reader {
     public:
        // Beast's concept requires this constructor for requests and other field types, too.
        template <bool is_request, class Fields>
        reader(http::header<is_request, Fields>&, value_type& exchange) : exchange_(exchange) {}
        void init(const boost::optional<std::uint64_t>&, error_code& ec) { ec = {}; }
        template <class Buffers>
        std::size_t put(const Buffers& buffers, error_code& ec);
        void finish(error_code& ec) { ec = {}; }

     private:
        value_type& exchange_;
    };
};

/// A response by HTTP/1.1, as far as it has arrived.
struct Http1Response {
    /// Whether this head is interim. 101 would change the protocol, so it is not.
    bool head_is_interim() const {
        const unsigned status = parser->get().result_int();
        return status >= 100 && status < 200 && status != 101;
    }
    bool done() const { return chunks ? chunks->done() : parser->is_done(); }
    asio::mutable_buffer room() {
        if (buffer.size() - buffered < min_buffer / 2) buffer.resize(buffered + min_buffer);
        return asio::buffer(buffer.data() + buffered, buffer.size() - buffered);
    }
    /// \param secret  whether to wipe the consumed bytes
    void consume(std::size_t used, bool secret) {
        std::memmove(buffer.data(), buffer.data() + used, buffered - used);
        buffered -= used;
        if (secret) cleanse(buffer.data() + buffered, used);
    }
    // Large during bulk transfers, small for an idle watch, because there may be one watch per
    // object.
    void adapt_buffer(bool filled, std::size_t n) {
        if (filled && buffer.size() < (packed ? max_packed_buffer : max_buffer)) {
            buffer.resize(buffer.size() * 2);
        } else if (n < buffer.size() / 16 && buffered < min_buffer && buffer.size() > min_buffer) {
            buffer.resize(std::max(buffer.size() / 2, min_buffer));
            buffer.shrink_to_fit();
        }
    }

    std::unique_ptr<http::response_parser<SinkBody>> parser;
    std::optional<ChunkedBody> chunks;  ///< for a body in chunks
    HeadEnd head_end;
    CleansedBytes buffer;
    std::size_t buffered = 0;
    int interim_heads = 0;
    bool mended_head = false;  ///< the head was invalid and has been normalized
    bool packed = false;       ///< the body is compressed
};

/// One request and its response. Pending handlers keep it alive, because a stream may access the
/// buffers until the handler is called, long after close().
struct HttpExchange {
    HttpExchange(HttpRequest r, ResponseSink& s, std::function<void(error_code, std::string)> h)
        : sink(&s),
          handler(std::move(h)),
          idle_timeout(r.idle_timeout),
          secret_body(r.secret_body),
          request(std::make_unique<HttpRequest>(std::move(r))) {}
    ~HttpExchange() { drop_request(); }
    HttpExchange(const HttpExchange&) = delete;
    HttpExchange& operator=(const HttpExchange&) = delete;

    void count() const {
        if (request->sent) ++*request->sent;
    }
    void expect_head() {
        if (!http1) http1 = std::make_unique<Http1Response>();
        http1->head_end = {};
        http1->parser = std::make_unique<http::response_parser<SinkBody>>();
        http1->parser->get().body() = this;
        http1->parser->body_limit(boost::none);
        http1->parser->header_limit(header_limit);
    }
    /// \return the number of bytes consumed
    std::size_t feed(std::string_view bytes, error_code& ec) {
        if (http1->chunks) {
            return http1->chunks->put(
                bytes, [this](std::string_view data) { return put(data); }, ec);
        }
        if (!http1->parser->is_header_done()) return feed_head(bytes, ec);
        return http1->parser->put(asio::buffer(bytes), ec);
    }
    /// Passes the head to the parser as a whole.
    std::size_t feed_head(std::string_view bytes, error_code& ec) {
        ec = {};
        const std::size_t size = http1->head_end.find(bytes);
        if (size == 0) {
            ec = http::error::need_more;
            return 0;
        }
        const std::optional<std::string> mended = mend_head(bytes.substr(0, size));
        http1->mended_head = http1->mended_head || mended;
        http1->parser->put(asio::buffer(mended ? *mended : bytes.substr(0, size)), ec);
        if (ec == http::error::need_more) ec = http::error::bad_line_ending;
        return size;
    }
    error_code put(std::string_view bytes) {
        if (!trim(bytes).empty()) alive = true;
        return sink->on_body(bytes);
    }
    /// Cleanses it, and frees its memory: there may be a thousand watches.
    void drop_request() noexcept {
        if (!request) return;
        cleanse(request->text.data(), request->text.size());
        request.reset();
    }

    ResponseSink* sink;
    HttpConnection::Handler handler;
    Duration idle_timeout;
    bool secret_body;
    bool reused = false;        ///< the connection has served another exchange
    bool received = false;      ///< bytes of the response
    bool repeated = false;      ///< after the end of a shared connection
    bool alive = false;         ///< the last bytes were progress: no partial head, no white space
    std::uint8_t refusals = 0;  ///< of streams
    std::unique_ptr<HttpRequest> request;    ///< null: a response has begun
    std::unique_ptr<Http1Response> http1{};  ///< null: HTTP/2, or not sent
};

template <class Buffers>
std::size_t SinkBody::reader::put(const Buffers& buffers, error_code& ec) {
    std::size_t total = 0;
    for (auto it = asio::buffer_sequence_begin(buffers);
         it != asio::buffer_sequence_end(buffers) && !ec; ++it) {
        const asio::const_buffer part = *it;
        ec = exchange_->put({static_cast<const char*>(part.data()), part.size()});
        total += part.size();
    }
    return total;
}

/// Counts a connection while it exists.
class CountedStream final : public ByteStream {
 public:
    CountedStream(std::unique_ptr<ByteStream> stream, std::shared_ptr<Metrics::Gauge> count)
        : stream_(std::move(stream)), count_(std::move(count)) {
        ++*count_;
    }
    ~CountedStream() override { --*count_; }
    CountedStream(const CountedStream&) = delete;
    CountedStream& operator=(const CountedStream&) = delete;

    void async_connect(ConnectHandler handler) override {
        stream_->async_connect(std::move(handler));
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        stream_->async_read_some(buffer, std::move(handler));
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        stream_->async_write(buffer, std::move(handler));
    }
    void close() noexcept override { stream_->close(); }
    std::string waits_for() const override { return stream_->waits_for(); }
    void offer_http2() override { stream_->offer_http2(); }
    bool uses_http2() const override { return stream_->uses_http2(); }

 private:
    const std::unique_ptr<ByteStream> stream_;
    const std::shared_ptr<Metrics::Gauge> count_;
};

class HttpConnection::State final : public std::enable_shared_from_this<State>,
                                    private Http2Stream {
 public:
    explicit State(std::shared_ptr<const Client> client) : client_(std::move(client)) {}

    void get(Target target, HttpRequest request, ResponseSink& sink, Handler handler) {
        // The open connection may use another client certificate.
        if (target_ != target) drop_stream();
        target_ = std::move(target);
        exchange_ = std::make_shared<HttpExchange>(std::move(request), sink, std::move(handler));
        // The connection of a list, say. All other requests are better off with a shared one.
        if (may_share()) drop_stream();
        exchange_->reused = stream_ != nullptr;
        exchange_->reused ? write() : find_connection();
    }

    void set_idle_timeout(Duration timeout, errc error) {
        if (!exchange_) return;
        exchange_->idle_timeout = timeout;
        limit_error_ = error;
        watch_silence();
    }

    void close() noexcept {
        drop_stream();
        timer_.reset();
        exchange_.reset();
    }

 private:
    /// The way to a connection.
    struct Connecting {
        PermitQueue::RequestHandle permit_request;
        PermitQueue::Permit permit;  ///< while connecting
        Http2Pool::Lead lead;        ///< while connecting for the pool
        Http2Pool::Wait wait;        ///< for a connection of another request
    };

    // Ignores callbacks of an earlier exchange.
    template <class Method>
    auto guarded(Method method) {
        return [self = shared_from_this(), exchange = exchange_, method](auto&&... args) {
            if (self->exchange_ == exchange) {
                ((*self).*method)(std::forward<decltype(args)>(args)...);
            }
        };
    }

    // A host's Connector and OpenSSL wrappers may throw: treat exceptions as connection failures.
    template <class Call>
    void attempt(Call call) {
        auto fail = guarded(&State::finish);
        std::string problem = "unknown exception";
        try {
            return call();
        } catch (const std::exception& error) {
            problem = in_words(error);
        } catch (...) {
        }
        fail_later(std::move(fail), std::move(problem));
    }
    template <class Fail>
    void fail_later(Fail fail, std::string problem) {
        asio::post(client_->executor, [fail = std::move(fail), problem = std::move(problem)] {
            fail(errc::connector_failed, problem);
        });
    }

    // --- connecting ---

    /// The one way of a request to a connection: a shared one, one that another request is
    /// establishing, or its own attempt, once it has a permit.
    void find_connection() {
        if (may_share()) {
            if (const auto at = end_of_pause()) return pause_until(*at);
            const StreamUse use = *exchange_->request->http2;
            if (const auto connection = client_->http2->find(target_, use))
                return send_on(connection);
            Http2Pool::Wait& wait = connecting_.use().wait;
            wait = client_->http2->async_wait(target_, use, guarded(&State::on_other_connected));
            if (wait) {
                connecting_->permit.reset();
                return limit(errc::connect_timeout);
            }
        }
        connecting_.use().permit ? dial() : ask_permit();
    }
    void ask_permit() {
        timer_.reset();
        const std::shared_ptr<PermitQueue>& permits = exchange_->request->connect_permits;
        const PermitQueue::Urgency urgency = exchange_->request->urgency;
        // Without a timeout an attempt that hangs would keep its permit.
        if (!permits || exchange_->request->connect_timeout <= Duration{}) return dial();
        connecting_->permit = permits->try_permit(urgency);
        if (connecting_->permit) return dial();
        connecting_->permit_request = permits->async_permit(
            client_->executor,
            [weak = weak_from_this()](PermitQueue::Permit permit) {
                if (const auto self = weak.lock()) self->on_permit(std::move(permit));
            },
            urgency);
        wait_for_connection();
        exchange_->sink->on_connect_wait(true);
    }
    /// Another request may be sooner, an urgent one for example.
    void wait_for_connection() {
        if (may_share())
            connecting_->wait =
                client_->http2->async_connection(target_, guarded(&State::on_other_connection));
    }
    void on_other_connection(const Http2Pool::Result&) {
        if (!may_share() || !client_->http2->find(target_, *exchange_->request->http2))
            return wait_for_connection();
        slot_ = {};  // others wait for it, too
        on_permit({});
    }
    void on_permit(PermitQueue::Permit permit) {
        connecting_.emplace().permit = std::move(permit);
        const auto exchange = exchange_;
        exchange->sink->on_connect_wait(false);
        if (exchange_ == exchange) find_connection();  // else closed by the sink
    }
    std::optional<TimePoint> end_of_pause() {
        const std::shared_ptr<Http2Pause>& pause = exchange_->request->http2_pause;
        if (!pause || is_urgent()) return std::nullopt;
        return pause->next(client_->clock->now(), slot_);
    }
    /// Ends the exchange: meanwhile its owner should hold no permits, and its credentials expire.
    void pause_until(TimePoint end) {
        ResponseSink& sink = *exchange_->sink;
        close();
        sink.on_pause(end);
    }
    void dial() {
        exchange_->reused = false;
        if (may_share())
            connecting_->lead = client_->http2->lead(target_, exchange_->request->http2_pause);
        limit(errc::connect_timeout);
        attempt([this] {
            stream_ = client_->connector->make_stream(client_->executor, *target_);
            if (!stream_) throw std::runtime_error("the connector made no stream");
            if (const auto& connections = exchange_->request->connections)
                stream_ = std::make_unique<CountedStream>(std::move(stream_), connections);
            if (connecting_->lead) stream_->offer_http2();
            stream_->async_connect(guarded(&State::on_connected));
        });
    }
    void on_connected(error_code ec, std::string why) {
        connecting_->permit.reset();
        if (ec) return finish(ec, std::move(why));
        connecting_->lead ? choose_protocol() : write();
    }
    void write() {
        connecting_.reset();
        exchange_->count();
        exchange_->expect_head();
        limit(exchange_->request->idle_error);
        attempt([this] {
            stream_->async_write(asio::buffer(exchange_->request->text),
                                 guarded(&State::on_written));
        });
    }
    void on_written(error_code ec, std::size_t) {
        if (ec) return on_broken(ec);
        read();
    }
    void read() {
        const asio::mutable_buffer room = exchange_->http1->room();
        attempt([&] { stream_->async_read_some(room, guarded(&State::on_read)); });
    }
    void on_read(error_code ec, std::size_t n) {
        if (ec) return on_broken(ec);
        FirstException problem;
        const auto exchange = exchange_;
        if (problem.catch_from([&] { take(exchange, n); })) return;
        // The sink must not receive the rest of a response of which it has missed a part. Without
        // memory for the handler, the idle timeout ends the exchange.
        problem.catch_from([&] {
            if (exchange_ == exchange) fail_later(guarded(&State::finish), "a reader threw");
        });
        problem.rethrow();
    }
    void take(const std::shared_ptr<HttpExchange>& exchange, std::size_t n) {
        exchange->alive = false;
        // The request is never repeated now, so wipe its credentials.
        if (!std::exchange(exchange->received, true)) exchange->drop_request();
        Http1Response& response = *exchange->http1;
        const bool filled = n == response.buffer.size() - response.buffered;
        response.buffered += n;
        if (!parse(exchange)) return;
        if (exchange->alive) touch();
        response.adapt_buffer(filled, n);
        read();
    }
    // Returns false if the exchange has ended.
    bool parse(const std::shared_ptr<HttpExchange>& exchange) {
        HttpExchange& e = *exchange;
        Http1Response& response = *e.http1;
        auto& parser = response.parser;
        std::size_t used = 0;
        error_code ec;
        while (used < response.buffered && !response.done()) {
            const std::size_t size = e.feed(
                std::string_view(response.buffer.data() + used, response.buffered - used), ec);
            used += size;
            if (exchange_ != exchange) return false;  // closed by the sink
            if (ec) break;
            // Beast stops after the header. The sink receives it now, because the body may be late
            // or empty.
            if (parser->is_header_done() && !parser->eager()) {
                if (response.head_is_interim()) {
                    if (++response.interim_heads > max_interim_heads) ec = http::error::bad_status;
                    if (ec) break;
                    e.expect_head();
                    continue;
                }
                parser->eager(true);
                if (parser->chunked() && !parser->is_done()) response.chunks.emplace();
                e.alive = true;
                const ResponseHead head = read_head(parser->get());
                response.packed = !head.content_encoding.empty();
                e.sink->on_head(head);
                if (exchange_ != exchange) return false;
            }
            if (size == 0) break;
        }
        if (ec == http::error::need_more) ec = {};
        // A frame contains no end of head to wait for.
        if (!ec && begins_as_http2()) ec = http::error::bad_version;
        if (!ec && response.buffered - used > header_limit) ec = http::error::header_limit;
        if (ec) {
            finish(ec == http::error::header_limit ? error_code(errc::header_too_large) : ec,
                   explain_garbage(ec));
            return false;
        }
        response.consume(used, e.secret_body);
        if (!response.done()) return true;
        // Extra bytes belong to no response. After a normalized head, the next response must not
        // depend on this parse.
        if (!parser->keep_alive() || response.buffered != 0 || response.mended_head) drop_stream();
        CleansedBytes().swap(response.buffer);  // no read is pending
        finish({}, {});
        return false;
    }
    bool begins_as_http2() const {
        const Http1Response& response = *exchange_->http1;
        return !response.parser->is_header_done() &&
               is_http2({response.buffer.data(), response.buffered});
    }
    std::string explain_garbage(const error_code& ec) const {
        if (begins_as_http2()) {
            return "the server speaks HTTP/2 only; enable HTTP/1.1 there";
        }
        return "the response is not valid HTTP: " + ec.message() + ask_for_tls();
    }
    void on_broken(error_code ec) {
        HttpExchange& e = *exchange_;
        // The server may close an idle connection at any time: retry on a new one.
        if (e.reused && !e.received && ec != asio::error::operation_aborted) {
            drop_stream();
            e.reused = false;
            return find_connection();
        }
        if (ec == asio::error::eof && e.received) {
            error_code incomplete = http::error::partial_message;
            auto& parser = *e.http1->parser;
            if (parser.got_some()) parser.put_eof(incomplete);
            if (!incomplete) {
                drop_stream();
                return finish({}, {});
            }
            return finish(errc::truncated_response,
                          "the connection ended in the middle of the response" + ask_for_tls());
        }
        finish(ec, explain_end(ec));
    }
    /// Explains the end of a connection before the response was complete.
    std::string explain_end(const error_code& ec) const {
        const std::optional<TlsConfig>& tls = target_->tls;
        const bool through_proxy = target_->proxy.has_value();
        const std::string way =
            through_proxy ? " (through the proxy " + to_string(*target_->proxy) + ")" : "";
        if (ec == asio::error::eof) {
            return "the server closed the connection" + way + ask_for_tls();
        }
        const bool identified = tls && !(tls->cert.empty() && tls->cert_file.empty());
        const std::string why = explain_tls_error(ec, identified);
        if (!why.empty()) return "the server " + why;
        return "the connection broke" + way + ": " + in_words(ec) + ask_for_tls();
    }
    /// Advice for a missing response head: a TLS server may reset or close the connection, or send
    /// an alert.
    std::string ask_for_tls() const {
        const bool in_clear = !target_->tls;
        const bool headless = !exchange_->http1->parser->is_header_done();
        return in_clear && headless ? "; should the URL start with https://?" : "";
    }

    // --- HTTP/2 ---

    /// HTTP/2 is chosen by ALPN, a part of TLS.
    bool may_share() const {
        return client_->http2 && exchange_->request->http2 && target_->tls &&
               !client_->http2->is_http1(target_) &&
               !(is_urgent() && is_paused());  // no time for the pause
    }
    bool is_paused() const {
        const std::shared_ptr<Http2Pause>& pause = exchange_->request->http2_pause;
        return pause && pause->is_on(client_->clock->now());
    }
    bool is_urgent() const { return exchange_->request->urgency == PermitQueue::Urgency::urgent; }
    void on_other_connected(const Http2Pool::Result& result) {
        connecting_->wait = nullptr;
        slot_ = {};  // others have waited for it, too
        if (result.kind == Http2Pool::Result::Kind::again) return find_connection();
        finish(result.ec, result.why);
    }
    void choose_protocol() {
        Http2Pool::Lead lead = std::exchange(connecting_->lead, {});
        if (stream_->uses_http2()) {
            lead.on_http2(std::move(stream_));
            return find_connection();  // a pause may have begun
        }
        lead.on_http1();
        write();
    }
    void send_on(const std::shared_ptr<Http2Connection>& connection) {
        connecting_.reset();
        const HttpRequest& request = *exchange_->request;
        exchange_->reused = connection->has_answered();
        stream_id_ = connection->open(request.text, *request.http2, request.secret_body, *this);
        if (stream_id_ == 0) return find_connection();
        exchange_->count();
        shared_ = connection;
        exchange_->http1.reset();  // of an attempt before
        timer_.reset();
        limit(request.idle_error);
    }
    void on_stream_head(const ResponseHead& head) override {
        const auto self = shared_from_this();
        const auto exchange = exchange_;
        exchange->received = true;
        exchange->drop_request();
        touch();
        exchange->sink->on_head(head);
    }
    void on_stream_body(std::string_view bytes) override {
        const auto self = shared_from_this();
        const auto exchange = exchange_;
        exchange->alive = false;
        const error_code ec = exchange->put(bytes);
        if (exchange_ != exchange) return;  // closed by the sink
        if (ec) return finish(ec, "the response is not valid: " + ec.message());
        if (exchange->alive) touch();
    }
    void on_stream_due() override {
        const auto self = shared_from_this();
        on_timer();
    }
    void on_stream_end(const StreamEnd& end) override {
        const auto self = shared_from_this();
        shared_ = nullptr;
        if (end.kind == Http2End::Kind::complete) return finish({}, {});
        if (end.kind == Http2End::Kind::head_too_large) {
            return finish(errc::header_too_large, {});
        }
        if (!exchange_->received && may_repeat(end)) return find_connection();
        if (end.ec == errc::ping_timeout) return finish(end.ec, end.why);
        if (exchange_->received) {
            return finish(errc::truncated_response, end.why + " in the middle of the response");
        }
        finish(end.ec ? end.ec : error_code(asio::error::connection_reset), end.why);
    }
    /// Whether the server has not processed the request, or need not have and the request is safe.
    bool may_repeat(const StreamEnd& end) {
        if (end.kind == Http2End::Kind::refused) return ++exchange_->refusals < max_refusals;
        if (end.kind == Http2End::Kind::http1_required) {
            client_->http2->require_http1(target_);
            return true;
        }
        // As with HTTP/1.1: the server may end a connection at any time.
        const bool is_safe = exchange_->request->text.starts_with("GET ");
        return end.broken && is_safe && exchange_->reused &&
               !std::exchange(exchange_->repeated, true);
    }
    void leave_stream() noexcept {
        if (const auto connection = std::exchange(shared_, nullptr)) connection->cancel(stream_id_);
        connecting_.reset();
    }

    void finish(error_code ec, std::string why) {
        if (ec && connecting_ && connecting_->lead)
            std::exchange(connecting_->lead, {}).on_failure(ec, why);
        const auto exchange = std::exchange(exchange_, nullptr);
        timer_.reset();
        if (ec) drop_stream();
        const Handler handler = std::move(exchange->handler);
        handler(ec, std::move(why));
    }
    void drop_stream() noexcept {
        leave_stream();
        if (stream_) stream_->close();
        stream_.reset();
    }

    // One timer serves the whole exchange, that of the connection if it is shared; received bytes
    // only update the time of the last activity.
    void limit(errc error) {
        touch();
        limit_error_ = error;
        watch_silence();
    }
    void touch() noexcept { last_activity_ = client_->clock->now(); }
    Duration allowed() const noexcept {
        const bool connecting = limit_error_ == errc::connect_timeout;
        return connecting ? exchange_->request->connect_timeout : exchange_->idle_timeout;
    }
    void watch_silence() {
        if (allowed() > Duration{}) return check_again_at(last_activity_ + allowed());
        timer_.reset();
        if (shared_) shared_->call_at(stream_id_, TimePoint::max());
    }
    void check_again_at(TimePoint at) {
        due_ = at;
        if (shared_) return shared_->call_at(stream_id_, at);
        if (!timer_) timer_ = client_->clock->make_timer(client_->executor);
        timer_->expires_at(due_, guarded(&State::on_timer));
    }
    void on_timer() {
        const TimePoint now = client_->clock->now();
        if (now < last_activity_ + allowed()) return watch_silence();
        // A busy executor delays the read: process the buffered bytes first.
        if (now - due_ > very_late) return check_again_at(now + very_late);
        std::string text =
            make_error_code(limit_error_).message() + " (" + seconds_text(allowed()) + ")";
        if (shared_) shared_->retire();
        const std::string step = limit_error_ == errc::connect_timeout ? connecting_step() : "";
        if (!step.empty()) text += "; it waits for " + step;
        finish(limit_error_, std::move(text));
    }
    std::string connecting_step() const {
        if (stream_) return stream_->waits_for();
        return connecting_ && connecting_->wait ? "the HTTP/2 connection of another request" : "";
    }

    const std::shared_ptr<const Client> client_;
    std::unique_ptr<Timer> timer_;  ///< null: no time limit, or the connection is shared
    Target target_;
    std::unique_ptr<ByteStream> stream_;
    Rare<Connecting> connecting_;  ///< null: the request is sent
    std::shared_ptr<Http2Connection> shared_;
    Http2Pause::Slot slot_;                   ///< also for the following exchanges
    std::shared_ptr<HttpExchange> exchange_;  ///< null: idle
    TimePoint last_activity_{};
    TimePoint due_{};             ///< expiry of the timer
    errc limit_error_{};          ///< reported then
    std::int32_t stream_id_ = 0;  ///< on the shared connection
};

HttpConnection::HttpConnection(asio::any_io_executor executor, std::shared_ptr<Connector> connector,
                               std::shared_ptr<Clock> clock, std::shared_ptr<Http2Pool> http2)
    : HttpConnection(std::make_shared<const Client>(std::move(executor), std::move(connector),
                                                    std::move(clock), std::move(http2))) {}
HttpConnection::HttpConnection(std::shared_ptr<const Client> client)
    : state_(std::make_shared<State>(std::move(client))) {}

HttpConnection::~HttpConnection() {
    if (state_) state_->close();
}

void HttpConnection::async_send(Target target, HttpRequest request, ResponseSink& sink,
                                Handler handler) {
    state_->get(std::move(target), std::move(request), sink, std::move(handler));
}

void HttpConnection::set_idle_timeout(Duration timeout, errc error) {
    state_->set_idle_timeout(timeout, error);
}

void HttpConnection::close() noexcept { state_->close(); }

}  // namespace k8s_sd::inline v0::detail
