#include "k8s_sd/detail/transport/unreachable.hpp"

#include <boost/asio/error.hpp>

namespace k8s_sd::inline v0::detail {

bool is_unreachable(const error_code& ec) noexcept {
    return ec == errc::connect_timeout || ec == errc::proxy_failed ||
           ec == boost::asio::error::connection_refused ||
           ec == boost::asio::error::host_not_found ||
           ec == boost::asio::error::host_not_found_try_again ||
           ec == boost::asio::error::host_unreachable ||
           ec == boost::asio::error::network_unreachable;
}

}  // namespace k8s_sd::inline v0::detail
