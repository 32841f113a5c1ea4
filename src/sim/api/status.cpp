#include "sim/api/status.hpp"

#include "sim/api/render.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;

json::object status_object(unsigned code, std::string_view reason, std::string_view message,
                           json::object details) {
    json::object status{{"kind", "Status"},
                        {"apiVersion", "v1"},
                        {"metadata", json::object()},
                        {"status", "Failure"},
                        {"message", message}};
    if (!reason.empty()) status["reason"] = reason;
    if (!details.empty()) status["details"] = std::move(details);
    status["code"] = code;
    return status;
}

void fail(unsigned code, std::string_view reason, std::string_view message, json::object details) {
    throw StatusError{code, status_object(code, reason, message, std::move(details))};
}

Problems::Problems(std::string_view group, std::string_view kind, std::string_view name)
    : group_(group), kind_(kind), name_(name) {}

void Problems::forbid(std::string_view field, std::string_view why) {
    add(field, "FieldValueForbidden", "Forbidden: " + std::string(why));
}

void Problems::unsupported(std::string_view field, std::string_view value,
                           std::string_view supported) {
    add(field, "FieldValueNotSupported",
        "Unsupported value: \"" + std::string(value) +
            "\": supported values: " + std::string(supported));
}

void Problems::invalid(std::string_view field, std::string_view value, std::string_view why) {
    add(field, "FieldValueInvalid",
        "Invalid value: " + std::string(value) + ": " + std::string(why));
}

void Problems::require(std::string_view field, std::string_view why) {
    add(field, "FieldValueRequired", "Required value: " + std::string(why));
}

void Problems::add(std::string_view field, std::string_view reason, std::string text) {
    causes_.push_back(
        json::object{{"reason", reason}, {"message", std::move(text)}, {"field", field}});
}

void Problems::fail_if_any() const {
    if (causes_.empty()) return;
    std::string all;
    for (const json::value& cause : causes_) {
        if (!all.empty()) all += ", ";
        all += cause.at("field").as_string();
        all += ": ";
        all += cause.at("message").as_string();
    }
    if (causes_.size() > 1) all = "[" + all + "]";
    json::object details{{"group", group_}, {"kind", kind_}, {"causes", causes_}};
    if (!name_.empty()) details["name"] = name_;
    fail(422, "Invalid", kind_ + "." + group_ + " \"" + name_ + "\" is invalid: " + all,
         std::move(details));
}

Response to_response(const StatusError& error, bool protobuf) {
    Response response;
    response.status = error.code;
    response.content_type = Encoding{.protobuf = protobuf}.content_type(false);
    response.body = render_status(error.status, protobuf);
    const json::value* details = error.status.if_contains("details");
    if (details && details->is_object()) {
        if (const json::value* after = details->get_object().if_contains("retryAfterSeconds")) {
            response.headers.emplace_back("Retry-After", json::serialize(*after));
        }
    }
    return response;
}

StatusError version_too_large(std::uint64_t version, std::uint64_t current) {
    return {504,
            status_object(
                504, "Timeout",
                "Timeout: Too large resource version: " + std::to_string(version) +
                    ", current: " + std::to_string(current),
                {{"causes", json::array{json::object{{"reason", "ResourceVersionTooLarge"},
                                                     {"message", "Too large resource version"}}}},
                 {"retryAfterSeconds", 1}})};
}

namespace {

json::object object_details(const ResourceType& type, std::string_view name) {
    json::object details;
    if (!name.empty()) details["name"] = name;
    if (!type.group.empty()) details["group"] = type.group;
    details["kind"] = type.plural;
    return details;
}

}  // namespace

StatusError not_found(const ResourceType& type, std::string_view name) {
    return {404, status_object(404, "NotFound",
                               type.qualified() + " \"" + std::string(name) + "\" not found",
                               object_details(type, name))};
}

StatusError already_exists(const ResourceType& type, std::string_view name) {
    return {409, status_object(409, "AlreadyExists",
                               type.qualified() + " \"" + std::string(name) + "\" already exists",
                               object_details(type, name))};
}

StatusError conflict(const ResourceType& type, std::string_view name, std::string_view why) {
    return {409, status_object(409, "Conflict",
                               "Operation cannot be fulfilled on " + type.qualified() + " \"" +
                                   std::string(name) + "\": " + std::string(why),
                               object_details(type, name))};
}

json::object deleted_status(const ResourceType& type, std::string_view name, std::string_view uid) {
    json::object details = object_details(type, name);
    details["uid"] = uid;
    return {{"kind", "Status"},
            {"apiVersion", "v1"},
            {"metadata", json::object()},
            {"status", "Success"},
            {"details", std::move(details)}};
}

StatusError forbidden(const ResourceType& type, std::string_view verb, std::string_view ns,
                      std::string_view name) {
    std::string message = type.qualified();
    if (!name.empty()) (message += " \"") += std::string(name) + "\"";
    message += " is forbidden: User \"system:unsecured\" cannot " + std::string(verb) +
               " resource \"" + std::string(type.plural) + "\" in API group \"" +
               std::string(type.group) + "\" ";
    message += ns.empty() ? std::string("at the cluster scope")
                          : "in the namespace \"" + std::string(ns) + "\"";
    return {403, status_object(403, "Forbidden", message, object_details(type, name))};
}

Response Response::failure(unsigned code, std::string_view reason, std::string_view message) {
    return to_response({code, status_object(code, reason, message)});
}

Response Response::never() {
    Response response;
    response.hang = true;
    return response;
}

Response Response::disconnect() {
    Response response;
    response.drop = true;
    return response;
}

}  // namespace k8s_sd::inline v0::sim
