#pragma once

#include <openssl/ssl.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace k8s_sd::inline v0::detail {

/// The newest session ticket of one server. A handshake with a ticket needs neither certificates
/// nor signatures, so it costs both ends less. Thread-safe.
class TlsTicket {
 public:
    /// Some servers issue tickets, but fail the handshakes that offer them. After this many in a
    /// row the server gets no ticket any longer.
    static constexpr int max_failures = 3;

    /// Offers the ticket in the handshake of this session. A ticket is offered to several sessions,
    /// as by Go: many servers issue one for each connection, and there may be many connections.
    /// Without a ticket, or once the certificate of the server has expired, it does nothing.
    /// \returns the number of the ticket; 0: none
    std::uint64_t offer(SSL*);
    /// The server has issued a ticket, which replaces an earlier one.
    void renew(const SSL_SESSION*) noexcept;
    /// A handshake with a ticket succeeded, whether the server accepted the ticket or declined it.
    void on_success() noexcept;
    /// A handshake that offered the ticket with this number failed, or was given up. Drops that
    /// ticket; other handshakes with it are no further failures, as during an outage.
    void on_failure(std::uint64_t number) noexcept;

 private:
    struct Free {
        void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
    };

    std::mutex mutex_;
    std::unique_ptr<SSL_SESSION, Free> session_;  ///< null: no ticket
    std::uint64_t number_ = 0;                    ///< of the ticket
    int failures_ = 0;                            ///< in a row
};

/// The tickets of the servers of one client context. They belong to the context, because a
/// handshake with a ticket checks no certificate: a context with another CA, client certificate or
/// verification has none of them. Thread-safe.
class TlsTickets {
 public:
    /// With more servers than this, the tickets of all are dropped.
    static constexpr std::size_t max_servers = 256;

    /// Makes a client context keep its tickets here. They must live as long as it makes sessions.
    /// \throws std::bad_alloc
    explicit TlsTickets(SSL_CTX*);
    /// The ticket of a server.
    /// \param server  its address and its name in certificates
    /// \returns null if the context keeps no tickets
    static std::shared_ptr<TlsTicket> of(SSL_CTX*, const std::string& server);
    /// Tickets that the session receives are stored there. The ticket must outlive the session.
    static void receive(SSL*, TlsTicket&) noexcept;

 private:
    static int context_index();
    static int session_index();
    static int on_ticket(SSL*, SSL_SESSION*);

    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<TlsTicket>> servers_;
};

}  // namespace k8s_sd::inline v0::detail
