#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Address order of RFC 8305, 4: alternates between families, starting with that of the first
/// address. Duplicates are dropped.
std::vector<asio::ip::address> interleave_families(const std::vector<asio::ip::address>&);

/// An address with a failed attempt.
struct FailedAddress {
    asio::ip::address address;
    error_code ec;
};

/// Connects to the first address to respond (RFC 8305, 5). Starts a new attempt every 250 ms, and
/// after each failure; earlier attempts continue. All handlers run on the executor.
class AddressRace : public std::enable_shared_from_this<AddressRace> {
 public:
    /// Receives an open socket, or a closed one and the failure of each address. May be called from
    /// start().
    using Handler = std::function<void(asio::ip::tcp::socket, std::vector<FailedAddress>)>;

    AddressRace(asio::any_io_executor, std::shared_ptr<Clock>, Handler);

    /// Pending operations keep the race alive until the handler has been called.
    void start(const std::vector<asio::ip::address>&, std::uint16_t port);
    /// Stops all attempts; the handler is not called.
    void cancel() noexcept;

 private:
    using Socket = std::shared_ptr<asio::ip::tcp::socket>;

    void try_next();
    void on_connected(const Socket&, const asio::ip::address&, error_code);

    asio::any_io_executor executor_;
    std::shared_ptr<Clock> clock_;
    std::unique_ptr<Timer> timer_;
    Handler handler_;  ///< empty after completion
    std::vector<asio::ip::address> addresses_;
    std::uint16_t port_ = 0;
    std::size_t next_ = 0;
    std::vector<Socket> attempts_;
    std::vector<FailedAddress> failures_;
};

}  // namespace k8s_sd::inline v0::detail
