#include "agent_process.hpp"

#include <boost/asio/read_until.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <istream>
#include <string_view>
#include <system_error>
#include <utility>

namespace fleet {

namespace asio = boost::asio;

namespace {

struct Pipe {
    Pipe() {
        if (pipe2(ends, O_CLOEXEC) != 0) {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
    }
    int ends[2];
};

pid_t begin(const std::vector<std::string>& command, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int error =
        posix_spawn(&pid, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::system_error(error, std::generic_category(), command.front());
    return pid;
}

}  // namespace

AgentProcess::AgentProcess(const asio::any_io_executor& executor,
                           const std::vector<std::string>& command, OnLine on_line)
    : output_(executor), on_line_(std::move(on_line)) {
    const Pipe pipe;
    output_.assign(pipe.ends[0]);
    try {
        pid_ = begin(command, pipe.ends[1]);
    } catch (...) {
        close(pipe.ends[1]);
        throw;
    }
    close(pipe.ends[1]);
}

AgentProcess::~AgentProcess() {
    if (!runs()) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

void AgentProcess::signal(int number) const {
    if (pid_ != 0) kill(pid_, number);
}

bool AgentProcess::runs() {
    if (pid_ != 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ != 0;
}

void AgentProcess::read() {
    asio::async_read_until(output_, buffer_, '\n',
                           [weak = weak_from_this()](boost::system::error_code ec, std::size_t) {
                               const auto self = weak.lock();
                               if (ec || !self) return;
                               std::istream lines(&self->buffer_);
                               std::string line;
                               std::getline(lines, line);
                               self->on_line(line);
                               self->read();
                           });
}

void AgentProcess::on_line(const std::string& line) {
    constexpr std::string_view listens = "listens at http://";
    if (line.starts_with(listens)) address_ = line.substr(listens.size());
    on_line_(line);
}

}  // namespace fleet
