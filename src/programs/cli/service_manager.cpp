#include "cli/service_manager.hpp"

#include <boost/system/error_code.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

namespace cli {

namespace {

std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::optional<std::uint64_t> number_in(const std::string& text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || last != end) return std::nullopt;
    return number;
}

/// For Type=notify-reload: the message is newer than the signal of the reload.
std::string monotonic_microseconds() {
    std::timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
}

}  // namespace

ServiceManager::Address ServiceManager::address_in_environment() {
    Address address{.socket = environment_variable("NOTIFY_SOCKET")};
    const auto watchdog = number_in(environment_variable("WATCHDOG_USEC"));
    const auto pid = number_in(environment_variable("WATCHDOG_PID"));
    const bool is_ours = !pid || *pid == static_cast<std::uint64_t>(::getpid());
    constexpr std::uint64_t day = 24ULL * 60 * 60 * 1'000'000;
    if (watchdog && *watchdog > 0 && is_ours) {
        address.watchdog = std::chrono::microseconds(std::min(*watchdog, day));
    }
    return address;
}

ServiceManager::ServiceManager(const boost::asio::any_io_executor& executor, Address address)
    : address_(std::move(address)), timer_(executor) {}

void ServiceManager::ready(std::string_view status) {
    std::string line(status.substr(0, status.find('\n')));
    send("READY=1\nSTATUS=" + line);
    if (address_.watchdog && !address_.socket.empty() && !std::exchange(feeds_, true)) {
        feed_watchdog();
    }
}

void ServiceManager::reloading() {
    send("RELOADING=1\nMONOTONIC_USEC=" + monotonic_microseconds());
}

void ServiceManager::stopping() {
    feeds_ = false;
    timer_.cancel();
    send("STOPPING=1");
}

void ServiceManager::feed_watchdog() {
    send("WATCHDOG=1");
    // systemd recommends half of its time.
    timer_.expires_after(*address_.watchdog / 2);
    timer_.async_wait([this](boost::system::error_code ec) {
        if (!ec && feeds_) feed_watchdog();
    });
}

void ServiceManager::send(const std::string& message) const {
    const std::string& name = address_.socket;
    ::sockaddr_un to{};
    if (name.empty() || name.size() >= sizeof to.sun_path) return;
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return;
    to.sun_family = AF_UNIX;
    std::memcpy(static_cast<void*>(to.sun_path), name.data(), name.size());
    if (name.front() == '@') to.sun_path[0] = '\0';  // abstract: a zero, and no zero at the end
    const auto size = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + name.size() +
                                               (name.front() == '@' ? 0 : 1));
    [[maybe_unused]] const ::ssize_t ignored =
        ::sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const ::sockaddr*>(&to), size);
    ::close(socket);
}

}  // namespace cli
