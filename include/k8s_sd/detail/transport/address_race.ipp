#include "k8s_sd/detail/transport/address_race.hpp"

#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration attempt_delay = std::chrono::milliseconds(250);
/// Bounds the descriptors for a name with many addresses.
constexpr std::size_t max_addresses = 32;

/// Opens a socket with close-on-exec, unlike Asio, so children of the host do not inherit it.
error_code open_socket(asio::ip::tcp::socket& socket, const asio::ip::tcp& protocol) {
    const int type = protocol.type() | SOCK_CLOEXEC;
    const int descriptor = ::socket(protocol.family(), type, protocol.protocol());
    if (descriptor < 0) return {errno, boost::system::system_category()};
    error_code ec;
    socket.assign(protocol, descriptor, ec);
    if (ec) ::close(descriptor);
    return ec;
}

}  // namespace

std::vector<asio::ip::address> interleave_families(const std::vector<asio::ip::address>& all) {
    std::vector<asio::ip::address> families[2];
    for (const asio::ip::address& address : all) {
        auto& family = families[address.is_v4() == all.front().is_v4() ? 0 : 1];
        if (std::find(family.begin(), family.end(), address) == family.end()) {
            family.push_back(address);
        }
    }
    std::vector<asio::ip::address> result;
    for (std::size_t i = 0; i < std::max(families[0].size(), families[1].size()); ++i) {
        for (const auto& family : families) {
            if (i < family.size()) result.push_back(family[i]);
        }
    }
    return result;
}

AddressRace::AddressRace(asio::any_io_executor executor, std::shared_ptr<Clock> clock,
                         Handler handler)
    : executor_(std::move(executor)),
      clock_(std::move(clock)),
      timer_(clock_->make_timer(executor_)),
      handler_(std::move(handler)) {}

void AddressRace::start(const std::vector<asio::ip::address>& addresses, std::uint16_t port) {
    addresses_ = interleave_families(addresses);
    if (addresses_.size() > max_addresses) addresses_.resize(max_addresses);
    port_ = port;
    try_next();
}

void AddressRace::try_next() {
    while (handler_ && next_ < addresses_.size()) {
        const asio::ip::address address = addresses_[next_++];
        const asio::ip::tcp::endpoint endpoint(address, port_);
        const auto socket = std::make_shared<asio::ip::tcp::socket>(executor_);
        if (const error_code ec = open_socket(*socket, endpoint.protocol())) {
            failures_.push_back({address, ec});
            continue;
        }
        attempts_.push_back(socket);
        socket->async_connect(endpoint, [self = shared_from_this(), socket, address](error_code e) {
            self->on_connected(socket, address, e);
        });
        if (next_ == addresses_.size()) return;
        // Weak, because this object owns the timer; the attempt itself keeps the object alive.
        return timer_->expires_at(clock_->now() + attempt_delay, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->try_next();
        });
    }
    if (!handler_ || !attempts_.empty()) return;
    std::exchange(handler_, nullptr)(asio::ip::tcp::socket(executor_), std::move(failures_));
}

void AddressRace::on_connected(const Socket& socket, const asio::ip::address& address,
                               error_code ec) {
    if (!handler_) return;
    std::erase(attempts_, socket);
    if (ec) {
        failures_.push_back({address, ec});
        timer_->cancel();
        return try_next();
    }
    const Handler handler = std::exchange(handler_, nullptr);
    cancel();
    handler(std::move(*socket), {});
}

void AddressRace::cancel() noexcept {
    handler_ = nullptr;
    timer_->cancel();
    for (const Socket& socket : attempts_) {
        error_code ignored;
        socket->close(ignored);
    }
    attempts_.clear();
}

}  // namespace k8s_sd::inline v0::detail
