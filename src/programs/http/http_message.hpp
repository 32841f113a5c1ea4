#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

/// "%2F" becomes "/"; nullopt if a '%' is not followed by two hexadecimal digits.
/// \param plus_is_blank  as in queries
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

/// The text as a query value, as Go's url.QueryEscape writes it: a blank becomes '+'.
std::string query_escaped(std::string_view text);

/// The query of a URL, decoded once: names and values in their order.
using Query = std::vector<std::pair<std::string, std::string>>;
/// nullopt if it cannot be decoded.
std::optional<Query> parse_query(std::string_view text);

/// Whether the client accepts this coding: "gzip, br;q=0.5" accepts "gzip".
/// \param accept_encoding  the header
bool accepts_coding(std::string_view accept_encoding, std::string_view coding);

/// Whether If-None-Match has this tag, `"abc"`, weak or not.
bool matches_tag(std::string_view if_none_match, std::string_view tag);

/// The client's preferred wait in "respond-async, wait=10" (RFC 7240).
/// \param prefer  the header
std::optional<std::chrono::seconds> preferred_wait(std::string_view prefer);

}  // namespace http
