#include "k8s_sd/detail/transport/tls/tls_tickets.hpp"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <new>

namespace k8s_sd::inline v0::detail {

namespace {

/// Whether the certificate that the server showed is valid no longer: only a full handshake shows
/// its successor.
bool has_expired_certificate(SSL_SESSION* session) {
    const X509* const certificate = SSL_SESSION_get0_peer(session);
    return !certificate || X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0;
}

}  // namespace

// Sessions are copied, because OpenSSL changes the one of a connection, and does not resume it
// after a close without close_notify.

std::uint64_t TlsTicket::offer(SSL* ssl) {
    const std::lock_guard lock(mutex_);
    if (!session_ || failures_ >= max_failures) return 0;
    if (has_expired_certificate(session_.get())) return 0;
    const std::unique_ptr<SSL_SESSION, Free> copy(SSL_SESSION_dup(session_.get()));
    return copy && SSL_set_session(ssl, copy.get()) == 1 ? number_ : 0;
}

void TlsTicket::renew(const SSL_SESSION* session) noexcept {
    // This is within a read, whose result an error of the copy must not change.
    ERR_set_mark();
    std::unique_ptr<SSL_SESSION, Free> copy(SSL_SESSION_dup(session));
    ERR_pop_to_mark();
    const std::lock_guard lock(mutex_);
    session_.swap(copy);
    ++number_;
}

void TlsTicket::on_success() noexcept {
    const std::lock_guard lock(mutex_);
    failures_ = 0;
}

void TlsTicket::on_failure(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex_);
    if (!session_ || number != number_) return;
    session_.reset();
    ++failures_;
}

TlsTickets::TlsTickets(SSL_CTX* context) {
    if (SSL_CTX_set_ex_data(context, context_index(), this) != 1) throw std::bad_alloc();
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_ticket);
}

std::shared_ptr<TlsTicket> TlsTickets::of(SSL_CTX* context, const std::string& server) {
    auto* const tickets = static_cast<TlsTickets*>(SSL_CTX_get_ex_data(context, context_index()));
    if (!tickets) return nullptr;
    const std::lock_guard lock(tickets->mutex_);
    auto& servers = tickets->servers_;
    if (servers.size() >= max_servers && !servers.contains(server)) servers.clear();
    std::shared_ptr<TlsTicket>& ticket = servers[server];
    if (!ticket) ticket = std::make_shared<TlsTicket>();
    return ticket;
}

void TlsTickets::receive(SSL* ssl, TlsTicket& ticket) noexcept {
    SSL_set_ex_data(ssl, session_index(), &ticket);
}

// Without functions: OpenSSL would call them for each context of the process, even if the plugin
// with this code has been unloaded.

int TlsTickets::context_index() {
    static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

int TlsTickets::session_index() {
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

/// \returns 0: the reference to the session is not taken
int TlsTickets::on_ticket(SSL* ssl, SSL_SESSION* session) {
    auto* const ticket = static_cast<TlsTicket*>(SSL_get_ex_data(ssl, session_index()));
    if (ticket) ticket->renew(session);
    return 0;
}

}  // namespace k8s_sd::inline v0::detail
