#pragma once

#include "sim/api/render.hpp"

#include <string>

/// The functions of render.hpp for JSON, for objects in their type's own version.
namespace k8s_sd::inline v0::sim::as_json {

std::string render_list(const ResourceType&, const ListMetadata&, std::span<const ObjectPtr>, Form);
std::string render_object(const Object&, Form);
void append_event(std::string& out, std::string_view type, const Object&, Form, bool first);
void append_bookmark(std::string& out, const ResourceType&, std::uint64_t version, bool initial_end,
                     Form);
void append_error(std::string& out, const boost::json::object& status);

}  // namespace k8s_sd::inline v0::sim::as_json
