#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

namespace cli {

/// "127.0.0.1:8080", "[::1]:0" or "localhost:8080": the first address of a name, preferring IPv4.
/// \throws UsageError
boost::asio::ip::tcp::endpoint listen_address(const std::string& text);

}  // namespace cli
