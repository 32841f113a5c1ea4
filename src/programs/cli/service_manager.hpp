#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// Messages to the service manager, in the protocol of sd_notify(3): a datagram of KEY=VALUE lines
/// to the socket $NOTIFY_SOCKET. All functions are without effect if there is none. A message that
/// cannot be sent at once is lost: the manager must never delay the program.
class ServiceManager {
 public:
    /// The socket and the watchdog of a service manager.
    struct Address {
        std::string socket{};  ///< a path, or "@" and an abstract name; empty: no service manager
        /// Without a message for this long the manager restarts the program.
        std::optional<std::chrono::microseconds> watchdog{};
    };

    /// $NOTIFY_SOCKET, and $WATCHDOG_USEC if $WATCHDOG_PID is this process or absent.
    static Address address_in_environment();

    ServiceManager(const boost::asio::any_io_executor&, Address);
    ServiceManager(const ServiceManager&) = delete;
    ServiceManager& operator=(const ServiceManager&) = delete;

    /// The program serves, for the first time or after a reload. Starts the watchdog.
    /// \param status  one line for people
    void ready(std::string_view status);
    void reloading();
    /// Ends the watchdog.
    void stopping();

 private:
    void send(const std::string& message) const;
    void feed_watchdog();

    Address address_;
    boost::asio::steady_timer timer_;
    bool feeds_ = false;
};

}  // namespace cli
