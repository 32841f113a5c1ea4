#include "sim/api/render.hpp"

#include "sim/api/json_version.hpp"
#include "sim/api/render_json.hpp"
#include "sim/api/render_protobuf.hpp"

#include <boost/json/serialize.hpp>

namespace k8s_sd::inline v0::sim {

std::string render_list(const ResourceType& type, const ListMetadata& metadata,
                        std::span<const ObjectPtr> objects, const Encoding& encoding) {
    if (encoding.protobuf) return as_protobuf::render_list(type, metadata, objects, encoding);
    return in_version(as_json::render_list(type, metadata, objects, encoding.form), type,
                      encoding.version);
}

std::string render_object(const Object& object, const Encoding& encoding) {
    if (encoding.protobuf) return as_protobuf::render_object(object, encoding);
    return in_version(as_json::render_object(object, encoding.form), object.type(),
                      encoding.version);
}

std::string render_status(const boost::json::object& status, bool protobuf) {
    return protobuf ? as_protobuf::render_status(status) : boost::json::serialize(status) + "\n";
}

void append_event(std::string& out, std::string_view type, const Object& object,
                  const Encoding& encoding, bool first) {
    if (encoding.protobuf) return as_protobuf::append_event(out, type, object, encoding);
    if (object.type().is_own(encoding.version)) {
        return as_json::append_event(out, type, object, encoding.form, first);
    }
    std::string event;
    as_json::append_event(event, type, object, encoding.form, first);
    out += in_version(std::move(event), object.type(), encoding.version);
}

void append_bookmark(std::string& out, const ResourceType& type, std::uint64_t version,
                     bool initial_end, const Encoding& encoding) {
    if (encoding.protobuf) {
        return as_protobuf::append_bookmark(out, type, version, initial_end, encoding);
    }
    std::string event;
    as_json::append_bookmark(event, type, version, initial_end, encoding.form);
    out += in_version(std::move(event), type, encoding.version);
}

void append_error(std::string& out, const boost::json::object& status, const Encoding& encoding) {
    encoding.protobuf ? as_protobuf::append_error(out, status) : as_json::append_error(out, status);
}

void append_recorded(std::string& out, std::string_view line, const ResourceType& type,
                     const Encoding& encoding) {
    if (encoding.protobuf) return as_protobuf::append_recorded(out, line, type, encoding);
    out += in_version(std::string(line), type, encoding.version);
}

}  // namespace k8s_sd::inline v0::sim
