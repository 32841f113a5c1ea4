#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The message of an error response not from an API server: from Google and Azure ("error" with
/// code, message and status), OAuth 2 (error, error_description), RFC 9457 (title, detail), other
/// services and gateways (message and the like), the title of a web page, or plain text. The result
/// is neither printable nor redacted; empty: no known form.
std::string read_foreign_error(std::string_view body);

}  // namespace k8s_sd::inline v0::detail
