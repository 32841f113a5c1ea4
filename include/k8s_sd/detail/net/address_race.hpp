#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The order of RFC 8305, 4: families take turns, beginning with that of the first address.
/// An address that is named twice is tried once.
std::vector<asio::ip::address> interleave_families(const std::vector<asio::ip::address>&);

/// One of the addresses that did not answer.
struct FailedAddress {
    asio::ip::address address;
    error_code ec;
};

/// Connects to whichever address answers first (RFC 8305, 5). Every 250 ms, and as soon as one has
/// failed, the next address is tried; those before it go on. Everything happens on the executor.
class AddressRace : public std::enable_shared_from_this<AddressRace> {
 public:
    /// An open socket, or a closed one and what happened to each address. May be called from
    /// start().
    using Handler = std::function<void(asio::ip::tcp::socket, std::vector<FailedAddress>)>;

    AddressRace(asio::any_io_executor, std::shared_ptr<Clock>, Handler);

    /// Its operations keep it alive until the handler was called.
    void start(const std::vector<asio::ip::address>&, std::uint16_t port);
    /// Gives up; the handler is not called.
    void cancel() noexcept;

 private:
    using Socket = std::shared_ptr<asio::ip::tcp::socket>;

    void try_next();
    void on_connected(const Socket&, const asio::ip::address&, error_code);

    asio::any_io_executor executor_;
    std::shared_ptr<Clock> clock_;
    std::unique_ptr<Timer> timer_;
    Handler handler_;  ///< empty once it is over
    std::vector<asio::ip::address> addresses_;
    std::uint16_t port_ = 0;
    std::size_t next_ = 0;
    std::vector<Socket> attempts_;
    std::vector<FailedAddress> failures_;
};

}  // namespace k8s_sd::inline v0::detail
