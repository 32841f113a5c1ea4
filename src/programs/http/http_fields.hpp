#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// The items of a comma-separated list, trimmed and without empty ones.
std::vector<std::string_view> list_items(std::string_view list);

/// Whether a text is "host" or "host:port" as in Host and URLs: a name, an address, or an IPv6
/// address in brackets (RFC 3986, 3.2). A text with a user is refused, since some parsers take the
/// user for the host.
bool is_host_and_port(std::string_view text);

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
/// \param time  seconds since 1970
std::string http_date(std::time_t time);
std::string http_date_now();

}  // namespace http
