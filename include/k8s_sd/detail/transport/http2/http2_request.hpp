#pragma once

#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A header field of a request. Views into the request.
struct Http2Field {
    std::string_view name;  ///< as written; HTTP/2 requires lower case
    std::string_view value;
    /// Whether the value may enter the compression table. Never for credentials: an attacker who
    /// adds fields of his own could find them by the compressed size (RFC 7541 7.1).
    bool indexed = false;
};

/// A request in the form of HTTP/2.
struct Http2Request {
    std::vector<Http2Field> fields;  ///< pseudo-header fields first
    std::string_view body;
};

/// Translates the text of an HTTP/1.1 request of this library, see ApiClientImpl. Fields about the
/// connection are dropped (RFC 9113 8.2.2).
Http2Request translate_request(std::string_view text);

}  // namespace k8s_sd::inline v0::detail
