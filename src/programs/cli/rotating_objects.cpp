#include "cli/rotating_objects.hpp"

#include <boost/json/object.hpp>

namespace cli {

namespace {

boost::json::object make_object(const char* kind, const std::string& name,
                                const boost::json::object& data) {
    return {{"apiVersion", "v1"},
            {"kind", kind},
            {"metadata", {{"namespace", "shop"}, {"name", name}}},
            {"data", data}};
}

}  // namespace

RotatingObjects::RotatingObjects(k8s_sd::sim::ApiServer& server) : server_(server) {
    rotate("db-credentials");
    rotate("queue-token");
    configure();
}

std::string RotatingObjects::step() {
    switch (steps_++ % 4) {
        case 0: return rotate("db-credentials");
        case 1: return configure();
        case 2: return rotate("queue-token");
        default: return remove("queue-token");
    }
}

std::string RotatingObjects::rotate(const std::string& secret) {
    // Valid base64; its length shows the change.
    const std::string password(4 + 4 * (steps_ % 8), 'c');
    server_.apply(make_object("Secret", secret, {{"user", "c2hvcA=="}, {"password", password}}));
    return "secret shop/" + secret + " rotated";
}

std::string RotatingObjects::configure() {
    const char* level = steps_ % 8 < 4 ? "info" : "debug";
    server_.apply(make_object("ConfigMap", "settings", {{"log-level", level}}));
    return std::string("configmap shop/settings has log-level ") + level;
}

std::string RotatingObjects::remove(const std::string& secret) {
    server_.remove("secrets", "shop", secret);
    return "secret shop/" + secret + " removed";
}

}  // namespace cli
