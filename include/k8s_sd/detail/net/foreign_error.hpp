#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What an answer that is no success says to people, where it is not of an API server: of Google
/// and Azure ("error" with code, message and status), of OAuth 2 (error, error_description), of RFC
/// 9457 (title, detail), of other services and gateways (message and the like), the title of a web
/// page, or plain text. Neither printable nor redacted. Empty: it says nothing that is known.
std::string read_foreign_error(std::string_view body);

}  // namespace k8s_sd::inline v0::detail
