#pragma once

#include "k8s_sd/sim/message.hpp"
#include "sim/store/object.hpp"

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// In which shape a client wants objects.
enum class Form {
    object,
    metadata,  ///< as=PartialObjectMetadata
    table,     ///< as=Table: what kubectl prints
};

/// From the Accept header. \throws StatusError 406
Form negotiate(const Request&);

struct ListMetadata {
    std::uint64_t version = 0;
    std::string continue_token;
    std::optional<std::uint64_t> remaining;
};
std::string render_list(const ResourceType&, const ListMetadata&, std::span<const ObjectPtr>, Form);

/// One object with kind and apiVersion.
std::string render_object(const Object&, Form);

/// JSON of objects of the type as another version of its API group has it. Only what clients of
/// EndpointSlices and Ingresses of v1beta1 see is different.
std::string in_version(std::string json, const ResourceType&, std::string_view version);

/// A line of a watch. \param first  tables carry their columns in the first event only
void append_event(std::string& out, std::string_view type, const Object&, Form, bool first);
void append_bookmark(std::string& out, const ResourceType&, std::uint64_t version, bool initial_end,
                     Form);
void append_error(std::string& out, const boost::json::object& status);

}  // namespace k8s_sd::inline v0::sim
