#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/time.hpp"

#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The header fields that matter.
struct ResponseFields {
    RareText content_type;                ///< lower case, without parameters
    RareText content_encoding;            ///< lower case; empty: none
    RareText date;                        ///< the server's clock, for messages about credentials
    std::optional<Duration> retry_after;  ///< as sent by the server
    RareText content_type_as_sent;        ///< with parameters, without blanks around
    RareText location;                    ///< of a redirect

    bool empty() const noexcept {
        return content_type.empty() && content_encoding.empty() && date.empty() && !retry_after &&
               content_type_as_sent.empty() && location.empty();
    }
};

struct ResponseHead : ResponseFields {
    unsigned status = 0;
    bool http2 = false;  ///< by HTTP/2, not HTTP/1.1
};

}  // namespace k8s_sd::inline v0::detail
