#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/message.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The form of objects requested by a client.
enum class Form {
    object,
    metadata,  ///< as=PartialObjectMetadata or as=PartialObjectMetadataList
    table,     ///< as=Table: what kubectl prints
};

/// The encoding of a response.
struct Encoding {
    Form form = Form::object;
    bool protobuf = false;
    std::string version = {};  ///< version of the API group; empty: the type's own
    bool drops_managed_fields = false;

    /// The value of the Content-Type header. \param watch  for a stream of events
    std::string_view content_type(bool watch) const;
};

enum class Endpoint { list, object, watch };

/// Parses the Accept header like the real server: by quality, then specificity, then order; unknown
/// parameters are ignored, unless ApiServerOptions::refuse_accept_parameters is set.
/// \throws StatusError 406
Encoding negotiate(const Request&, Endpoint, const ApiServerOptions&);

/// Whether a Status is sent in protobuf: it has no other form, and is JSON if nothing else fits.
bool status_in_protobuf(const Request&, const ApiServerOptions&);

}  // namespace k8s_sd::inline v0::sim
