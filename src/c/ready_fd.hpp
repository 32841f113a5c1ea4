#pragma once

#include <boost/system/system_error.hpp>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>

namespace k8s_sd_c {

/// A descriptor that is readable while it is set. Closed by exec.
class ReadyFd {
 public:
    ReadyFd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (fd_ < 0) {
            throw boost::system::system_error(errno, boost::system::system_category(), "eventfd");
        }
    }
    ~ReadyFd() { ::close(fd_); }
    ReadyFd(const ReadyFd&) = delete;
    ReadyFd& operator=(const ReadyFd&) = delete;

    int get() const noexcept { return fd_; }
    // Neither can fail: the counter is 0 or 1.
    void set() noexcept {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
    }
    void reset() noexcept {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto read = ::read(fd_, &count, sizeof count);
    }

 private:
    const int fd_;
};

}  // namespace k8s_sd_c
