#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// "%2F" becomes "/"; nullopt where what follows a '%' is no number.
/// \param plus_is_blank  as in queries
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

/// The text as a value of a query, as Go's url.QueryEscape writes it: a blank becomes '+'.
std::string query_escaped(std::string_view text);

/// What a URL says behind its '?', decoded once, in its order: names and values.
using Query = std::vector<std::pair<std::string, std::string>>;
/// nullopt: it cannot be decoded.
std::optional<Query> parse_query(std::string_view text);

/// Whether an answer in this coding is taken: "gzip, br;q=0.5" takes "gzip".
/// \param accept_encoding  the header
bool accepts_coding(std::string_view accept_encoding, std::string_view coding);

/// Whether one of the tags in If-None-Match is this one, `"abc"`, be it weak or not.
bool matches_tag(std::string_view if_none_match, std::string_view tag);

/// What "respond-async, wait=10" says of how long the client likes to wait (RFC 7240).
/// \param prefer  the header
std::optional<std::chrono::seconds> preferred_wait(std::string_view prefer);

}  // namespace support
