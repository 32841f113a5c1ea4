#include "k8s_sd/detail/config/kubeconfig/kubeconfig_exec.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig_user.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/base64.hpp"

#include <optional>

namespace k8s_sd::inline v0::detail {

namespace {

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
