#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/inventory/cluster_profile.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

namespace json = boost::json;

constexpr std::size_t max_properties = 100;
/// The longest value of a label.
constexpr std::size_t max_label_bytes = 63;

/// A member of nested objects; null if there is none.
const json::value* json_member(const json::object& object,
                               std::initializer_list<std::string_view> path) {
    const json::object* inside = &object;
    const json::value* found = nullptr;
    for (const std::string_view key : path) {
        if (!inside) return nullptr;
        found = inside->if_contains(key);
        if (!found) return nullptr;
        inside = found->if_object();
    }
    return found;
}

std::string json_text_of(const json::object& object, std::initializer_list<std::string_view> path) {
    const json::value* found = json_member(object, path);
    const json::string* text = found ? found->if_string() : nullptr;
    return text ? std::string(*text) : std::string();
}

/// The objects of an array.
std::vector<const json::object*> json_objects_in(const json::object& object,
                                                 std::initializer_list<std::string_view> path) {
    std::vector<const json::object*> objects;
    const json::value* found = json_member(object, path);
    const json::array* array = found ? found->if_array() : nullptr;
    if (!array) return objects;
    for (const json::value& item : *array) {
        if (const json::object* one = item.if_object()) objects.push_back(one);
    }
    return objects;
}

/// The server of a kubeconfig without files of its own.
/// \param where  for errors
ApiServerConfig read_kubeconfig_text(const std::string& where, std::string_view kubeconfig) {
    const KubeconfigFile file{where, kubeconfig};
    ApiServerConfig server = read_kubeconfig({&file, 1}, "");
    // There is no file to read again; another version of the object brings another server.
    server.kubeconfig = {};
    return server;
}

void refuse_local_access(const std::string& where, const ApiServerConfig& server) {
    const auto refuse = [&](const std::string& what) {
        throw ConfigError(where,
                          "names " + what +
                              " of this machine, which a kubeconfig from a cluster must not do; "
                              "embed tokens and certificates in it");
    };
    if (server.auth.exec) refuse("a program");
    const AuthConfig& auth = server.auth;
    const TlsConfig& tls = server.tls;
    for (const std::string* file :
         {&auth.bearer_token_file, &auth.username_file, &auth.password_file, &tls.ca_file,
          &tls.cert_file, &tls.key_file}) {
        if (!file->empty()) refuse("a file");
    }
}

/// Refuses a server that anyone on the network could be.
void refuse_unsafe(const std::string& where, const ApiServerConfig& server) {
    const auto refuse = [&](const char* what) {
        throw ConfigError(where, std::string(what) +
                                     ", so its credentials could be read in transit; embed "
                                     "certificate-authority-data and use https://");
    };
    if (!server.url.starts_with("https://")) refuse("has a server without TLS");
    if (server.tls.insecure_skip_verify) refuse("has insecure-skip-tls-verify");
}

/// Whether the chosen context of a valid kubeconfig has a user.
bool has_user(std::string_view kubeconfig) {
    MergedKubeconfig config;
    config.merge({"", kubeconfig});
    return !config.contexts.at(config.current_context).body["user"].is_empty();
}

/// "ClusterProfile fleet/blue". A hostile hub may send any text as a name.
template <class Metadata>
std::string name_for_errors(std::string_view kind, const Metadata& metadata) {
    return std::string(kind) + " " + printable(metadata.namespace_) + "/" +
           printable(metadata.name);
}

/// The extension of a cluster for the program of credentials, as JSON.
std::string exec_extension(const json::object& cluster) {
    for (const json::object* item : json_objects_in(cluster, {"extensions"})) {
        if (json_text_of(*item, {"name"}) != "client.authentication.k8s.io/exec") continue;
        const json::value* extension = item->if_contains("extension");
        return extension ? json::serialize(*extension) : std::string();
    }
    return {};
}

ApiServerConfig server_of_provider(const std::string& where, const json::object& cluster,
                                   const AuthConfig& auth) {
    const json::object kubeconfig{
        {"clusters", json::array{json::object{{"name", "c"}, {"cluster", cluster}}}},
        {"contexts",
         json::array{json::object{{"name", "c"}, {"context", json::object{{"cluster", "c"}}}}}},
        {"current-context", "c"}};
    ApiServerConfig server = read_kubeconfig_text(where, json::serialize(kubeconfig));
    refuse_local_access(where, server);
    refuse_unsafe(where, server);
    server.auth = auth;
    if (server.auth.exec && server.auth.exec->provide_cluster_info) {
        server.auth.exec->cluster_server = json_text_of(cluster, {"server"});
        server.auth.exec->cluster_extension = exec_extension(cluster);
    }
    return server;
}

}  // namespace

InventoryCluster described_cluster(const Generic& profile) {
    InventoryCluster cluster;
    cluster.ns = profile.metadata.namespace_;
    cluster.name = profile.metadata.name;
    cluster.uid = profile.metadata.uid;
    cluster.display_name = json_text_of(profile.content, {"spec", "displayName"});
    cluster.manager = json_text_of(profile.content, {"spec", "clusterManager", "name"});
    for (const json::object* property :
         json_objects_in(profile.content, {"status", "properties"})) {
        if (cluster.properties.size() == max_properties) break;
        const std::string name = json_text_of(*property, {"name"});
        if (!name.empty()) cluster.properties[name] = json_text_of(*property, {"value"});
    }
    for (const json::object* condition :
         json_objects_in(profile.content, {"status", "conditions"})) {
        if (json_text_of(*condition, {"type"}) == "ControlPlaneHealthy")
            cluster.healthy = json_text_of(*condition, {"status"}) != "False";
    }
    return cluster;
}

ApiServerConfig server_of_secret(const api::Secret& secret) {
    const std::string where = name_for_errors("Secret", secret.metadata);
    // The KEP says Config; others write config.
    std::optional<std::string_view> text = secret.data.find("Config");
    if (!text) text = secret.data.find("config");
    if (!text) throw ConfigError(where, "has no key Config with a kubeconfig");
    ApiServerConfig server = read_kubeconfig_text(where, *text);
    refuse_local_access(where, server);
    // The reader has dropped the credentials.
    if (!server.url.starts_with("https://") && has_user(*text)) refuse_unsafe(where, server);
    return server;
}

ApiServerConfig server_of_profile(const Generic& profile, const InventoryConfig& config) {
    const std::string where = name_for_errors("ClusterProfile", profile.metadata);
    std::vector<std::string> names;
    for (const std::string_view list : {"accessProviders", "credentialProviders"}) {
        for (const json::object* provider : json_objects_in(profile.content, {"status", list})) {
            const std::string name = json_text_of(*provider, {"name"});
            const auto credentials = config.access_providers.find(name);
            const json::value* cluster = provider->if_contains("cluster");
            if (cluster && cluster->is_object() && credentials != config.access_providers.end())
                return server_of_provider(where, cluster->get_object(), credentials->second);
            names.push_back(printable(name));
        }
    }
    std::string remedy = "has no access provider";
    if (!names.empty()) {
        remedy = "has the access providers " + join_first(names) +
                 ", and no credentials are configured for them; "
                 "configure them in access_providers";
    }
    if (!config.secrets) throw ConfigError(where, remedy);
    remedy += names.empty() ? "; " : ", or ";
    if (profile.metadata.name.size() > max_label_bytes) {
        remedy += "give the ClusterProfile a name of at most 63 characters: it is the value of a "
                  "label of its Secret";
    } else {
        remedy += "create a Secret with a kubeconfig in its key Config and the label " +
                  std::string(profile_label) + "=" + printable(profile.metadata.name);
    }
    throw ConfigError(where, remedy);
}

}  // namespace k8s_sd::inline v0::detail
