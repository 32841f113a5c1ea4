#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/kubernetes_sd.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Of an owner that denies access to files.
void refuse_file(const ObjectView& file) {
    if (file.as_text().value_or("").empty()) return;
    file.refuse("the owner denies access to files (arbitraryFSAccessThroughSMs)",
                "use a Secret, or allow it in the owner");
}

/// Adds missing fields of the class, if any of `fields` is missing in the object; a field with one
/// of its alternatives is not missing.
void complete_fields(boost::json::object& own, const boost::json::object& of_class,
                     std::initializer_list<std::string_view> fields) {
    const bool present =
        std::any_of(fields.begin(), fields.end(), [&](auto field) { return own.contains(field); });
    if (present) return;
    for (const std::string_view field : fields) {
        if (const auto* value = of_class.if_contains(field)) own.insert_or_assign(field, *value);
    }
}

/// Completes a section of credentials, field by field.
void complete_section(boost::json::object& all, std::string_view key, const ObjectView& of_class,
                      std::initializer_list<std::initializer_list<std::string_view>> fields) {
    const boost::json::value from = of_class[key].copy();
    if (!from.is_object()) return;
    boost::json::value* own = all.if_contains(key);
    if (own == nullptr) {
        all.insert_or_assign(key, from);
    } else if (own->is_object()) {
        for (const auto& group : fields) {
            complete_fields(own->get_object(), from.get_object(), group);
        }
    }
}

std::string_view file_of(const ObjectView& section, std::string_view key) {
    return section.text(key);
}

void put_vm_basic_auth(JobObject& job, const ObjectView& basic_auth, const JobContext& context) {
    if (!basic_auth) return;
    const auto secret = [&](std::string_view key) -> std::optional<std::string> {
        const ObjectView selector = basic_auth[key];
        if (selector.text("name").empty()) return std::nullopt;
        return present_value(context.reference(MonitorReference::Kind::secret, selector), context);
    };
    JobObject section;
    if (const auto username = secret("username")) put_text(section, "username", *username);
    if (const auto password = secret("password")) put_text(section, "password", *password);
    put_nonempty(section, "password_file", file_of(basic_auth, "password_file"));
    if (!section.empty()) put(job, "basic_auth", std::move(section));
}

void check_vm_basic_auth(const ObjectView& basic_auth, const JobContext& context) {
    for (const std::string_view key : {"username", "password"}) {
        const ObjectView selector = basic_auth[key];
        if (!selector.text("name").empty()) required_secret(selector, context);
    }
}

void put_vm_oauth2(JobObject& job, const ObjectView& oauth2, const JobContext& context) {
    if (!oauth2) return;
    JobObject section;
    if (const auto reference = secret_or_config_map(oauth2["client_id"], context)) {
        put_text(section, "client_id", present_value(*reference, context).value_or(""));
    }
    if (const ObjectView secret = oauth2["client_secret"]) {
        const auto reference = context.reference(MonitorReference::Kind::secret, secret);
        put_text(section, "client_secret", present_value(reference, context).value_or(""));
    }
    put_nonempty(section, "client_secret_file", file_of(oauth2, "client_secret_file"));
    put_nonempty(section, "token_url", oauth2.text("token_url"));
    if (auto scopes = oauth2.texts("scopes"); !scopes.empty()) put_texts(section, "scopes", scopes);
    if (const ObjectView params = oauth2["endpoint_params"]; !params.is_empty_object()) {
        put(section, "endpoint_params", params.copy());
    }
    put_nonempty(section, "proxy_url", oauth2.text("proxy_url"));
    if (auto tls = tls_section(oauth2["tls_config"], context)) {
        put(section, "tls_config", std::move(*tls));
    }
    put(job, "oauth2", std::move(section));
}

void check_vm_oauth2(const ObjectView& oauth2, const JobContext& context) {
    if (!oauth2) return;
    if (oauth2.text("token_url").empty()) {
        oauth2["token_url"].refuse("is missing", "add the URL of the token endpoint");
    }
    check_secret_or_config_map(oauth2["client_id"]);
    if (const auto reference = secret_or_config_map(oauth2["client_id"], context)) {
        required_value(*reference, oauth2["client_id"], context);
    }
    if (const ObjectView secret = oauth2["client_secret"]) required_secret(secret, context);
    check_tls(oauth2["tls_config"], context);
}

std::optional<std::chrono::milliseconds> vm_duration(std::string_view text) {
    try {
        return parse_duration(text, LabelDialect::victoriametrics);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

/// The interval within the owner's bounds; an unreadable one stays as it is.
std::string bounded_interval(std::string_view interval, const VMOwnerSettings& settings) {
    const auto own = vm_duration(interval);
    if (!own) return std::string(interval);
    const auto min = vm_duration(settings.min_scrape_interval);
    if (min && *min >= *own) return settings.min_scrape_interval;
    const auto max = vm_duration(settings.max_scrape_interval);
    if (max && *max < *own) return settings.max_scrape_interval;
    return std::string(interval);
}

const VMOwnerSettings& vm_settings(const JobContext& context) {
    static const Immortal<VMOwnerSettings> none;
    return context.owner.vm ? *context.owner.vm : *none;
}

/// The first view with the field.
bool attaches(const VMDiscovery& discovery, std::string_view field,
              std::initializer_list<std::string_view> roles) {
    if (std::find(roles.begin(), roles.end(), discovery.role) == roles.end()) return false;
    for (const ObjectView& attach : discovery.attach_metadata) {
        if (const auto flag = attach.flag(field)) return *flag;
    }
    return false;
}

void put_vm_attached(JobObject& entry, const VMDiscovery& discovery) {
    JobObject section;
    if (attaches(discovery, "node", {"pod", "endpoints", "endpointslice"})) {
        put(section, "node", true);
    }
    if (attaches(discovery, "namespace",
                 {"pod", "service", "endpoints", "endpointslice", "ingress"})) {
        put(section, "namespace", true);
    }
    if (!section.empty()) put(entry, "attach_metadata", std::move(section));
}

boost::json::array vm_selectors(const VMDiscovery& discovery, const JobContext& context) {
    if (discovery.of_node) {
        return {boost::json::object{{"role", "pod"}, {"field", "spec.nodeName=%{KUBE_NODE_NAME}"}}};
    }
    if (!vm_settings(context).kubernetes_api_selectors) return {};
    const std::string label = selector_text(discovery.selector);
    if (label.empty()) return {};
    boost::json::array selectors{label_selector_entry(discovery.role, label)};
    if (discovery.role == "endpoints" || discovery.role == "endpointslice") {
        selectors.push_back(label_selector_entry("pod", label));
        selectors.push_back(label_selector_entry("service", label));
    }
    return selectors;
}

/// A field in camelCase, or its alias in snake_case.
ObjectView vm_field(const ObjectView& rule, std::string_view name, std::string_view alias) {
    return rule.has(name) ? rule[name] : rule[alias];
}

/// A text, or a list: of one, the text.
void put_text_or_list(JobObject& rule, std::string_view key, const ObjectView& value) {
    if (!value) return;
    if (value.is_text()) return put_nonempty(rule, key, value.as_text().value_or(""));
    const std::vector<std::string> texts = value.as_texts();
    if (texts.size() == 1) {
        put_text(rule, key, texts.front());
    } else if (!texts.empty()) {
        put_texts(rule, key, texts);
    }
}

std::string vm_target(const ObjectView& rule) {
    return std::string(vm_field(rule, "targetLabel", "target_label").as_text().value_or(""));
}

JobObject vm_rule(const ObjectView& rule) {
    JobObject result;
    const auto sources = vm_field(rule, "sourceLabels", "source_labels").as_texts();
    if (!sources.empty()) put_texts(result, "source_labels", sources);
    if (rule.has("separator")) put_text(result, "separator", rule.text("separator"));
    put_nonempty(result, "target_label", vm_target(rule));
    put_text_or_list(result, "regex", rule["regex"]);
    if (const auto modulus = rule.number("modulus").value_or(0)) put(result, "modulus", modulus);
    if (rule.has("replacement")) put_text(result, "replacement", rule.text("replacement"));
    put_nonempty(result, "action", rule.text("action"));
    put_text_or_list(result, "if", rule["if"]);
    put_nonempty(result, "match", rule.text("match"));
    JobObject labels;
    for (const auto& [name, value] : rule["labels"].members()) {
        put_text(labels, name, value.as_text().value_or(""));
    }
    if (!labels.empty()) put(result, "labels", std::move(labels));
    return result;
}

}  // namespace

VMCredentials::VMCredentials(const ObjectView& endpoint, const ObjectView& scrape_class,
                             const JobContext& context)
    : context_(context), path_(endpoint.path()) {
    boost::json::object all;
    for (const std::string_view key : {"basicAuth", "authorization", "oauth2", "tlsConfig",
                                       "bearerTokenFile", "bearerTokenSecret"}) {
        if (endpoint.has(key)) all.insert_or_assign(key, endpoint[key].copy());
    }
    complete_section(all, "basicAuth", scrape_class, {{"username"}, {"password", "password_file"}});
    complete_section(all, "authorization", scrape_class, {{"credentials", "credentialsFile"}});
    complete_section(all, "oauth2", scrape_class,
                     {{"client_secret", "client_secret_file"},
                      {"client_id"},
                      {"endpoint_params"},
                      {"scopes"},
                      {"token_url"},
                      {"proxy_url"},
                      {"tls_config"}});
    complete_section(
        all, "tlsConfig", scrape_class,
        {{"ca", "caFile"}, {"cert", "certFile"}, {"keySecret", "keyFile"}, {"serverName"}});
    for (const std::string_view key : {"bearerTokenFile", "bearerTokenSecret"}) {
        if (!all.contains(key) && scrape_class.has(key)) {
            all.insert_or_assign(key, scrape_class[key].copy());
        }
    }
    merged_ = std::move(all);
}

ObjectView VMCredentials::view() const { return {&merged_, path_, context_.faults}; }

void VMCredentials::check() const {
    const ObjectView all = view();
    check_vm_basic_auth(all["basicAuth"], context_);
    check_authorization(all["authorization"], context_);
    check_vm_oauth2(all["oauth2"], context_);
    check_tls(all["tlsConfig"], context_, true);
    const ObjectView token = all["bearerTokenSecret"];
    if (!token.text("name").empty()) required_secret(token, context_);
    if (!context_.owner.deny_file_access) return;
    const ObjectView tls = all["tlsConfig"];
    for (const ObjectView& file :
         {all["bearerTokenFile"], all["basicAuth"]["password_file"],
          all["oauth2"]["client_secret_file"], tls["caFile"], tls["certFile"], tls["keyFile"]}) {
        refuse_file(file);
    }
}

void VMCredentials::put(JobObject& job) const {
    const ObjectView all = view();
    const ObjectView none(nullptr, "", context_.faults);
    if (auto tls = tls_section(all["tlsConfig"], none, {.has_files = true}, context_);
        tls && !tls->empty()) {
        detail::put(job, "tls_config", std::move(*tls));
    }
    if (const std::string_view file = all.text("bearerTokenFile"); !file.empty()) {
        put_text(job, "bearer_token_file", file);
    } else {
        put_bearer_token(job, all["bearerTokenSecret"], context_);
    }
    put_vm_basic_auth(job, all["basicAuth"], context_);
    put_vm_oauth2(job, all["oauth2"], context_);
    // Its own `credentialsFile` has the place of a class's.
    put_authorization(job, all["authorization"], all["authorization"], context_);
}

JobObject vm_kubernetes_entry(const VMDiscovery& discovery, const JobContext& context) {
    JobObject entry;
    put_text(entry, "role", discovery.role);
    put_vm_attached(entry, discovery);
    if (!discovery.namespaces.empty()) {
        JobObject namespaces;
        put_texts(namespaces, "names", discovery.namespaces);
        put(entry, "namespaces", std::move(namespaces));
    }
    put_owner_api_server(entry, context);
    auto selectors = vm_selectors(discovery, context);
    if (!selectors.empty()) put(entry, "selectors", std::move(selectors));
    return entry;
}

std::vector<std::string> vm_namespaces(const ObjectView& selector, const JobContext& context) {
    if (context.owner.ignore_namespace_selectors) return {context.object_namespace};
    if (selector.flag("any").value_or(false)) return {};
    std::vector<std::string> names = selector.texts("matchNames");
    if (names.empty()) names.push_back(context.object_namespace);
    return names;
}

JobObject vm_static_config(const std::vector<std::string>& targets, const ObjectView& labels) {
    JobObject config;
    put_texts(config, "targets", targets);
    JobObject values;
    for (const auto& [name, value] : labels.members()) {
        put_text(values, name, value.as_text().value_or(""));
    }
    if (!values.empty()) put(config, "labels", std::move(values));
    return config;
}

void put_vm_scrape_params(JobObject& job, const VMScrapeParams& params, const JobContext& context) {
    const ObjectView& endpoint = params.endpoint;
    put(job, "honor_labels",
        endpoint.flag("honorLabels").value_or(false) && !context.owner.override_honor_labels);
    const auto timestamps = endpoint.flag("honorTimestamps");
    const bool overridden = context.owner.override_honor_timestamps;
    if (timestamps || overridden) {
        put(job, "honor_timestamps", timestamps.value_or(false) && !overridden);
    }
    std::string_view interval = endpoint.text("scrape_interval");
    if (interval.empty()) interval = endpoint.text("interval");
    put_nonempty(job, "scrape_interval", bounded_interval(interval, vm_settings(context)));
    const std::string_view timeout = endpoint.text("scrapeTimeout");
    put_nonempty(job, "scrape_timeout", timeout.empty() ? params.default_timeout : timeout);
    put_nonempty(job, "metrics_path", params.path.empty() ? endpoint.text("path") : params.path);
    if (endpoint.has("proxyURL")) put_text(job, "proxy_url", endpoint.text("proxyURL"));
    if (const auto follow = endpoint.flag("follow_redirects"))
        put(job, "follow_redirects", *follow);
    JobObject values;
    for (const auto& [name, list] : endpoint["params"].members()) {
        put_texts(values, name, list.as_texts());
    }
    if (!params.module.empty()) put_texts(values, "module", {std::string(params.module)});
    if (!values.empty()) put(job, "params", std::move(values));
    put_nonempty(job, "scheme",
                 lower_case(params.scheme.empty() ? endpoint.text("scheme") : params.scheme));
    put_nonempty(job, "max_scrape_size", endpoint.text("max_scrape_size"));
    for (const auto& [field, key] :
         {std::pair{"sampleLimit", "sample_limit"}, std::pair{"seriesLimit", "series_limit"}}) {
        std::uint64_t limit = endpoint.number(field).value_or(0);
        if (limit == 0) limit = params.spec.number(field).value_or(0);
        if (limit != 0) put(job, key, limit);
    }
}

void put_vm_extensions(JobObject& job, const ObjectView& endpoint, const JobContext& context) {
    const ObjectView params = endpoint["vm_scrape_params"];
    put_nonempty(job, "scrape_align_interval", params.text("scrape_align_interval"));
    for (const std::string_view key : {"stream_parse", "disable_compression"}) {
        if (const auto flag = params.flag(key)) put(job, key, *flag);
    }
    put_nonempty(job, "scrape_offset", params.text("scrape_offset"));
    if (const auto flag = params.flag("no_stale_markers")) put(job, "no_stale_markers", *flag);
    if (const auto flag = params.flag("disable_keep_alive")) put(job, "disable_keepalive", *flag);
    if (auto headers = params.texts("headers"); !headers.empty()) {
        put_texts(job, "headers", headers);
    }
    const ObjectView proxy = params["proxy_client_config"];
    JobObject client;
    put_vm_basic_auth(client, proxy["basic_auth"], context);
    put_bearer_token(client, proxy["bearer_token"], context);
    put_nonempty(client, "bearer_token_file", proxy.text("bearer_token_file"));
    if (context.owner.deny_file_access) {
        refuse_file(proxy["bearer_token_file"]);
        refuse_file(proxy["basic_auth"]["password_file"]);
    }
    if (auto tls = tls_section(proxy["tls_config"], context)) {
        put(client, "tls_config", std::move(*tls));
    }
    for (auto& [key, value] : client) put(job, "proxy_" + std::string(key), std::move(value));
}

void add_vm_selector_rules(RuleList& rules, const ObjectView& selector, const std::string& object,
                           const JobContext& context) {
    // Also for its faults.
    selector_text(selector);
    if (vm_settings(context).kubernetes_api_selectors) return;
    const std::string prefix = "__meta_kubernetes_" + object;
    const auto add = [&](std::string_view action, const char* family, std::string_view key,
                         std::string regex) {
        rules.add({.action = action,
                   .sources = {prefix + family + sanitize_label_key(key)},
                   .regex = std::move(regex)});
    };
    for (const auto& [key, value] : selector["matchLabels"].members()) {
        add("keep", "_label_", key, std::string(value.as_text().value_or("")));
    }
    for (const ObjectView& expression : selector.items("matchExpressions")) {
        const std::string_view key = expression.text("key");
        const std::string_view op = expression.text("operator");
        std::string values = join(expression.texts("values"), "|");
        if (op == "In") add("keep", "_label_", key, std::move(values));
        if (op == "NotIn") add("drop", "_label_", key, std::move(values));
        if (op == "Exists") add("keep", "_labelpresent_", key, "true");
        if (op == "DoesNotExist") add("drop", "_labelpresent_", key, "true");
    }
}

void add_vm_user_rules(RuleList& rules, const std::vector<ObjectView>& of_user) {
    for (const ObjectView& rule : of_user) rules.add(vm_rule(rule));
}

void add_vm_last_rules(RuleList& rules, const JobContext& context) {
    const auto& templates = vm_settings(context).relabel_templates;
    const ObjectView of_kind(&templates[static_cast<std::size_t>(context.kind)],
                             "relabel template of the owner", context.faults);
    add_vm_user_rules(rules, of_kind.items());
    const std::string& label = context.owner.enforced_namespace_label;
    if (!label.empty()) rules.set_label(label, context.object_namespace);
}

void put_vm_metric_relabelings(GeneratedJob& job, const std::vector<ObjectView>& of_class,
                               const std::vector<ObjectView>& of_object,
                               const JobContext& context) {
    const std::string& enforced = context.owner.enforced_namespace_label;
    RuleList rules(context);
    for (const auto* list : {&of_class, &of_object}) {
        for (const ObjectView& rule : *list) {
            if (!enforced.empty() && vm_target(rule) == enforced) continue;
            rules.add(vm_rule(rule));
        }
    }
    put_metric_rules(job, std::move(rules));
}

}  // namespace k8s_sd::inline v0::detail
