#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/message.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// In which shape a client wants objects.
enum class Form {
    object,
    metadata,  ///< as=PartialObjectMetadata or as=PartialObjectMetadataList
    table,     ///< as=Table: what kubectl prints
};

/// How an answer is written.
struct Encoding {
    Form form = Form::object;
    bool protobuf = false;
    std::string version = {};  ///< of the API group; empty: the type's own

    /// The value of the Content-Type header. \param watch  a stream of events
    std::string_view content_type(bool watch) const;
};

enum class Endpoint { list, object, watch };

/// Reads the Accept header as the real server does: by quality, then the more special, then in
/// their order; parameters that it does not know do not matter.
/// \throws StatusError 406
Encoding negotiate(const Request&, Endpoint, const ApiServerOptions&);

/// Whether a Status goes out in protobuf: it is never transformed, and JSON if nothing fits.
bool status_in_protobuf(const Request&, const ApiServerOptions&);

}  // namespace k8s_sd::inline v0::sim
