#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

// --- basicAuth -----------------------------------------------------------------------------------

/// A selector without a name is missing: an object written by a program in Go has it in any case.
bool is_named(const ObjectView& selector) { return !selector.text("name").empty(); }

/// The value of a key of a Secret.
std::string vm_secret(const ObjectView& selector, const JobContext& context) {
    const auto reference = context.reference(MonitorReference::Kind::secret, selector);
    return present_value(reference, context).value_or("");
}

void check_vm_basic_auth(const ObjectView& basic_auth, const JobContext& context) {
    for (const std::string_view key : {"username", "password"}) {
        if (is_named(basic_auth[key])) required_secret(basic_auth[key], context);
    }
}

void put_vm_basic_auth(JobObject& job, const ObjectView& basic_auth, const JobContext& context) {
    JobObject section;
    for (const std::string_view key : {"username", "password"}) {
        const ObjectView selector = basic_auth[key];
        if (is_named(selector)) put_nonempty(section, key, vm_secret(selector, context));
    }
    put_nonempty(section, "password_file", basic_auth.text("password_file"));
    if (!section.empty()) put(job, "basic_auth", std::move(section));
}

// --- authorization -------------------------------------------------------------------------------

bool has_content(const ObjectView& authorization) {
    return authorization.has("credentials") || !authorization.text("credentialsFile").empty();
}

void check_vm_authorization(const ObjectView& authorization, const JobContext& context) {
    if (!has_content(authorization)) return;
    if (lower_case(trim(authorization.text("type"))) == "basic") {
        authorization["type"].refuse("must not be Basic", "use basicAuth");
    }
    const ObjectView credentials = authorization["credentials"];
    if (credentials) required_secret(credentials, context);
}

void put_vm_authorization(JobObject& job, const ObjectView& authorization,
                          const JobContext& context) {
    if (!has_content(authorization)) return;
    JobObject section;
    if (const ObjectView credentials = authorization["credentials"]) {
        put_nonempty(section, "credentials", vm_secret(credentials, context));
    } else {
        put_text(section, "credentials_file", authorization.text("credentialsFile"));
    }
    const std::string_view type = authorization.text("type");
    put_text(section, "type", type.empty() ? "Bearer" : type);
    put(job, "authorization", std::move(section));
}

// --- tlsConfig -----------------------------------------------------------------------------------

void put_vm_tls(JobObject& job, const ObjectView& tls, const JobContext& context) {
    const ObjectView none(nullptr, "", context.faults);
    auto section = tls_section(tls, none, {.has_files = true}, context);
    if (section && !section->empty()) put(job, "tls_config", std::move(*section));
}

// --- oauth2 --------------------------------------------------------------------------------------

void check_vm_oauth2(const ObjectView& oauth2, const JobContext& context) {
    if (!oauth2) return;
    if (oauth2.text("token_url").empty()) {
        oauth2["token_url"].refuse("is missing", "add the URL of the token endpoint");
    }
    const ObjectView client_id = oauth2["client_id"];
    check_secret_or_config_map(client_id);
    if (const auto reference = secret_or_config_map(client_id, context)) {
        required_value(*reference, client_id, context);
    }
    if (const ObjectView secret = oauth2["client_secret"]) required_secret(secret, context);
    check_tls(oauth2["tls_config"], context, true);
}

void put_vm_oauth2(JobObject& job, const ObjectView& oauth2, const JobContext& context) {
    if (!oauth2) return;
    JobObject section;
    if (const auto reference = secret_or_config_map(oauth2["client_id"], context)) {
        put_nonempty(section, "client_id", present_value(*reference, context).value_or(""));
    }
    if (const ObjectView secret = oauth2["client_secret"]) {
        put_text(section, "client_secret", vm_secret(secret, context));
    } else {
        put_nonempty(section, "client_secret_file", oauth2.text("client_secret_file"));
    }
    if (auto scopes = oauth2.texts("scopes"); !scopes.empty()) put_texts(section, "scopes", scopes);
    if (const ObjectView params = oauth2["endpoint_params"]; !params.is_empty_object()) {
        put(section, "endpoint_params", params.copy());
    }
    put_nonempty(section, "token_url", oauth2.text("token_url"));
    put_nonempty(section, "proxy_url", oauth2.text("proxy_url"));
    put_vm_tls(section, oauth2["tls_config"], context);
    if (!section.empty()) put(job, "oauth2", std::move(section));
}

// --- bearer tokens -------------------------------------------------------------------------------

void put_vm_token(JobObject& job, const ObjectView& client, const VMClientFields& fields,
                  const JobContext& context) {
    const ObjectView token = client[fields.token];
    const std::string_view file = client.text(fields.token_file);
    if (is_named(token) && (file.empty() || fields.prefers_token)) {
        put_text(job, "bearer_token", vm_secret(token, context));
    } else {
        put_nonempty(job, "bearer_token_file", file);
    }
}

// --- completion by a scrape class ----------------------------------------------------------------

/// Whether the operator regards the value as missing: null and whatever is empty in Go, such as
/// `ca: {}`. Users and passwords are selectors in Go in any case, with or without a name.
bool is_missing(std::string_view field, const ObjectView& value) {
    if (!value) return true;
    if (value.is_text()) return value.as_text()->empty();
    if (field == "username" || field == "password") return !is_named(value);
    return value.is_object() ? value.is_empty_object() : value.items().empty();
}

/// Fields of which either all or none are taken from the class.
using FieldGroup = std::initializer_list<std::string_view>;

/// Takes those of the class, if all are missing in the own section.
void complete_fields(boost::json::object& section, const ObjectView& own,
                     const ObjectView& of_class, FieldGroup fields) {
    const bool missing = std::all_of(fields.begin(), fields.end(), [&](std::string_view field) {
        return is_missing(field, own[field]);
    });
    if (!missing) return;
    for (const std::string_view field : fields) {
        if (const ObjectView value = of_class[field]) section.insert_or_assign(field, value.copy());
    }
}

/// A section of the endpoint, completed field by field; that of the class if the endpoint has none.
boost::json::value completed(const ObjectView& own, const ObjectView& of_class,
                             std::initializer_list<FieldGroup> groups) {
    if (!own || !of_class) return own ? own.copy() : of_class.copy();
    boost::json::value section = own.copy();
    if (!own.is_object() || !of_class.is_object()) return section;
    for (const FieldGroup& group : groups) {
        complete_fields(section.get_object(), own, of_class, group);
    }
    return section;
}

boost::json::value completed_tls(const ObjectView& own, const ObjectView& of_class) {
    return completed(
        own, of_class,
        {{"ca", "caFile"}, {"cert", "certFile"}, {"keySecret", "keyFile"}, {"serverName"}});
}

boost::json::value completed_oauth2(const ObjectView& own, const ObjectView& of_class) {
    boost::json::value section = completed(own, of_class,
                                           {{"client_secret", "client_secret_file"},
                                            {"client_id"},
                                            {"endpoint_params"},
                                            {"scopes"},
                                            {"token_url"},
                                            {"proxy_url"}});
    if (auto* members = section.if_object()) {
        members->insert_or_assign("tls_config",
                                  completed_tls(own["tls_config"], of_class["tls_config"]));
    }
    return section;
}

boost::json::value completed_client(const ObjectView& own, const ObjectView& of_class) {
    const auto section = [&](std::string_view key, std::initializer_list<FieldGroup> groups) {
        return completed(own[key], of_class[key], groups);
    };
    boost::json::object all;
    all["basicAuth"] = section("basicAuth", {{"username"}, {"password", "password_file"}});
    all["authorization"] = section("authorization", {{"credentials", "credentialsFile"}});
    all["oauth2"] = completed_oauth2(own["oauth2"], of_class["oauth2"]);
    all["tlsConfig"] = completed_tls(own["tlsConfig"], of_class["tlsConfig"]);
    for (const std::string_view key : {"bearerTokenFile", "bearerTokenSecret"}) {
        all[key] = (is_missing(key, own[key]) ? of_class : own)[key].copy();
    }
    return all;
}

// --- files ---------------------------------------------------------------------------------------

void refuse_file(const ObjectView& file) {
    if (file.as_text().value_or("").empty()) return;
    file.refuse("the owner denies access to files (arbitraryFSAccessThroughSMs)",
                "use a Secret, or allow it in the owner");
}

void refuse_tls_files(const ObjectView& tls) {
    for (const std::string_view key : {"caFile", "certFile", "keyFile"}) refuse_file(tls[key]);
}

}  // namespace

void check_vm_client(const ObjectView& client, const VMClientFields& fields,
                     const JobContext& context) {
    check_vm_basic_auth(client[fields.basic_auth], context);
    check_vm_authorization(client[fields.authorization], context);
    check_vm_oauth2(client[fields.oauth2], context);
    check_tls(client[fields.tls], context, true);
    const ObjectView token = client[fields.token];
    if (is_named(token)) required_secret(token, context);
}

void refuse_vm_files(const ObjectView& client, const VMClientFields& fields,
                     const JobContext& context) {
    if (!context.owner.deny_file_access) return;
    refuse_file(client[fields.token_file]);
    refuse_file(client[fields.basic_auth]["password_file"]);
    refuse_file(client[fields.authorization]["credentialsFile"]);
    refuse_file(client[fields.oauth2]["client_secret_file"]);
    refuse_tls_files(client[fields.oauth2]["tls_config"]);
    refuse_tls_files(client[fields.tls]);
}

void put_vm_client(JobObject& job, const ObjectView& client, const VMClientFields& fields,
                   const JobContext& context) {
    put_vm_tls(job, client[fields.tls], context);
    put_vm_token(job, client, fields, context);
    put_vm_basic_auth(job, client[fields.basic_auth], context);
    put_vm_oauth2(job, client[fields.oauth2], context);
    put_vm_authorization(job, client[fields.authorization], context);
}

void check_vm_proxy(const ObjectView& proxy, const JobContext& context) {
    refuse_vm_files(proxy, vm_proxy_fields, context);
    check_vm_client(proxy, vm_proxy_fields, context);
}

void put_vm_proxy(JobObject& job, const ObjectView& proxy, const JobContext& context) {
    JobObject client;
    put_vm_client(client, proxy, vm_proxy_fields, context);
    for (auto& [key, value] : client) put(job, "proxy_" + std::string(key), std::move(value));
}

VMCredentials::VMCredentials(const ObjectView& endpoint, const ObjectView& scrape_class,
                             const JobContext& context)
    : context_(context), own_(endpoint), merged_(completed_client(endpoint, scrape_class)) {}

void VMCredentials::check() const {
    // The owner may name files in its classes.
    refuse_vm_files(own_, vm_endpoint_fields, context_);
    check_vm_client(view(), vm_endpoint_fields, context_);
}

void VMCredentials::put(JobObject& job) const {
    put_vm_client(job, view(), vm_endpoint_fields, context_);
}

}  // namespace k8s_sd::inline v0::detail
