#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>

namespace cli {

/// The signals of a program: SIGINT and SIGTERM end it, SIGHUP may make it reload. After handle(),
/// SIGINT and SIGTERM never have their default action: without a pending wait, early in the program
/// or at its end, they end the process at once.
class Signals {
 public:
    /// Must be called once, at the beginning of main().
    /// \param status   exit status of a process ended at once by a signal
    /// \param reloads  SIGHUP is handled too; without a pending wait it does nothing
    static void handle(int status, bool reloads);
    /// Whether SIGINT or SIGTERM has been received.
    static bool end_is_wanted() noexcept;
    /// Whether handle() was called.
    static bool are_handled() noexcept;

    /// Without handle(), as in tests, no signal ever comes.
    explicit Signals(const boost::asio::any_io_executor&);
    ~Signals() { cancel(); }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    /// Calls `handler` with each signal until cancel(), one call at a time.
    /// \pre it waits for none
    void wait(std::function<void(int signal)> handler);
    /// Drops the handler. Without another object that waits, SIGINT and SIGTERM end the process at
    /// once from now on.
    void cancel();

 private:
    void read_next();

    boost::asio::posix::stream_descriptor pipe_;
    std::shared_ptr<const std::function<void(int signal)>> handler_;  // null: it does not wait
};

}  // namespace cli
