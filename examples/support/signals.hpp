#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace support {

/// The signals that a program handles: SIGINT and SIGTERM end it, SIGHUP may have it reload. From
/// handle() on SIGINT and SIGTERM never have their default action: where nobody waits for them,
/// because the program has not come so far or is about to end, they end the process at once.
class Signals {
 public:
    /// To be called once, at the beginning of main().
    /// \param status   of a process that a signal ends at once
    /// \param reloads  SIGHUP is handled, too; where nobody waits for it, it does nothing
    static void handle(int status, bool reloads);
    /// Whether SIGINT or SIGTERM have come.
    static bool end_is_wanted() noexcept;
    /// Whether handle() was called.
    static bool are_handled() noexcept;

    /// Without handle(), as in tests, no signal ever comes.
    explicit Signals(const boost::asio::any_io_executor&);
    ~Signals() { cancel(); }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// Calls `handler` with the next signal. One that comes between two calls is not lost.
    void async_wait(std::function<void(int signal)> handler);
    /// The handler is not called any more; from now on SIGINT and SIGTERM end the process at once.
    void cancel();

 private:
    boost::asio::posix::stream_descriptor pipe_;
};

}  // namespace support
