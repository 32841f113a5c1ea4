#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The first parts of the fields of a kind: `serviceScrapeSelector`.
struct VMKindFields {
    MonitorKind kind;
    std::string_view selector;
    std::string_view relabel_template;
};
constexpr std::array<VMKindFields, 6> vm_kind_fields{{
    {MonitorKind::vm_service_scrape, "serviceScrape", "serviceScrapeRelabelTemplate"},
    {MonitorKind::vm_pod_scrape, "podScrape", "podScrapeRelabelTemplate"},
    {MonitorKind::vm_probe, "probe", "probeScrapeRelabelTemplate"},
    {MonitorKind::vm_node_scrape, "nodeScrape", "nodeScrapeRelabelTemplate"},
    {MonitorKind::vm_static_scrape, "staticScrape", "staticScrapeRelabelTemplate"},
    {MonitorKind::vm_scrape_config, "scrapeConfig", "scrapeConfigRelabelTemplate"},
}};

/// Without either selector, `selectAllByDefault` decides; a namespace selector alone selects all
/// objects of its namespaces.
MonitorSelection read_vm_selection(const ObjectView& spec, const std::string& prefix) {
    const std::string objects_key = prefix + "Selector";
    const std::string namespaces_key = prefix + "NamespaceSelector";
    const ObjectView objects = spec[objects_key];
    const ObjectView namespaces = spec[namespaces_key];
    MonitorSelection selection{.objects = read_label_selector(objects),
                               .namespaces = read_label_selector(namespaces)};
    if (!objects && namespaces) selection.objects.emplace();
    if (!objects && !namespaces && spec.flag("selectAllByDefault").value_or(false)) {
        selection.objects.emplace();
        selection.namespaces.emplace();
    }
    return selection;
}

/// In DaemonSet mode, only pods of the own node are scraped.
void read_vm_selections(const ObjectView& spec, MonitorOwner& owner) {
    for (const VMKindFields& fields : vm_kind_fields) {
        if (owner.daemon_set && fields.kind != MonitorKind::vm_pod_scrape) continue;
        owner.selections[static_cast<std::size_t>(fields.kind)] =
            read_vm_selection(spec, std::string(fields.selector));
    }
}

VMOwnerSettings read_vm_settings(const ObjectView& spec) {
    VMOwnerSettings settings;
    settings.kubernetes_api_selectors = spec.flag("enableKubernetesAPISelectors").value_or(false);
    settings.min_scrape_interval = spec.text("minScrapeInterval");
    settings.max_scrape_interval = spec.text("maxScrapeInterval");
    for (const VMKindFields& fields : vm_kind_fields) {
        settings.relabel_templates[static_cast<std::size_t>(fields.kind)] =
            spec[fields.relabel_template].copy();
    }
    settings.relabel_configs = spec["globalScrapeRelabelConfigs"].copy();
    settings.inline_scrape_config = spec.text("inlineScrapeConfig");
    settings.metric_relabel_configs = spec["globalScrapeMetricRelabelConfigs"].copy();
    return settings;
}

void read_vm_labels(const ObjectView& spec, MonitorOwner& owner) {
    for (const auto& [name, value] : spec["externalLabels"].members()) {
        owner.external_labels.emplace(name, value.as_text().value_or(""));
    }
    for (const char* key : {"vmAgentExternalLabelName", "externalLabelName"}) {
        if (spec.has(key)) owner.owner_label = spec.text(key);
    }
}

}  // namespace

MonitorOwner read_vm_owner(const boost::json::value& object, std::string_view default_namespace,
                           Faults& faults) {
    const ObjectView view(&object, "", faults);
    const ObjectView spec = view["spec"];
    MonitorOwner owner;
    owner.name = view["metadata"].text("name");
    owner.owner_namespace = view["metadata"].text("namespace");
    if (owner.owner_namespace.empty()) owner.owner_namespace = default_namespace;
    owner.daemon_set = spec.flag("daemonSetMode").value_or(false);
    owner.vm = read_vm_settings(spec);
    read_vm_selections(spec, owner);
    if (spec.has("scrapeInterval")) owner.scrape_interval = spec.text("scrapeInterval");
    owner.scrape_timeout = spec.text("scrapeTimeout");
    owner.limits.sample = spec.number("sampleLimit");
    for (const ObjectView& entry : spec.items("scrapeClasses")) {
        owner.scrape_classes.push_back({.name = std::string(entry.text("name")),
                                        .is_default = entry.flag("default").value_or(false),
                                        .spec = entry.copy()});
    }
    owner.ignore_namespace_selectors = spec.flag("ignoreNamespaceSelectors").value_or(false);
    owner.enforced_namespace_label = spec.text("enforcedNamespaceLabel");
    owner.override_honor_labels = spec.flag("overrideHonorLabels").value_or(false);
    owner.override_honor_timestamps = spec.flag("overrideHonorTimestamps").value_or(false);
    owner.deny_file_access = spec["arbitraryFSAccessThroughSMs"].flag("deny").value_or(false);
    owner.api_server = spec["apiServerConfig"].copy();
    read_vm_labels(spec, owner);
    // The operator needs the Secret even if the selector is optional (objects.go).
    if (const ObjectView selector = spec["additionalScrapeConfigs"]) {
        owner.additional_scrape_configs =
            MonitorReference{MonitorReference::Kind::secret, owner.owner_namespace,
                             std::string(selector.text("name")), std::string(selector.text("key"))};
    }
    return owner;
}

boost::json::object vm_global_section(const JobContext& context) {
    const MonitorOwner& owner = context.owner;
    std::map<std::string, std::string> labels;
    if (!owner.owner_label.empty()) {
        labels[owner.owner_label] = owner.owner_namespace + "/" + owner.name;
    }
    labels.insert(owner.external_labels.begin(), owner.external_labels.end());
    JobObject external;
    for (const auto& [name, value] : labels) put_text(external, name, value);
    JobObject global;
    put_text(global, "scrape_interval", owner.scrape_interval);
    put(global, "external_labels", std::move(external));
    if (const auto limit = owner.limits.sample.value_or(0)) put(global, "sample_limit", limit);
    put_nonempty(global, "scrape_timeout", owner.scrape_timeout);
    const auto put_rules = [&](std::string_view key, const boost::json::value& list) {
        RuleList rules;
        add_vm_user_rules(rules, ObjectView(&list, std::string(key), context.faults).items());
        if (!rules.empty()) put(global, key, to_json(rules.take()));
    };
    put_rules("metric_relabel_configs", owner.vm->metric_relabel_configs);
    put_rules("relabel_configs", owner.vm->relabel_configs);
    return global;
}

void make_vm_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    switch (context.kind) {
        case MonitorKind::vm_service_scrape:
            return make_vm_service_scrape_jobs(spec, context, jobs);
        case MonitorKind::vm_pod_scrape: return make_vm_pod_scrape_jobs(spec, context, jobs);
        case MonitorKind::vm_probe: return make_vm_probe_job(spec, context, jobs);
        case MonitorKind::vm_node_scrape: return make_vm_node_scrape_job(spec, context, jobs);
        case MonitorKind::vm_static_scrape: return make_vm_static_scrape_jobs(spec, context, jobs);
        default: return make_vm_scrape_config_job(spec, context, jobs);
    }
}

}  // namespace k8s_sd::inline v0::detail
