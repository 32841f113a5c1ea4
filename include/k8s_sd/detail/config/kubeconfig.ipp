#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/kubeconfig.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

namespace k8s_sd::inline v0::detail {

namespace {

/// The body of a named cluster, user or context, and the directory of the file it stands in.
struct Entry {
    YamlValue body;
    std::filesystem::path directory;

    std::string path(std::string_view key) const {
        const std::string value = body[key].string();
        return value.empty() ? value : (directory / value).string();
    }
};

using Entries = std::map<std::string, Entry>;

struct Kubeconfig {
    Entries clusters, users, contexts;
    std::string current_context;
};

Entries read_entries(const YamlValue& root, std::string_view list, std::string_view body,
                     const std::filesystem::path& directory) {
    Entries result;
    for (const YamlValue& item : root[list].items()) {
        const std::string name = item["name"].string();
        if (name.empty()) item.fail("has no name");
        if (!result.emplace(name, Entry{item[body], directory}).second) {
            item["name"].fail("there is an entry of this name already");
        }
    }
    return result;
}

void merge_file(Kubeconfig& config, const std::string& path) {
    const YamlValue root = YamlValue::parse(read_config_file(path, "kubeconfig"), path);
    const auto directory = std::filesystem::path(path).parent_path();
    // merge() keeps what is there: the first file that names an entry wins.
    config.clusters.merge(read_entries(root, "clusters", "cluster", directory));
    config.users.merge(read_entries(root, "users", "user", directory));
    config.contexts.merge(read_entries(root, "contexts", "context", directory));
    if (config.current_context.empty()) {
        config.current_context = root["current-context"].string();
    }
}

std::string names(const Entries& entries) {
    std::vector<std::string> result;
    for (const auto& [name, entry] : entries) result.push_back(name);
    return result.empty() ? "there are none" : "there are " + join(result);
}

const Entry& find_context(const Kubeconfig& config, const std::string& wanted,
                          const std::string& files) {
    const std::string& name = wanted.empty() ? config.current_context : wanted;
    if (name.empty()) {
        throw ConfigError(files,
                          "current-context is not set; name a context, " + names(config.contexts));
    }
    const auto found = config.contexts.find(name);
    if (found != config.contexts.end()) return found->second;
    throw ConfigError(files, "there is no context \"" + name + "\"; " + names(config.contexts));
}

const Entry& find_entry(const Entries& entries, const YamlValue& reference) {
    if (reference.is_empty()) reference.fail("is missing");
    const auto found = entries.find(reference.string());
    if (found == entries.end()) reference.fail("there is no such entry; " + names(entries));
    return found->second;
}

void refuse(const YamlValue& body, std::string_view key, const std::string& problem) {
    if (!body[key].is_empty()) body[key].fail(problem);
}

std::string decoded(const YamlValue& value) {
    const std::optional<std::string> text = decode_base64(value.string());
    if (!text) value.fail("is not base64");
    return *text;
}

/// "<key>-data" wins over the file that "<key>" names.
void read_pem(const Entry& entry, const std::string& key, std::string& text, std::string& file) {
    text = decoded(entry.body[key + "-data"]);
    if (text.empty()) file = entry.path(key);
}

void read_cluster(const Entry& cluster, ApiServerConfig& server) {
    const YamlValue& body = cluster.body;
    refuse(body, "proxy-url", "proxies are not supported yet");
    server.url = body["server"].string();
    if (server.url.empty()) body["server"].fail("is missing");
    read_pem(cluster, "certificate-authority", server.tls.ca, server.tls.ca_file);
    server.tls.server_name = body["tls-server-name"].string();
    server.tls.insecure_skip_verify = body["insecure-skip-tls-verify"].boolean();
    if (server.tls.insecure_skip_verify && !(server.tls.ca.empty() && server.tls.ca_file.empty())) {
        body["insecure-skip-tls-verify"].fail("must not be set together with a "
                                              "certificate-authority");
    }
}

void refuse_unsupported(const YamlValue& user) {
    refuse(user, "exec",
           "exec credential plugins are not supported yet; use a token or a client certificate");
    refuse(user, "auth-provider",
           "auth providers are not supported yet; use a token or a client certificate");
    for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
        refuse(user, key, "impersonation is not supported yet");
    }
}

void read_client_certificate(const Entry& user, TlsConfig& tls) {
    read_pem(user, "client-certificate", tls.cert, tls.cert_file);
    read_pem(user, "client-key", tls.key, tls.key_file);
    const bool cert = !tls.cert.empty() || !tls.cert_file.empty();
    const bool key = !tls.key.empty() || !tls.key_file.empty();
    if (cert && !key) user.body["client-certificate"].fail("needs a client-key");
    if (key && !cert) user.body["client-key"].fail("needs a client-certificate");
}

void check_credentials(const YamlValue& user) {
    for (const char* key : {"token", "username", "password"}) {
        if (!is_header_text(user[key].string())) {
            user[key].fail("must not contain a line break or another control character");
        }
    }
    const bool token = !user["token"].is_empty() || !user["tokenFile"].is_empty();
    if (!user["username"].is_empty() && token) {
        user["username"].fail("must not be set together with a token");
    }
    if (!user["password"].is_empty() && user["username"].is_empty()) {
        user["password"].fail("needs username");
    }
}

void read_user(const Entry& user, ApiServerConfig& server) {
    refuse_unsupported(user.body);
    check_credentials(user.body);
    read_client_certificate(user, server.tls);
    AuthConfig& auth = server.auth;
    auth.bearer_token_file = user.path("tokenFile");
    if (auth.bearer_token_file.empty()) auth.bearer_token = user.body["token"].string();
    auth.username = user.body["username"].string();
    auth.password = user.body["password"].string();
}

bool speaks_tls(const ApiServerConfig& server, const YamlValue& cluster) {
    try {
        return parse_server_url(server.url, server.tls != TlsConfig{}).tls;
    } catch (const ConfigError& e) {
        cluster["server"].fail(e.problem());
    }
}

ApiServerConfig select_context(const Kubeconfig& config, const std::string& name,
                               const std::string& files) {
    const YamlValue& context = find_context(config, name, files).body;
    const Entry& cluster = find_entry(config.clusters, context["cluster"]);
    ApiServerConfig server;
    read_cluster(cluster, server);
    if (!context["user"].is_empty()) read_user(find_entry(config.users, context["user"]), server);
    if (!speaks_tls(server, cluster.body)) {
        server.auth = {};
        server.tls = {};
    }
    return server;
}

}  // namespace

std::vector<std::string> split_path_list(std::string_view list) {
    std::vector<std::string> result;
    while (!list.empty()) {
        const std::size_t colon = std::min(list.find(':'), list.size());
        std::string path(list.substr(0, colon));
        const bool known = std::find(result.begin(), result.end(), path) != result.end();
        if (!path.empty() && !known) result.push_back(std::move(path));
        list.remove_prefix(std::min(colon + 1, list.size()));
    }
    return result;
}

ApiServerConfig load_kubeconfig_files(const std::vector<std::string>& paths,
                                      const std::string& context) {
    Kubeconfig config;
    const std::string files = join(paths);
    bool any = false;
    for (const std::string& path : paths) {
        if (paths.size() > 1 && !is_file(path)) continue;
        merge_file(config, path);
        any = true;
    }
    if (!any) throw ConfigError("kubeconfig", "none of these files exists: " + files);
    return select_context(config, context, files);
}

ApiServerConfig load_kubeconfig(const std::string& path, const std::string& context) {
    return load_kubeconfig_files(split_path_list(path), context);
}

}  // namespace k8s_sd::inline v0::detail
