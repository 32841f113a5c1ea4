#include "sim/api/write.hpp"

#include "k8s_sd/error.hpp"
#include "sim/api/lease.hpp"
#include "sim/api/status.hpp"
#include "sim/store/json_access.hpp"

#include <boost/json/parse.hpp>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

std::string uid_of(const Object& object) {
    return std::string(text_at(object.value(), "metadata.uid"));
}

/// Checks the uid: an update or deletion applies only to the object with this uid.
void check_uid(const Route& route, std::string_view wanted, std::string_view stored) {
    if (wanted.empty() || wanted == stored) return;
    throw conflict(*route.type, route.name,
                   "StorageError: invalid object, Code: 4, Key: /registry/" +
                       std::string(route.type->plural) + "/" + route.ns + "/" + route.name +
                       ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                       "precondition: " +
                       std::string(wanted) + ", UID in object meta: " + std::string(stored));
}

void check_version(const Route& route, std::string_view wanted, const Object& stored) {
    if (wanted.empty()) {
        Problems problems(route.type->group, route.type->plural, route.name);
        problems.invalid("metadata.resourceVersion", "0", "must be specified for an update");
        problems.fail_if_any();
    }
    if (wanted == std::to_string(stored.version())) return;
    throw conflict(*route.type, route.name,
                   "the object has been modified; please apply your changes to the latest version "
                   "and try again");
}

/// Drops the uid: the server assigns the uid of a new object.
json::object without_uid(json::object object) {
    object.at("metadata").as_object().erase("uid");
    return object;
}

}  // namespace

json::object json_body(const Request& request) {
    const std::string_view type = request.header("Content-Type").value_or("application/json");
    if (type.substr(0, type.find(';')) != "application/json") {
        fail(415, "UnsupportedMediaType",
             "the body of the request was in an unknown format - accepted media types include: "
             "application/json");
    }
    error_code ec;
    json::value body = json::parse(request.body, ec);
    if (ec || !body.is_object()) {
        fail(400, "BadRequest",
             "couldn't get version/kind; json parse error: " +
                 (ec ? ec.message() : std::string("not an object")));
    }
    return std::move(body.get_object());
}

ObjectPtr create(Store& store, const Route& route, const Request& request) {
    json::object lease = read_lease(request, route);
    if (!text_at(lease, "metadata.resourceVersion").empty()) {
        fail(500, "", "resourceVersion should not be set on objects to be created");
    }
    const std::string name(text_at(lease, "metadata.name"));
    return store.edit(*route.type, key_of(*route.type, route.ns, name), [&](const Object* stored) {
        if (stored) throw already_exists(*route.type, name);
        return without_uid(std::move(lease));
    });
}

Updated update(Store& store, const Route& route, const Request& request) {
    json::object lease = read_lease(request, route);
    Updated result;
    const auto edit = [&](const Object* stored) {
        check_uid(route, text_at(lease, "metadata.uid"), stored ? uid_of(*stored) : "");
        result.created = !stored;
        if (stored) check_version(route, text_at(lease, "metadata.resourceVersion"), *stored);
        return std::move(lease);
    };
    result.object = store.edit(*route.type, key_of(*route.type, route.ns, route.name), edit);
    return result;
}

std::function<void(const Object&)> preconditions(const Route& route, const Request& request) {
    const json::object body = request.body.empty() ? json::object() : json_body(request);
    return [&route, uid = std::string(text_at(body, "preconditions.uid")),
            version =
                std::string(text_at(body, "preconditions.resourceVersion"))](const Object& stored) {
        check_uid(route, uid, uid_of(stored));
        if (!version.empty()) check_version(route, version, stored);
    };
}

}  // namespace k8s_sd::inline v0::sim
