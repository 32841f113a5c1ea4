#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "support/simulation.hpp"

namespace k8s_sd::test {

/// For the configuration of a client, see is_by_http2().
inline HttpVersion tested_http_version() {
    return is_by_http2() ? HttpVersion::http2 : HttpVersion::automatic;
}

}  // namespace k8s_sd::test
