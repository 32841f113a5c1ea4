#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <array>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// The value of a key of a Secret; "" if it is absent.
std::string secret_text(const ObjectView& selector, const JobContext& context) {
    return present_value(context.reference(MonitorReference::Kind::secret, selector), context)
        .value_or("");
}

std::string client_id_text(const ObjectView& client_id, const JobContext& context) {
    const auto reference = secret_or_config_map(client_id, context);
    return reference ? present_value(*reference, context).value_or("") : "";
}

bool has_credentials(const ObjectView& authorization) {
    return !authorization["credentials"].text("name").empty();
}

void check_proxy_headers(const ObjectView& settings, const JobContext& context) {
    for (const auto& [name, secrets] : settings["proxyConnectHeader"].members()) {
        for (const ObjectView& secret : secrets.items()) required_secret(secret, context);
    }
}

JobObject proxy_headers(const ObjectView& headers, const JobContext& context) {
    JobObject result;
    for (const auto& [name, secrets] : headers.members()) {
        std::vector<std::string> values;
        for (const ObjectView& secret : secrets.items()) {
            values.push_back(secret_text(secret, context));
        }
        put_texts(result, name, values);
    }
    return result;
}

}  // namespace

void check_url(const ObjectView& url) {
    const auto text = url.as_text();
    if (!text) return;
    if (const std::string problem = go_url_problem(*text); !problem.empty()) {
        // Its text may contain a password.
        url.refuse("is no valid URL", "correct it: scheme://host:port/path");
    }
}

void check_basic_auth(const ObjectView& basic_auth, const JobContext& context) {
    if (!basic_auth) return;
    required_secret(basic_auth["username"], context);
    required_secret(basic_auth["password"], context);
}

void check_authorization(const ObjectView& authorization, const JobContext& context) {
    if (!authorization || !has_credentials(authorization)) return;
    if (lower_case(trim(authorization.text("type"))) == "basic") {
        authorization["type"].refuse("must not be Basic", "use basicAuth");
    }
    required_secret(authorization["credentials"], context);
}

void check_oauth2(const ObjectView& oauth2, const JobContext& context) {
    if (!oauth2) return;
    if (oauth2.text("tokenUrl").empty()) {
        oauth2["tokenUrl"].refuse("is missing", "add the URL of the token endpoint");
    }
    const ObjectView client_id = oauth2["clientId"];
    check_secret_or_config_map(client_id);
    if (const auto reference = secret_or_config_map(client_id, context)) {
        required_value(*reference, client_id, context);
    } else {
        client_id.refuse("is missing", "name a key of a Secret or ConfigMap");
    }
    required_secret(oauth2["clientSecret"], context);
    check_proxy(oauth2, context);
    check_tls(oauth2["tlsConfig"], context);
}

void check_proxy(const ObjectView& settings, const JobContext& context) {
    const bool has_url = !settings.text("proxyUrl").empty();
    const bool from_environment = settings.flag("proxyFromEnvironment").value_or(false);
    const bool excludes = !settings.text("noProxy").empty();
    const bool headers = !settings["proxyConnectHeader"].is_empty_object();
    if (from_environment && (has_url || excludes)) {
        settings.refuse("proxyFromEnvironment is set together with proxyUrl or noProxy",
                        "remove proxyFromEnvironment, or the others");
    }
    if (excludes && !has_url) {
        settings.refuse("noProxy is set without proxyUrl", "add proxyUrl, or remove noProxy");
    }
    if (headers && !has_url && !from_environment) {
        settings.refuse("proxyConnectHeader is set without a proxy",
                        "add proxyUrl or proxyFromEnvironment");
    }
    check_url(settings["proxyUrl"]);
    check_proxy_headers(settings, context);
}

void check_single_authentication(const ObjectView& endpoint) {
    std::vector<std::string_view> used;
    for (const std::string_view key : {"authorization", "basicAuth", "oauth2"}) {
        if (endpoint.has(key)) used.push_back(key);
    }
    if (!endpoint["bearerTokenSecret"].text("name").empty()) used.push_back("bearerTokenSecret");
    if (used.size() > 1) {
        endpoint.refuse("has " + join(used, " and "), "keep one way to authenticate");
    }
    if (endpoint.has("authorization") && !has_credentials(endpoint["authorization"])) {
        endpoint["authorization"].refuse("has no credentials",
                                         "name a key of a Secret as credentials");
    }
}

void put_basic_auth(JobObject& job, const ObjectView& basic_auth, const JobContext& context) {
    if (!basic_auth) return;
    JobObject section;
    put_text(section, "username", secret_text(basic_auth["username"], context));
    put_text(section, "password", secret_text(basic_auth["password"], context));
    put(job, "basic_auth", std::move(section));
}

void put_authorization(JobObject& job, const ObjectView& authorization, const ObjectView& of_class,
                       const JobContext& context) {
    // An empty one counts as absent.
    const bool typed = !authorization.text("type").empty();
    const bool empty =
        !typed && !authorization.has("credentials") && !authorization.has("credentialsFile");
    const ObjectView& used = empty ? of_class : authorization;
    if (!used || !context.generates(2, 26)) return;
    JobObject section;
    const std::string_view type = used.text("type");
    put_text(section, "type", type.empty() ? std::string_view("Bearer") : trim(type));
    const auto secret = MonitorReference::Kind::secret;
    const bool own = has_credentials(authorization);
    std::optional<std::string> credentials;
    if (own) {
        credentials =
            present_value(context.reference(secret, authorization["credentials"]), context);
    } else if (has_credentials(of_class)) {
        credentials =
            context.references.class_value(context.reference(secret, of_class["credentials"]));
    }
    if (credentials) put_text(section, "credentials", *credentials);
    if (!own) put_nonempty(section, "credentials_file", of_class.text("credentialsFile"));
    put(job, "authorization", std::move(section));
}

void put_oauth2(JobObject& job, const ObjectView& oauth2, const JobContext& context) {
    if (!oauth2 || !context.generates(2, 27)) return;
    JobObject section;
    put_text(section, "client_id", client_id_text(oauth2["clientId"], context));
    put_text(section, "client_secret", secret_text(oauth2["clientSecret"], context));
    put_text(section, "token_url", oauth2.text("tokenUrl"));
    if (const auto scopes = oauth2.texts("scopes"); !scopes.empty()) {
        put_texts(section, "scopes", scopes);
    }
    if (const ObjectView params = oauth2["endpointParams"]; !params.is_empty_object()) {
        JobObject values;
        for (const auto& [key, value] : params.members()) {
            put_text(values, key, value.as_text().value_or(""));
        }
        put(section, "endpoint_params", std::move(values));
    }
    if (context.generates(2, 43)) {
        put_proxy(section, oauth2, context);
        if (auto tls = tls_section(oauth2["tlsConfig"], context)) {
            put(section, "tls_config", std::move(*tls));
        }
    }
    put(job, "oauth2", std::move(section));
}

void put_proxy(JobObject& job, const ObjectView& settings, const JobContext& context) {
    if (settings.has("proxyUrl")) put_text(job, "proxy_url", settings.text("proxyUrl"));
    if (!context.generates(2, 43)) return;
    if (settings.has("noProxy")) put_text(job, "no_proxy", settings.text("noProxy"));
    if (const auto from_environment = settings.flag("proxyFromEnvironment")) {
        put(job, "proxy_from_environment", *from_environment);
    }
    if (const ObjectView headers = settings["proxyConnectHeader"]) {
        put(job, "proxy_connect_header", proxy_headers(headers, context));
    }
}

void put_bearer_token(JobObject& job, const ObjectView& secret, const JobContext& context) {
    if (secret.text("name").empty()) return;
    const auto token =
        present_value(context.reference(MonitorReference::Kind::secret, secret), context);
    if (token) put_text(job, "bearer_token", *token);
}

void put_redirects_and_http2(JobObject& job, const ObjectView& settings, std::string_view http2_key,
                             const JobContext& context) {
    const auto follow = settings.flag("followRedirects");
    if (follow && context.generates(2, 26)) put(job, "follow_redirects", *follow);
    const auto http2 = settings.flag(http2_key);
    if (http2 && context.generates(2, 35)) put(job, "enable_http2", *http2);
}

}  // namespace k8s_sd::inline v0::detail
