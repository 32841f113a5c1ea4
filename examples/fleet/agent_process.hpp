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

    /// Begins the program. \throws std::system_error
    AgentProcess(const boost::asio::any_io_executor&, const std::vector<std::string>& command,
                 OnLine on_line);
    /// Kills it if it still runs.
    ~AgentProcess();
    AgentProcess(const AgentProcess&) = delete;
    AgentProcess& operator=(const AgentProcess&) = delete;

    /// Reads what it prints, a line at a time.
    void start() { read(); }
    /// Asks it to end (SIGTERM), or ends it (SIGKILL).
    void signal(int number) const;
    /// Whether it still runs.
    bool runs();
    /// Where it answers probes; empty: it has not said so yet.
    const std::string& address() const noexcept { return address_; }

 private:
    void read();
    void on_line(const std::string&);

    boost::asio::posix::stream_descriptor output_;
    boost::asio::streambuf buffer_;
    OnLine on_line_;
    std::string address_;
    pid_t pid_ = 0;  ///< 0: it has ended
};

}  // namespace fleet
