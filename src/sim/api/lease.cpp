#include "sim/api/lease.hpp"

#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/rfc3339.hpp"
#include "sim/api/status.hpp"
#include "sim/api/write.hpp"
#include "sim/store/json_access.hpp"

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <string>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

enum class Type { text, number, time };
struct SpecField {
    std::string_view name;
    Type type;
};
constexpr SpecField spec_fields[] = {
    {"holderIdentity", Type::text},     {"leaseDurationSeconds", Type::number},
    {"acquireTime", Type::time},        {"renewTime", Type::time},
    {"leaseTransitions", Type::number}, {"strategy", Type::text},
    {"preferredHolder", Type::text},
};

/// Go's error for JSON of the wrong type.
[[noreturn]] void cannot_decode(const std::string& why) {
    fail(400, "BadRequest", R"(Lease in version "v1" cannot be handled as a Lease: )" + why);
}

[[noreturn]] void wrong_type(std::string_view field, const json::value& value) {
    cannot_decode("json: cannot unmarshal " + std::string(json::to_string(value.kind())) +
                  " into Go struct field Lease." + std::string(field));
}

/// MicroTime: RFC 3339 with exactly six digits after the decimal point.
bool is_micro_time(std::string_view text) {
    constexpr std::size_t point = std::string_view("2006-01-02T15:04:05").size();
    constexpr std::size_t zone = point + std::string_view(".000000").size();
    const std::string_view digits = text.substr(std::min(text.size(), point + 1), 7);
    return detail::read_rfc3339(text) && text.size() > zone && text[point] == '.' &&
           text[10] == 'T' && digits.find_first_not_of("0123456789") == 6;
}

bool fits(Type type, const json::value& value) {
    switch (type) {
        case Type::text: return value.is_string();
        case Type::number: {
            boost::system::error_code ec;
            (void)value.to_number<std::int32_t>(ec);
            return !ec && !value.is_double();
        }
        case Type::time: return value.is_string();
    }
    return false;
}

json::object read_spec(const json::object& spec) {
    json::object result;
    for (const SpecField& field : spec_fields) {
        const json::value* value = spec.if_contains(field.name);
        if (!value || value->is_null()) continue;
        if (!fits(field.type, *value)) wrong_type("spec." + std::string(field.name), *value);
        if (field.type == Type::time && !is_micro_time(value->get_string())) {
            cannot_decode("parsing time " + json::serialize(*value) +
                          R"( as "2006-01-02T15:04:05.000000Z07:00": cannot parse)");
        }
        result[field.name] = *value;
    }
    return result;
}

json::object read_text_map(const json::value& value, std::string_view field) {
    if (!value.is_object()) wrong_type(field, value);
    for (const auto& [key, text] : value.get_object()) {
        if (!text.is_string()) wrong_type(field, text);
    }
    return value.get_object();
}

json::array read_owners(const json::value& value) {
    if (!value.is_array()) wrong_type("metadata.ownerReferences", value);
    json::array owners;
    for (const json::value& owner : value.get_array()) {
        if (!owner.is_object()) wrong_type("metadata.ownerReferences", owner);
        json::object read;
        for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
            read[field] = text_at(owner.get_object(), field);
        }
        for (const char* field : {"controller", "blockOwnerDeletion"}) {
            const json::value* flag = owner.get_object().if_contains(field);
            if (flag && flag->is_bool()) read[field] = *flag;
        }
        owners.push_back(std::move(read));
    }
    return owners;
}

json::object read_metadata(const json::object& metadata) {
    json::object result;
    for (const char* field : {"name", "namespace", "uid", "resourceVersion"}) {
        const json::value* value = metadata.if_contains(field);
        if (!value || value->is_null()) continue;
        if (!value->is_string()) wrong_type("metadata." + std::string(field), *value);
        if (!value->get_string().empty()) result[field] = *value;
    }
    for (const char* field : {"labels", "annotations"}) {
        const json::value* value = metadata.if_contains(field);
        if (!value || value->is_null()) continue;
        result[field] = read_text_map(*value, "metadata." + std::string(field));
    }
    const json::value* owners = metadata.if_contains("ownerReferences");
    if (owners && !owners->is_null()) result["ownerReferences"] = read_owners(*owners);
    return result;
}

/// The member with this name; an empty object if there is none.
json::object object_at(const json::object& body, std::string_view name) {
    const json::value* value = body.if_contains(name);
    if (!value || value->is_null()) return {};
    if (!value->is_object()) wrong_type(name, *value);
    return value->get_object();
}

void check_type(const json::object& body) {
    const std::string_view kind = text_at(body, "kind");
    const std::string_view api_version = text_at(body, "apiVersion");
    const bool is_lease = (kind.empty() || kind == "Lease") &&
                          (api_version.empty() || api_version == "coordination.k8s.io/v1");
    if (is_lease) return;
    fail(400, "BadRequest",
         std::string(kind) + " in version \"" + std::string(api_version) +
             "\" cannot be handled as a Lease: no kind that the path names");
}

/// Sets the namespace, and checks that path and body name the same object.
void match_path(json::object& metadata, const Route& route) {
    const std::string_view ns = text_at(metadata, "namespace");
    if (!ns.empty() && ns != route.ns) {
        fail(400, "BadRequest",
             "the namespace of the provided object does not match the namespace sent on the "
             "request");
    }
    metadata["namespace"] = route.ns;
    const std::string name(text_at(metadata, "name"));
    if (!route.name.empty() && name != route.name) {
        fail(400, "BadRequest",
             "the name of the object (" + name + ") does not match the name on the URL (" +
                 route.name + ")");
    }
}

void check_values(const json::object& metadata, const json::object& spec) {
    const std::string_view name = text_at(metadata, "name");
    Problems problems("coordination.k8s.io", "Lease", name);
    if (name.empty()) {
        problems.require("metadata.name", "name or generateName is required");
    } else if (!detail::is_dns_subdomain(name)) {
        problems.invalid("metadata.name", json::serialize(metadata.at("name")),
                         "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                         "characters, '-' or '.'");
    }
    const auto number = [&](std::string_view field, std::int64_t otherwise) {
        const json::value* value = spec.if_contains(field);
        return value ? value->to_number<std::int64_t>() : otherwise;
    };
    const std::int64_t duration = number("leaseDurationSeconds", 1);
    if (duration <= 0) {
        problems.invalid("spec.leaseDurationSeconds", std::to_string(duration),
                         "must be greater than 0");
    }
    const std::int64_t transitions = number("leaseTransitions", 0);
    if (transitions < 0) {
        problems.invalid("spec.leaseTransitions", std::to_string(transitions),
                         "must be greater than or equal to 0");
    }
    if (!text_at(spec, "preferredHolder").empty() && text_at(spec, "strategy").empty()) {
        problems.forbid("spec.preferredHolder", "may only be specified if `strategy` is defined");
    }
    problems.fail_if_any();
}

}  // namespace

json::object read_lease(const Request& request, const Route& route) {
    const json::object body = json_body(request);
    check_type(body);
    json::object metadata = read_metadata(object_at(body, "metadata"));
    json::object spec = read_spec(object_at(body, "spec"));
    match_path(metadata, route);
    check_values(metadata, spec);
    return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

}  // namespace k8s_sd::inline v0::sim
