#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/error.hpp>
#include <netdb.h>
#include <netinet/in.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using ResolvedAddresses = std::vector<asio::ip::address>;

error_code lookup_error(int result) {
    switch (result) {
        case 0: return {};
        case EAI_AGAIN: return asio::error::host_not_found_try_again;
        case EAI_FAIL: return asio::error::no_recovery;
        case EAI_MEMORY: return asio::error::no_memory;
        case EAI_SYSTEM: return {errno, boost::system::system_category()};
        default: return asio::error::host_not_found;
    }
}

void append_address(const addrinfo& info, ResolvedAddresses& addresses) {
    if (info.ai_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, info.ai_addr, sizeof in);
        addresses.emplace_back(asio::ip::address_v4(ntohl(in.sin_addr.s_addr)));
    } else if (info.ai_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, info.ai_addr, sizeof in);
        asio::ip::address_v6::bytes_type bytes;
        std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
        addresses.emplace_back(asio::ip::address_v6(bytes, in.sin6_scope_id));
    }
}

int look_up(const std::string& host, const addrinfo& hints, addrinfo** found) {
    const detail::BlockingCall waits;
    return ::getaddrinfo(host.c_str(), nullptr, &hints, found);
}

void look_up(const std::string& host, const Resolver::Handler& handler) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;  // otherwise each address is returned once per protocol
    addrinfo* found = nullptr;
    error_code ec = lookup_error(look_up(host, hints, &found));
    ResolvedAddresses addresses;
    for (const addrinfo* info = found; info; info = info->ai_next) append_address(*info, addresses);
    if (found) ::freeaddrinfo(found);
    if (!ec && addresses.empty()) ec = asio::error::host_not_found;
    handler(ec, std::move(addresses));
}

class SystemResolver final : public Resolver {
 public:
    void async_resolve(const std::string& host, Handler handler) override {
        // Global and never destroyed: see BlockingThreads.
        static const detail::Immortal<detail::BlockingThreads> threads(8U, 1000U);
        if (!threads->run([host, handler] { look_up(host, handler); })) {
            handler(asio::error::host_not_found_try_again, {});
        }
    }
};

}  // namespace

std::shared_ptr<Resolver> system_resolver() { return std::make_shared<SystemResolver>(); }

}  // namespace k8s_sd::inline v0
