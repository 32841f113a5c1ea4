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

void OptionProblems::forbid(std::string_view field, std::string_view why) {
    add(field, "FieldValueForbidden", "Forbidden: " + std::string(why));
}

void OptionProblems::unsupported(std::string_view field, std::string_view value,
                                 std::string_view supported) {
    add(field, "FieldValueNotSupported",
        "Unsupported value: \"" + std::string(value) +
            "\": supported values: " + std::string(supported));
}

void OptionProblems::add(std::string_view field, std::string_view reason, std::string text) {
    causes_.push_back(
        json::object{{"reason", reason}, {"message", std::move(text)}, {"field", field}});
}

void OptionProblems::fail_if_any() const {
    if (causes_.empty()) return;
    std::string all;
    for (const json::value& cause : causes_) {
        if (!all.empty()) all += ", ";
        all += cause.at("field").as_string();
        all += ": ";
        all += cause.at("message").as_string();
    }
    if (causes_.size() > 1) all = "[" + all + "]";
    fail(422, "Invalid", R"(ListOptions.meta.k8s.io "" is invalid: )" + all,
         {{"group", "meta.k8s.io"}, {"kind", "ListOptions"}, {"causes", causes_}});
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
