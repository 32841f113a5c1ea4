#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/text/base64.hpp"

#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// A text for the arguments or the environment of a program.
std::string c_text(const YamlValue& value) {
    std::string text = value.string();
    if (text.find('\0') != std::string::npos) value.fail("must not contain a NUL character");
    return text;
}

std::string read_version(const YamlValue& value) {
    std::string version = value.string();
    if (version == "client.authentication.k8s.io/v1") return version;
    if (version == "client.authentication.k8s.io/v1beta1") return version;
    if (version == "client.authentication.k8s.io/v1alpha1") {
        value.fail("v1alpha1 is not supported, nor by kubectl since 1.24; update the program and "
                   "let it write a new file, with client.authentication.k8s.io/v1 or v1beta1");
    }
    value.fail(value.is_empty() ? "is missing; allowed are client.authentication.k8s.io/v1 and "
                                  "client.authentication.k8s.io/v1beta1"
                                : "must be client.authentication.k8s.io/v1 or "
                                  "client.authentication.k8s.io/v1beta1");
}

std::string read_command(const KubeconfigEntry& user, const YamlValue& exec) {
    const YamlValue value = exec["command"];
    const std::string command = c_text(value);
    if (command.empty()) value.fail("is missing; it names the program that prints credentials");
    const bool in_path = command.find('/') == std::string::npos;
    return in_path ? command : (user.directory / command).string();
}

ExecConfig::Variable read_variable(const YamlValue& item) {
    ExecConfig::Variable variable{c_text(item["name"]), c_text(item["value"])};
    if (variable.name.empty() || variable.name.find('=') != std::string::npos) {
        item["name"].fail("must be the name of an environment variable");
    }
    return variable;
}

ExecConfig::InteractiveMode read_interactive_mode(const YamlValue& value,
                                                  const std::string& version) {
    using enum ExecConfig::InteractiveMode;
    const std::string mode = value.string();
    if (mode == "Never") return never;
    if (mode == "IfAvailable") return if_available;
    if (mode == "Always") {
        value.fail("Always: the program prompts the user at a terminal, and there is none; if it "
                   "works without one, set IfAvailable, else use other credentials, such as a "
                   "token of a service account (kubectl create token NAME)");
    }
    if (!mode.empty()) value.fail("must be Never, IfAvailable or Always");
    if (!version.ends_with("/v1beta1")) {
        value.fail("is missing, and " + version + " requires it; set IfAvailable or Never");
    }
    return if_available;
}

std::string find_extension(const YamlValue& cluster) {
    for (const YamlValue& item : cluster["extensions"].items()) {
        if (item["name"].string() == "client.authentication.k8s.io/exec") {
            return to_json(item["extension"]);
        }
    }
    return {};
}

/// The credential plugin of a user. A command with a slash is relative to the file's directory, as
/// in client-go.
/// \param cluster  may contain an extension for the plugin
ExecConfig read_exec(const KubeconfigEntry& user, const YamlValue& cluster) {
    const YamlValue exec = user.body["exec"];
    ExecConfig result;
    result.api_version = read_version(exec["apiVersion"]);
    result.command = read_command(user, exec);
    for (const YamlValue& item : exec["args"].items()) result.args.push_back(c_text(item));
    for (const YamlValue& item : exec["env"].items()) result.env.push_back(read_variable(item));
    result.install_hint = exec["installHint"].string();
    result.interactive_mode = read_interactive_mode(exec["interactiveMode"], result.api_version);
    result.provide_cluster_info = exec["provideClusterInfo"].boolean();
    if (!result.provide_cluster_info) return result;
    result.cluster_server = cluster["server"].string();
    result.cluster_extension = find_extension(cluster);
    return result;
}

/// kubectl has removed auth providers as well, except oidc.
void refuse_auth_provider(const YamlValue& value) {
    if (value.is_empty()) return;
    const std::string name = value["name"].string();
    std::string advice = "use an exec plugin instead";
    if (name == "gcp") {
        advice = "install gke-gcloud-auth-plugin and run: gcloud container clusters "
                 "get-credentials NAME";
    } else if (name == "azure") {
        advice = "install kubelogin (azure.github.io/kubelogin) and run: kubelogin "
                 "convert-kubeconfig";
    } else if (name == "oidc") {
        advice = "use the exec plugin kubelogin instead (kubectl oidc-login setup)";
    }
    value.fail("auth providers are not supported; " + advice +
               ", or use a token (kubectl create token NAME)");
}

void read_client_certificate(const KubeconfigEntry& user, TlsConfig& tls) {
    read_pem(user, "client-certificate", tls.cert, tls.cert_file);
    read_pem(user, "client-key", tls.key, tls.key_file);
    const bool cert = !tls.cert.empty() || !tls.cert_file.empty();
    const bool key = !tls.key.empty() || !tls.key_file.empty();
    if (cert && !key) user.body["client-certificate"].fail("needs a client-key");
    if (key && !cert) user.body["client-key"].fail("needs a client-certificate");
}

/// The token is the fallback while the file cannot be read.
void read_token(const KubeconfigEntry& user, AuthConfig& auth) {
    auth.bearer_token = read_line(user.body["token"]);
    auth.bearer_token_file = user.path("tokenFile");
}

void read_basic(const YamlValue& user, AuthConfig& auth) {
    auth.username = read_line(user["username"]);
    auth.password = read_line(user["password"]);
    const bool token = !auth.bearer_token.empty() || !auth.bearer_token_file.empty();
    if (!auth.username.empty() && token) {
        user["username"].fail("must not be set together with a token; remove one of them");
    }
    if (!auth.password.empty() && auth.username.empty()) user["password"].fail("needs username");
    if (auth.username.find(':') != std::string::npos) {
        user["username"].fail("must not contain a colon");
    }
}

void read_impersonation(const YamlValue& user, ImpersonationConfig& who) {
    who.user = read_line(user["as"]);
    who.uid = read_line(user["as-uid"]);
    for (const YamlValue& group : user["as-groups"].items()) {
        who.groups.push_back(read_line(group));
    }
    for (const auto& [key, values] : user["as-user-extra"].entries()) {
        for (const YamlValue& value : values.items()) who.extra[key].push_back(read_line(value));
    }
    if (!who.user.empty()) return;
    for (const char* key : {"as-uid", "as-groups", "as-user-extra"}) {
        if (!user[key].is_empty()) user[key].fail("needs as, the user to impersonate");
    }
}

}  // namespace

std::string read_line(const YamlValue& value) {
    std::string text = value.string();
    if (!is_header_text(text)) {
        value.fail("must not contain a line break or another control character");
    }
    return text;
}

void read_pem(const KubeconfigEntry& entry, const std::string& key, std::string& text,
              std::string& file) {
    const YamlValue data = entry.body[key + "-data"];
    const std::optional<std::string> decoded = decode_base64(data.string());
    if (!decoded) data.fail("is not base64");
    text = *decoded;
    if (text.empty()) file = entry.path(key);
}

void read_user(const KubeconfigEntry& user, const YamlValue& cluster, ApiServerConfig& server) {
    refuse_auth_provider(user.body["auth-provider"]);
    read_client_certificate(user, server.tls);
    read_token(user, server.auth);
    read_basic(user.body, server.auth);
    read_impersonation(user.body, server.impersonate);
    const bool certificate = !server.tls.cert.empty() || !server.tls.cert_file.empty();
    const bool others = certificate || server.auth != AuthConfig{};
    if (!others && !user.body["exec"].is_null()) server.auth.exec = read_exec(user, cluster);
}

}  // namespace k8s_sd::inline v0::detail
