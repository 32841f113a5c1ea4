#include "cli/listen_address.hpp"

#include "cli/command_line.hpp"
#include "cli/terminal_text.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace cli {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// The first address of a name, preferring IPv4: many agents support only IPv4.
asio::ip::address address_of(const std::string& host) {
    error_code ec;
    const auto address = asio::ip::make_address(host, ec);
    if (!ec) return address;
    asio::io_context io;
    asio::ip::tcp::resolver resolver(io);
    const auto found = resolver.resolve(host, "", asio::ip::resolver_base::passive, ec);
    if (ec || found.empty()) {
        throw UsageError("there is no address of " + printable(host, 100) + ": " + ec.message());
    }
    const auto one = std::find_if(found.begin(), found.end(), [](const auto& entry) {
        return entry.endpoint().address().is_v4();
    });
    return (one != found.end() ? one : found.begin())->endpoint().address();
}

}  // namespace

asio::ip::tcp::endpoint listen_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    std::string host = text.substr(0, colon == text.npos ? 0 : colon);
    const bool in_brackets = host.starts_with('[') && host.ends_with(']');
    if (in_brackets) host = host.substr(1, host.size() - 2);
    unsigned short port = 0;
    const char* end = text.data() + text.size();
    const auto [last, error] =
        std::from_chars(text.data() + (colon == text.npos ? text.size() : colon + 1), end, port);
    if (host.empty() || error != std::errc{} || last != end ||
        (!in_brackets && host.find(':') != host.npos)) {
        throw UsageError("must be ADDRESS:PORT, e.g. 127.0.0.1:8080, [::]:8080 or localhost:8080");
    }
    return {address_of(host), port};
}

}  // namespace cli
