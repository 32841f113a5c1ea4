#include "child.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace bench {

namespace {

/// {for reading, for writing}
std::array<int, 2> make_pipe() {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("cannot make a pipe");
    return pipe;
}

}  // namespace

void stop(const Child& child) {
    ::close(child.input);
    ::kill(child.process, SIGKILL);
    ::waitpid(child.process, nullptr, 0);
}

void write_report(int output, const void* report, std::size_t size) {
    if (::write(output, report, size) != static_cast<ssize_t>(size)) std::_Exit(1);
    ::close(output);
}

Child start_child(const std::function<void(int input, int output)>& serve, void* report,
                  std::size_t size) {
    const auto input = make_pipe();
    const auto output = make_pipe();
    const Child child{::fork(), input[1]};
    if (child.process < 0) throw std::runtime_error("cannot start a process");
    if (child.process == 0) {
        std::signal(SIGPIPE, SIG_IGN);
        ::close(input[1]);
        ::close(output[0]);
        // An exception must not reach the code of the parent.
        [&]() noexcept { serve(input[0], output[1]); }();
        std::_Exit(0);
    }
    ::close(input[0]);
    ::close(output[1]);
    const ssize_t read = ::read(output[0], report, size);
    ::close(output[0]);
    if (read != static_cast<ssize_t>(size)) {
        stop(child);
        throw std::runtime_error("a child process ended without a report");
    }
    return child;
}

}  // namespace bench
