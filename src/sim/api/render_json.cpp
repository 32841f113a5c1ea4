#include "sim/api/render_json.hpp"

#include "sim/api/table.hpp"

#include <boost/json/serialize.hpp>

namespace k8s_sd::inline v0::sim::as_json {
namespace json = boost::json;
namespace {

constexpr std::string_view meta_version = "meta.k8s.io/v1";

std::string type_meta(std::string_view kind, std::string_view api_version) {
    return "{\"kind\":\"" + std::string(kind) + "\",\"apiVersion\":\"" + std::string(api_version) +
           "\",";
}

std::string version_text(std::uint64_t version) {
    return "\"resourceVersion\":\"" + std::to_string(version) + "\"";
}

std::string table(std::uint64_t version, const std::string& columns, const std::string& rows) {
    return type_meta("Table", meta_version) + "\"metadata\":{" + version_text(version) +
           "},\"columnDefinitions\":" + columns + ",\"rows\":[" + rows + "]}";
}

std::string item(const Object& object, Form form) {
    if (form == Form::table) return table_row(object);
    return form == Form::metadata ? partial_object(object) : object.text();
}

std::string list_metadata(const ListMetadata& m) {
    std::string text = "\"metadata\":{" + version_text(m.version);
    if (!m.continue_token.empty()) text += ",\"continue\":\"" + m.continue_token + "\"";
    if (m.remaining) text += ",\"remainingItemCount\":" + std::to_string(*m.remaining);
    // A selector has no characters to escape in JSON.
    if (!m.shard.empty()) text += ",\"shardInfo\":{\"selector\":\"" + m.shard + "\"}";
    return text + "}";
}

}  // namespace

std::string render_list(const ResourceType& type, const ListMetadata& metadata,
                        std::span<const ObjectPtr> objects, Form form) {
    std::string out;
    std::size_t size = 256;
    if (form == Form::object) {
        for (const ObjectPtr& object : objects) size += object->text().size() + 1;
    }
    out.reserve(size);
    if (form == Form::table) {
        out = type_meta("Table", meta_version) + list_metadata(metadata) +
              ",\"columnDefinitions\":" + table_columns(type) + ",\"rows\":[";
    } else {
        const std::string kind =
            form == Form::metadata ? "PartialObjectMetadataList" : std::string(type.kind) + "List";
        out += type_meta(kind,
                         form == Form::metadata ? std::string(meta_version) : type.api_version());
        out += list_metadata(metadata) + ",\"items\":[";
    }
    bool first = true;
    for (const ObjectPtr& object : objects) {
        if (!first) out += ',';
        first = false;
        out += form == Form::object ? object->text() : item(*object, form);
    }
    return out += "]}\n";
}

std::string render_object(const Object& object, Form form) {
    if (form == Form::metadata) return partial_object(object);
    if (form == Form::table) {
        return table(object.version(), table_columns(object.type()), table_row(object));
    }
    return type_meta(object.type().kind, object.type().api_version()) + object.text().substr(1);
}

void append_event(std::string& out, std::string_view type, const Object& object, Form form,
                  bool first) {
    ((out += "{\"type\":\"") += type) += "\",\"object\":";
    if (form == Form::table && !first) {
        out += table(object.version(), "null", table_row(object));
    } else if (form == Form::object) {
        out += type_meta(object.type().kind, object.type().api_version());
        out.append(object.text(), 1);
    } else {
        out += render_object(object, form);
    }
    out += "}\n";
}

void append_bookmark(std::string& out, const ResourceType& type, std::uint64_t version,
                     bool initial_end, Form form) {
    out += "{\"type\":\"BOOKMARK\",\"object\":";
    if (form == Form::table) {
        out += table(version, "null", "");
    } else {
        const bool partial = form == Form::metadata;
        out += type_meta(partial ? "PartialObjectMetadata" : type.kind,
                         partial ? std::string(meta_version) : type.api_version());
        out += "\"metadata\":{" + version_text(version);
        if (initial_end) out += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
        out += '}';
        if (!partial) out += type.zero_value;
        out += '}';
    }
    out += "}\n";
}

void append_error(std::string& out, const json::object& status) {
    ((out += "{\"type\":\"ERROR\",\"object\":") += json::serialize(status)) += "}\n";
}

}  // namespace k8s_sd::inline v0::sim::as_json
