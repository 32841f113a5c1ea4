#pragma once

#include "k8s_sd/sim/api_server.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The compression of a body or of the parts of a stream, faults included.
struct BodyCoding {
    bool gzip = false;
    ApiServer::EncodingFault fault = ApiServer::EncodingFault::none;

    /// Whether the head has Content-Encoding: gzip.
    bool is_declared() const { return gzip && fault != ApiServer::EncodingFault::hidden_gzip; }
    /// Whether a stream ends after its first part, in the middle of it.
    bool cuts() const { return gzip && fault == ApiServer::EncodingFault::cut_gzip; }
    /// The bytes to send for a body, or for a part of a stream: a gzip member.
    std::string apply(std::string bytes) const;
};

}  // namespace k8s_sd::inline v0::sim
