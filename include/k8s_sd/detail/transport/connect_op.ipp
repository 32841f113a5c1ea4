#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/transport/connect_op.hpp"
#include "k8s_sd/detail/transport/proxy/http_connect.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"
#include "k8s_sd/detail/transport/proxy/socks5.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <exception>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The buffers outlive their operations, because the handlers own this object.
struct ConnectOp::Talk {
    std::unique_ptr<ProxyDialog> dialog;
    CleansedBytes output;
    CleansedBytes input = CleansedBytes(4096);
};

namespace {

std::string name_of(const ProxyTarget& proxy) { return "the proxy " + to_string(proxy); }

std::unique_ptr<ProxyDialog> make_dialog(const ClientRoute& route) {
    const ProxyTarget& proxy = *route.proxy;
    if (proxy.protocol == ProxyTarget::Protocol::socks5) {
        return std::make_unique<Socks5>(proxy, route.host, route.port);
    }
    return std::make_unique<HttpConnect>(proxy, route.host, route.port);
}

}  // namespace

void ConnectOp::connect(ClientRoute route, const Dialing& dialing) {
    route_ = std::move(route);
    dialing_ = dialing;
    peer_ = route_.proxy ? name_of(*route_.proxy) : join_host_port(route_.host, route_.port);
    prepare(route_.tls, &ConnectOp::prepare_proxy);
}

void ConnectOp::accept(const std::shared_ptr<asio::ssl::context>& context) {
    if (!context) return finish({}, {});
    peer_ = "the client";
    session_ = channel_->add_tls(context->native_handle()).native_handle();
    channel_->handshake(TlsSession::Side::server, [self = shared_from_this()](error_code ec) {
        self->finish(ec, ec ? self->explain_handshake(ec) : std::string());
    });
}

void ConnectOp::prepare_proxy() { prepare(route_.proxy_tls, &ConnectOp::look_up); }

/// Continues once the TLS context exists, if TLS is in use.
void ConnectOp::prepare(std::optional<ClientTls>& tls, Step next) {
    if (!tls || tls->context) return (this->*next)();
    const auto files = tls->contexts->async_get(
        channel_->socket.get_executor(), tls->config,
        [self = shared_from_this(), &tls, next](const TlsContexts::Context& context,
                                                const std::string& problem) {
            if (!context) return self->finish(errc::credentials_unavailable, problem);
            tls->context = context;
            if (self->handler_) ((*self).*next)();
        },
        tls->trust);
    // A later step may be reading files by now.
    if (!tls->context) files_ = files;
}

void ConnectOp::look_up() {
    stage_ = Stage::lookup;
    const std::string& host = route_.proxy ? route_.proxy->host : route_.host;
    const std::string& port = route_.proxy ? route_.proxy->port : route_.port;
    const auto number = port_number(port);
    if (!number) return finish(errc::invalid_config, "not a port number: " + in_quotes(port));
    port_ = *number;
    error_code not_literal;
    const auto address = asio::ip::make_address(host, not_literal);
    if (!not_literal) return dial({address});
    lookup_ = Lookups::async_resolve(channel_->socket.get_executor(), dialing_.resolver, host,
                                     [self = shared_from_this()](error_code ec,
                                                                 const std::string& problem,
                                                                 const Addresses& addresses) {
                                         self->resolved(ec, problem, addresses);
                                     });
}

void ConnectOp::resolved(error_code ec, const std::string& problem, const Addresses& addresses) {
    if (!handler_) return;
    if (!ec && addresses.empty()) ec = asio::error::host_not_found;
    if (!ec) return dial(addresses);
    const std::string whom = route_.proxy ? "the name of " + peer_ : route_.host;
    finish(ec, "cannot resolve " + whom + ": " + (problem.empty() ? in_words(ec) : problem));
}

void ConnectOp::dial(const Addresses& addresses) {
    stage_ = Stage::tcp;
    if (channel_->closed()) return finish(asio::error::operation_aborted, "closed");
    const auto race = std::make_shared<AddressRace>(
        channel_->socket.get_executor(), dialing_.clock,
        [self = shared_from_this()](asio::ip::tcp::socket socket,
                                    const std::vector<FailedAddress>& failed) {
            self->connected(std::move(socket), failed);
        });
    race_ = race;
    race->start(addresses, port_);
}

void ConnectOp::connected(asio::ip::tcp::socket socket, const std::vector<FailedAddress>& failed) {
    if (!handler_) return;
    if (!socket.is_open()) return fail_to_connect(failed);
    channel_->open(std::move(socket));
    if (!route_.proxy) return secure_server();
    if (route_.proxy_tls) return secure(*route_.proxy_tls, &ConnectOp::talk_to_proxy);
    talk_to_proxy();
}

void ConnectOp::talk_to_proxy() {
    stage_ = Stage::proxy;
    talk_ = std::make_shared<Talk>();
    talk_->dialog = make_dialog(route_);
    say();
}

void ConnectOp::say() {
    const ProxyDialog& dialog = *talk_->dialog;
    if (dialog.state() == ProxyDialog::State::failed) return fail_talk(dialog.problem());
    if (dialog.state() == ProxyDialog::State::done) return secure_server();
    talk_->output = talk_->dialog->take_output();
    if (talk_->output.empty()) return listen();
    channel_->write_raw(asio::buffer(talk_->output),
                        [self = shared_from_this()](error_code ec, std::size_t) {
                            if (!self->handler_) return;
                            if (ec) return self->answered(ec, 0);
                            self->talk_->output.clear();
                            self->listen();
                        });
}

void ConnectOp::listen() {
    channel_->read_raw(asio::buffer(talk_->input),
                       [self = shared_from_this()](error_code ec, std::size_t n) {
                           if (self->handler_) self->answered(ec, n);
                       });
}

/// An exception over malformed proxy data must not escape from the host's run().
void ConnectOp::answered(error_code ec, std::size_t n) try {
    ProxyDialog& dialog = *talk_->dialog;
    if (ec == asio::error::eof) {
        dialog.feed_end();
    } else if (ec) {
        return fail_talk("broke the connection: " + in_words(ec));
    } else {
        dialog.feed(view(talk_->input).substr(0, n));
    }
    say();
} catch (const std::exception& error) {
    fail_talk(std::string("sent an unreadable answer: ") + in_words(error));
}

/// Redacts the problem, because a proxy may echo the credentials.
void ConnectOp::fail_talk(std::string problem) {
    finish(errc::proxy_failed, peer_ + " " + redact(std::move(problem), secrets_of(*route_.proxy)));
}

void ConnectOp::secure_server() {
    talk_.reset();
    peer_ = join_host_port(route_.host, route_.port);
    if (!route_.tls) return finish({}, {});
    const bool through_proxy = route_.proxy != nullptr;
    if (through_proxy) peer_ += " (through " + name_of(*route_.proxy) + ")";
    secure(*route_.tls, nullptr);
}

/// \param next  null: last step
void ConnectOp::secure(const ClientTls& tls, Step next) try {
    stage_ = Stage::handshake;
    rejection_.clear();
    expected_ = {tls.server_name, tls.config ? describe_trust(*tls.config, tls.trust) : "",
                 next != nullptr};
    TlsSession& session = channel_->add_tls(tls.context->native_handle());
    session_ = session.native_handle();
    if (!expect_peer(session_, tls.server_name)) {
        return finish(errc::invalid_config, "not a name or address: " + in_quotes(tls.server_name));
    }
    if (route_.offers_http2 && !next) session.offer_http2();
    session.use_ticket(
        TlsTickets::of(tls.context->native_handle(), peer_ + '\n' + tls.server_name));
    // Without verification there are no rejections.
    if (SSL_get_verify_mode(session_) != SSL_VERIFY_NONE) explain_rejections(session);
    channel_->handshake(TlsSession::Side::client, [self = shared_from_this(), next](error_code ec) {
        if (ec || !next) {
            return self->finish(self->handshake_error(ec), ec ? self->explain_handshake(ec) : "");
        }
        if (self->handler_) ((*self).*next)();
    });
} catch (const std::exception& error) {  // from OpenSSL
    finish(errc::connector_failed, in_words(error));
}

void ConnectOp::explain_rejections(TlsSession& session) {
    // Weak: the TLS session outlives the handshake.
    session.on_rejection([weak = weak_from_this()](X509_STORE_CTX* context) {
        const auto self = weak.lock();
        if (self && self->rejection_.empty())
            self->rejection_ = explain_rejection(context, self->expected_);
    });
}

/// A TLS failure of the proxy is not an error of the server.
error_code ConnectOp::handshake_error(error_code ec) const {
    return ec && expected_.is_proxy ? error_code(errc::proxy_failed) : ec;
}

void ConnectOp::finish(error_code ec, std::string text) {
    if (!handler_) return;
    const auto self = shared_from_this();  // pending steps own this object
    if (!ec) channel_->enable();
    asio::post(channel_->socket.get_executor(),
               [channel = channel_, handler = std::exchange(handler_, nullptr), ec,
                text = std::move(text)] { handler(channel->outcome(ec), text); });
    lookup_.cancel();  // last, because it may be the context's only work
    if (const auto files = files_.lock()) files->cancel();
    if (const auto race = race_.lock()) race->cancel();
}

void ConnectOp::fail_to_connect(const std::vector<FailedAddress>& failed) {
    constexpr std::size_t max_named = 4;
    const error_code ec = failed.back().ec;
    if (failed.size() == 1 && ec == asio::error::connection_refused) {
        return finish(ec, "connection refused by " + peer_);
    }
    std::string text = "cannot connect to " + peer_;
    if (failed.size() == 1) return finish(ec, text + ": " + in_words(ec));
    for (std::size_t i = 0; i < std::min(failed.size(), max_named); ++i) {
        text +=
            (i == 0 ? ": " : "; ") + failed[i].address.to_string() + ": " + in_words(failed[i].ec);
    }
    if (failed.size() > max_named) {
        text += "; and " + std::to_string(failed.size() - max_named) + " more";
    }
    finish(ec, std::move(text));
}

std::string ConnectOp::explain_handshake(const error_code& ec) const {
    if (!rejection_.empty()) return rejection_;
    if (ec == asio::error::eof) {
        return peer_ + " closed the connection during the TLS handshake; should the URL start with "
                       "http://?";
    }
    const std::string why =
        explain_tls_error(ec, SSL_get_certificate(session_) != nullptr, versions_of(session_));
    if (!why.empty()) return peer_ + " " + why;
    return "TLS handshake with " + peer_ + " failed: " + in_words(ec);
}

std::string ConnectOp::waits_for() const {
    switch (stage_) {
        case Stage::files: return "the files of certificates";
        case Stage::lookup:
            return "the lookup of " +
                   (route_.proxy ? "the name of " + peer_ : "the name " + route_.host);
        case Stage::tcp: return "TCP to " + peer_;
        case Stage::handshake: return "the TLS handshake with " + peer_;
        case Stage::proxy: break;
    }
    return "the answer of " + peer_;
}

}  // namespace k8s_sd::inline v0::detail
