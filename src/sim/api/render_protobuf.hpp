#pragma once

#include "sim/api/render.hpp"

#include <string>

/// The functions of render.hpp for clients with negotiated protobuf.
namespace k8s_sd::inline v0::sim::as_protobuf {

std::string render_list(const ResourceType&, const ListMetadata&, std::span<const ObjectPtr>,
                        const Encoding&);
std::string render_object(const Object&, const Encoding&);
std::string render_status(const boost::json::object& status);
void append_event(std::string& out, std::string_view type, const Object&, const Encoding&);
void append_bookmark(std::string& out, const ResourceType&, std::uint64_t version, bool initial_end,
                     const Encoding&);
void append_error(std::string& out, const boost::json::object& status);
void append_recorded(std::string& out, std::string_view line, const ResourceType&, const Encoding&);

}  // namespace k8s_sd::inline v0::sim::as_protobuf
