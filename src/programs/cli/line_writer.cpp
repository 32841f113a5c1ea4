#include "cli/line_writer.hpp"

#include "cli/signals.hpp"

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <system_error>

namespace cli {

namespace {

/// A line of JSON may hold a whole cluster; it is not buffered as a whole.
constexpr std::size_t buffer_size = std::size_t{64} << 10;

[[noreturn]] void throw_error() {
    if (errno == EPIPE) throw OutputEnded("the reader has gone");
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

/// Maximum delay of noticing a signal handled by another thread.
constexpr int signal_check_interval = 100;  // ms

/// Waits for the reader with poll(), interruptible by a signal; write() could continue after one.
void wait_writable() {
    pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
    for (;;) {
        const int ready = ::poll(&descriptor, 1, signal_check_interval);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) throw_error();
        // Without Signals the kind of signal is unknown.
        const bool ends = Signals::are_handled() ? Signals::end_is_wanted() : ready < 0;
        if (ends) throw OutputEnded("interrupted while waiting for the reader");
    }
}

}  // namespace

void check_output() {
    if (std::cout << std::flush) return;
    pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&descriptor, 1, 0) > 0 && (descriptor.revents & POLLERR) != 0) {
        throw OutputEnded("the reader has gone");
    }
    throw std::runtime_error("cannot write to standard output");
}

LineWriter::LineWriter() {
    // A disconnected reader is an error of write(), not a signal.
    std::signal(SIGPIPE, SIG_IGN);
}

LineWriter& LineWriter::operator<<(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= buffer_size) write_out();
    return *this;
}

void LineWriter::end_line() {
    buffer_ += '\n';
    write_out();
}

void LineWriter::write_out() {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
        wait_writable();
        // After poll(), PIPE_BUF bytes are written without blocking.
        const ssize_t n =
            ::write(STDOUT_FILENO, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
        if (n >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno != EINTR && errno != EAGAIN) {
            throw_error();
        }
    }
    buffer_.clear();
}

}  // namespace cli
