#pragma once

#include "k8s_sd/error.hpp"

namespace k8s_sd::inline v0::detail {

/// The error for an unsuccessful HTTP status.
constexpr errc error_of_status(unsigned status) noexcept {
    switch (status) {
        case 400:
        case 422: return errc::bad_request;
        case 401: return errc::unauthorized;
        case 403: return errc::forbidden;
        case 404: return errc::not_found;
        case 429: return errc::too_many_requests;
        default: return status >= 500 ? errc::server_error : errc::unexpected_status;
    }
}

}  // namespace k8s_sd::inline v0::detail
