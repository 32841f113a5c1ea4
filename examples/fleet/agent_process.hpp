#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/streambuf.hpp>
#include <sys/types.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fleet {

/// A scraper in a process of its own. For one thread.
class AgentProcess : public std::enable_shared_from_this<AgentProcess> {
 public:
    using OnLine = std::function<void(const std::string&)>;

    /// Starts the program. \throws std::system_error
    AgentProcess(const boost::asio::any_io_executor&, const std::vector<std::string>& command,
                 OnLine on_line);
    /// Kills the process if it still runs.
    ~AgentProcess();
    AgentProcess(const AgentProcess&) = delete;
    AgentProcess& operator=(const AgentProcess&) = delete;

    /// Reads the process's output by lines.
    void start() { read(); }
    /// Sends a signal: SIGTERM to shut it down, SIGKILL to kill it.
    void signal(int number) const;
    /// Whether the process still runs.
    bool runs();
    /// Address for probes; empty until the process has printed it.
    const std::string& address() const noexcept { return address_; }

 private:
    void read();
    void on_line(const std::string&);

    boost::asio::posix::stream_descriptor output_;
    boost::asio::streambuf buffer_;
    OnLine on_line_;
    std::string address_;
    pid_t pid_ = 0;  ///< 0: the process has ended
};

}  // namespace fleet
