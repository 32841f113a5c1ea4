#include "follow/list_client.hpp"

#include "http/secrets.hpp"
#include "k8s_sd/detail/transport/lookups.hpp"
#include "k8s_sd/tls_trust.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ssl = asio::ssl;
using asio::use_awaitable;

namespace {

constexpr std::chrono::seconds lookup_limit{10};
constexpr std::chrono::seconds connect_limit{10};
/// In addition to the server's waiting time.
constexpr std::chrono::seconds answer_limit{60};
constexpr std::uint32_t head_bytes = 16U << 10U;

using Request = beast::http::request<beast::http::empty_body>;
using Parser = beast::http::response_parser<beast::http::string_body>;
using Tls = beast::ssl_stream<beast::tcp_stream>;

std::string text_of(const std::string& path) {
    std::string text = http::read_small_file(path);
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

/// Files are read for each connection, because they are replaced from time to time.
/// \param warning  receives a problem that does not prevent connections
ssl::context context_of(const ListClientOptions& options, std::string& warning) {
    ssl::context context(ssl::context::tls_client);
    context.set_verify_mode(ssl::verify_peer);
    if (options.ca_file.empty()) {
        context.set_default_verify_paths();
    } else {
        warning = k8s_sd::trust_certificates(context.native_handle(),
                                             http::read_small_file(options.ca_file),
                                             "the CA file " + options.ca_file);
    }
    if (!options.cert_file.empty()) {
        context.use_certificate_chain_file(options.cert_file);
        context.use_private_key_file(options.key_file, ssl::context::pem);
    }
    return context;
}

Request request_for(const ListSource& source, const ListClientOptions& options,
                    const std::string& tag) {
    Request request(beast::http::verb::get, source.target, 11);
    const bool ipv6 = source.host.find(':') != std::string::npos;
    const std::string host = ipv6 ? "[" + source.host + "]" : source.host;
    request.set(beast::http::field::host, host + ":" + source.port);
    request.set(beast::http::field::accept, "application/json");
    request.set(beast::http::field::user_agent, "k8s-sd-follow");
    if (!tag.empty()) {
        request.set(beast::http::field::if_none_match, tag);
        request.set(beast::http::field::prefer, "wait=" + std::to_string(options.wait.count()));
    }
    if (!options.token_file.empty()) {
        request.set(beast::http::field::authorization, "Bearer " + text_of(options.token_file));
    }
    return request;
}

beast::tcp_stream& tcp_of(beast::tcp_stream& stream) { return stream; }
beast::tcp_stream& tcp_of(Tls& stream) { return stream.next_layer(); }

using Endpoints = std::vector<asio::ip::tcp::endpoint>;

/// A name lookup. asio::ip::tcp::resolver could not be used: it cannot be cancelled, and the end of
/// its context waits for it.
class Lookup {
 public:
    explicit Lookup(const asio::any_io_executor& executor)
        : result_(std::make_shared<Result>(executor)) {}
    ~Lookup() { waiter_.cancel(); }
    Lookup(const Lookup&) = delete;
    Lookup& operator=(const Lookup&) = delete;

    asio::awaitable<Endpoints> run(const ListSource& source,
                                   const std::shared_ptr<k8s_sd::Resolver>& resolver) {
        const auto port = static_cast<std::uint16_t>(std::stoul(source.port));
        boost::system::error_code no_address;
        const asio::ip::address address = asio::ip::make_address(source.host, no_address);
        if (!no_address) co_return Endpoints(1, asio::ip::tcp::endpoint(address, port));
        start(source.host, port, resolver);
        boost::system::error_code ended;
        co_await result_->end.async_wait(asio::redirect_error(use_awaitable, ended));
        if (!ended) throw boost::system::system_error(beast::error::timeout);
        if (result_->error) throw boost::system::system_error(result_->error);
        co_return std::move(result_->endpoints);
    }

 private:
    struct Result {
        explicit Result(const asio::any_io_executor& executor) : end(executor) {}
        asio::steady_timer end;  ///< cancelled by the result
        boost::system::error_code error = asio::error::operation_aborted;  ///< without a result
        Endpoints endpoints;
    };

    void start(const std::string& host, std::uint16_t port,
               const std::shared_ptr<k8s_sd::Resolver>& resolver) {
        result_->end.expires_after(lookup_limit);
        waiter_ = k8s_sd::detail::Lookups::async_resolve(
            result_->end.get_executor(), resolver, host,
            [weak = std::weak_ptr(result_), port](boost::system::error_code ec, const std::string&,
                                                  const std::vector<asio::ip::address>& addresses) {
                const auto result = weak.lock();
                if (!result) return;
                result->error = ec;
                for (const auto& address : addresses) result->endpoints.emplace_back(address, port);
                result->end.cancel();
            });
    }

    const std::shared_ptr<Result> result_;
    k8s_sd::detail::Lookups::WaiterHandle waiter_;
};

asio::awaitable<void> shake_hands(beast::tcp_stream&, const ListSource&) { co_return; }
asio::awaitable<void> shake_hands(Tls& stream, const ListSource& source) {
    boost::system::error_code no_address;
    asio::ip::make_address(source.host, no_address);
    if (no_address) SSL_set_tlsext_host_name(stream.native_handle(), source.host.c_str());
    stream.set_verify_callback(ssl::host_name_verification(source.host));
    co_await stream.async_handshake(ssl::stream_base::client, use_awaitable);
}

}  // namespace

class ListClient::Connection {
 public:
    virtual ~Connection() = default;
    virtual asio::awaitable<void> open() = 0;
    virtual asio::awaitable<void> ask(const Request&, Parser&, std::chrono::seconds limit) = 0;
};

template <class Stream>
class ListClient::ConnectionOver final : public Connection {
 public:
    template <class... Arguments>
    ConnectionOver(const ListSource& source, std::shared_ptr<k8s_sd::Resolver> resolver,
                   Arguments&&... arguments)
        : source_(source),
          resolver_(std::move(resolver)),
          stream_(std::forward<Arguments>(arguments)...) {}

    asio::awaitable<void> open() override {
        Lookup lookup(stream_.get_executor());
        const Endpoints endpoints = co_await lookup.run(source_, resolver_);
        tcp_of(stream_).expires_after(connect_limit);
        co_await tcp_of(stream_).async_connect(endpoints, use_awaitable);
        co_await shake_hands(stream_, source_);
    }
    asio::awaitable<void> ask(const Request& request, Parser& parser,
                              std::chrono::seconds limit) override {
        tcp_of(stream_).expires_after(limit);
        co_await beast::http::async_write(stream_, request, use_awaitable);
        co_await beast::http::async_read(stream_, buffer_, parser, use_awaitable);
        tcp_of(stream_).expires_never();
    }

 private:
    const ListSource& source_;
    const std::shared_ptr<k8s_sd::Resolver> resolver_;
    Stream stream_;
    beast::flat_buffer buffer_;
};

ListClient::ListClient(asio::any_io_executor executor, ListSource source, ListClientOptions options)
    : executor_(std::move(executor)), source_(std::move(source)), options_(std::move(options)) {}

ListClient::~ListClient() = default;

void ListClient::warn(std::string warning) {
    if (warning == warning_) return;
    warning_ = std::move(warning);
    if (!warning_.empty() && options_.warn) options_.warn(warning_);
}

std::unique_ptr<ListClient::Connection> ListClient::make_connection() {
    if (!source_.tls)
        return std::make_unique<ConnectionOver<beast::tcp_stream>>(source_, options_.resolver,
                                                                   executor_);
    std::string warning;
    ssl::context context = context_of(options_, warning);
    warn(std::move(warning));
    return std::make_unique<ConnectionOver<Tls>>(source_, options_.resolver, executor_, context);
}

asio::awaitable<void> ListClient::get(const std::string& tag, ListReply& reply) {
    // The server may have closed a connection after earlier requests.
    const bool served = connection_ != nullptr;
    boost::system::error_code lost;
    try {
        co_await get_once(tag, reply);
    } catch (const boost::system::system_error& e) {
        if (!served || e.code() == beast::error::timeout) throw;
        lost = e.code();
    }
    if (lost) co_await get_once(tag, reply);
}

asio::awaitable<void> ListClient::get_once(const std::string& tag, ListReply& reply) {
    const auto begun = std::chrono::steady_clock::now();
    const Request request = request_for(source_, options_, tag);
    Parser parser;
    parser.header_limit(head_bytes);
    parser.body_limit(options_.body_bytes);
    // A failure drops the connection.
    std::unique_ptr<Connection> connection = std::move(connection_);
    if (!connection) {
        connection = make_connection();
        co_await connection->open();
    }
    co_await connection->ask(request, parser, options_.wait + answer_limit);
    if (parser.keep_alive()) connection_ = std::move(connection);
    beast::http::response<beast::http::string_body>& response = parser.get();
    reply.status = response.result_int();
    reply.tag = std::string(response[beast::http::field::etag]);
    reply.waited = response.find(beast::http::field::preference_applied) != response.end();
    reply.took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    reply.body = std::move(response.body());
}

}  // namespace k8s_sd_program
