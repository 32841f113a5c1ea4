#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/monitors/kubernetes_sd.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

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

/// Another API server to discover from. Its files are those of the owner, which may name them.
void put_vm_api_server(JobObject& section, const JobContext& context) {
    const ObjectView server(&context.owner.api_server, "apiServerConfig", context.faults);
    if (!server) return;
    put_text(section, "api_server", server.text("host"));
    check_vm_client(server, vm_section_fields, context);
    put_vm_client(section, server, vm_section_fields, context);
    const std::string_view file = server.text("bearerTokenFile");
    put_nonempty(section, "bearer_token_file", file);
    if (file.empty()) put_nonempty(section, "bearer_token", server.text("bearerToken"));
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

void put_vm_attached(JobObject& entry, std::string_view role,
                     const std::vector<ObjectView>& attach_metadata) {
    using Roles = std::initializer_list<std::string_view>;
    JobObject section;
    const auto put_field = [&](std::string_view field, Roles roles) {
        if (std::find(roles.begin(), roles.end(), role) == roles.end()) return;
        const auto first =
            std::find_if(attach_metadata.begin(), attach_metadata.end(),
                         [&](const ObjectView& attach) { return attach.has(field); });
        if (first == attach_metadata.end() || !first->flag(field).value_or(false)) return;
        put(section, field, true);
    };
    put_field("node", {"pod", "endpoints", "endpointslice"});
    put_field("namespace", {"pod", "service", "endpoints", "endpointslice", "ingress"});
    if (!section.empty()) put(entry, "attach_metadata", std::move(section));
}

JobObject vm_kubernetes_entry(const VMDiscovery& discovery, const JobContext& context) {
    JobObject entry;
    put_text(entry, "role", discovery.role);
    put_vm_attached(entry, discovery.role, discovery.attach_metadata);
    if (!discovery.namespaces.empty()) {
        JobObject namespaces;
        put_texts(namespaces, "names", discovery.namespaces);
        put(entry, "namespaces", std::move(namespaces));
    }
    put_vm_api_server(entry, context);
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
    check_vm_proxy(proxy, context);
    put_vm_proxy(job, proxy, context);
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
    for (const ObjectView& rule : of_user) rules.add_generated(vm_rule(rule));
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
            rules.add_generated(vm_rule(rule));
        }
    }
    put_metric_rules(job, std::move(rules));
}

}  // namespace k8s_sd::inline v0::detail
