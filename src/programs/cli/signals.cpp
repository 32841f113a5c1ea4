#include "cli/signals.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

namespace cli {

namespace {

// State of the handler; the pipe is never closed.
std::array<int, 2> wake_pipe{-1, -1};
std::atomic<int> waiting = 0;  // objects
std::atomic<bool> end_wanted = false;
std::atomic<int> status_at_once = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
    const int before = errno;
    if (signal != SIGHUP) end_wanted = true;
    if (waiting > 0) {
        const auto byte = static_cast<unsigned char>(signal);
        // A full pipe also wakes the reader.
        [[maybe_unused]] const ssize_t ignored = ::write(wake_pipe[1], &byte, 1);
    } else if (signal != SIGHUP) {
        ::_exit(status_at_once);
    }
    errno = before;
}

[[noreturn]] void throw_last_error() {
    throw std::system_error(errno, std::generic_category(), "signals cannot be handled");
}

}  // namespace

void Signals::handle(int status, bool reloads) {
    status_at_once = status;
    if (::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw_last_error();
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask);
    // SIGHUP comes first: a program that handles SIGINT or SIGTERM never ends by a reload.
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        if (signal != SIGHUP || reloads) ::sigaction(signal, &action, nullptr);
    }
}

bool Signals::end_is_wanted() noexcept { return end_wanted; }

bool Signals::are_handled() noexcept { return wake_pipe[0] >= 0; }

Signals::Signals(const boost::asio::any_io_executor& executor) : pipe_(executor) {
    if (!are_handled()) return;
    const int reading = ::fcntl(wake_pipe[0], F_DUPFD_CLOEXEC, 0);
    if (reading < 0) throw_last_error();
    pipe_.assign(reading);
}

void Signals::wait(std::function<void(int signal)> handler) {
    if (!pipe_.is_open()) return;
    handler_ = std::make_shared<const std::function<void(int signal)>>(std::move(handler));
    ++waiting;
    read_next();
}

void Signals::read_next() {
    const auto signal = std::make_shared<unsigned char>();
    pipe_.async_read_some(
        boost::asio::buffer(signal.get(), 1),
        [this, signal, weak = std::weak_ptr(handler_)](boost::system::error_code ec, std::size_t) {
            if (ec) return;
            if (const auto handler = weak.lock()) (*handler)(*signal);
            // The handler may have cancelled or destroyed this object.
            if (!weak.expired()) read_next();
        });
}

void Signals::cancel() {
    if (std::exchange(handler_, nullptr)) --waiting;
    boost::system::error_code ignored;
    pipe_.cancel(ignored);
}

}  // namespace cli
