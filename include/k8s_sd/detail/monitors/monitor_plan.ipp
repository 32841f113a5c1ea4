#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/monitors/monitor_plan.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/monitors/monitor_access.hpp"

#include <boost/json/parse.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0 {

namespace detail {

std::string_view plural_of(MonitorKind kind) noexcept {
    constexpr std::array<std::string_view, monitor_kind_count> names{
        "servicemonitors", "podmonitors", "probes",        "scrapeconfigs",   "vmservicescrapes",
        "vmpodscrapes",    "vmprobes",    "vmnodescrapes", "vmstaticscrapes", "vmscrapeconfigs"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view plural_of(MonitorOwnerKind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"prometheuses", "prometheusagents", "vmagents",
                                                    "vmsingles"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view group_of(MonitorOwnerKind kind) noexcept {
    return kind < MonitorOwnerKind::vm_agent ? monitor_api_group : vm_monitor_api_group;
}

std::span<const MonitorKind> kinds_of(const MonitorOwner& owner) noexcept {
    if (owner.vm) return vm_monitor_kinds;
    return monitor_kinds;
}

MonitorPlan plan_of(const MonitorOwner& owner, const std::vector<std::string>& allowed) {
    MonitorPlan plan;
    for (const MonitorKind kind : kinds_of(owner)) {
        const auto index = static_cast<std::size_t>(kind);
        const MonitorSelection& selection = owner.selections[index];
        if (!selection.objects) continue;
        const bool of_pods = kind == MonitorKind::pod_monitor || kind == MonitorKind::vm_pod_scrape;
        if (owner.daemon_set && !of_pods) continue;
        if (!selection.namespaces) {
            plan.kinds[index].emplace({owner.owner_namespace});
            continue;
        }
        plan.kinds[index] = allowed;
        plan.namespaces |= !selection.namespaces->empty();
    }
    return plan;
}

namespace {

/// "" for all.
std::vector<std::string> namespaces_or_all(std::vector<std::string> namespaces) {
    if (namespaces.empty()) namespaces.emplace_back();
    return namespaces;
}

}  // namespace

bool is_owner_of_vm(const MonitorOwnerInput& input) {
    if (const auto* owner = std::get_if<MonitorOwner>(&input)) return owner->vm.has_value();
    if (const auto* object = std::get_if<MonitorOwnerObject>(&input)) {
        return object->kind >= MonitorOwnerKind::vm_agent;
    }
    const auto* document = std::get<MonitorOwnerDocument>(input).object.if_object();
    const auto* kind = document ? document->if_contains("kind") : nullptr;
    return kind && (*kind == "VMAgent" || *kind == "VMSingle");
}

}  // namespace detail

bool supports_monitors(LabelDialect dialect, const MonitorOwnerInput& owner) {
    return detail::rules_of(dialect).has_monitors != detail::is_owner_of_vm(owner);
}

std::vector<AccessRule> required_access(const MonitorSourceConfig& config) {
    detail::MonitorPlan plan;
    MonitorOwner any;
    if (detail::is_owner_of_vm(config.owner)) any.vm.emplace();
    for (const MonitorKind kind : detail::kinds_of(any)) {
        plan.kinds[static_cast<std::size_t>(kind)] = config.allow_namespaces;
    }
    plan.namespaces = true;
    if (const auto* owner = std::get_if<MonitorOwner>(&config.owner)) {
        plan = detail::plan_of(*owner, config.allow_namespaces);
    }
    std::vector<AccessRule> rules;
    if (const auto* owner = std::get_if<MonitorOwnerObject>(&config.owner)) {
        rules.push_back(monitor_access_to(detail::plural_of(owner->kind), owner->object_namespace,
                                          detail::group_of(owner->kind)));
        // Of its scrape classes and additionalScrapeConfigs.
        if (!config.allow_namespaces.empty()) {
            rules.push_back(access_to(Kind::secret, owner->object_namespace));
            rules.push_back(access_to(Kind::configmap, owner->object_namespace));
        }
    }
    if (plan.namespaces) rules.push_back(access_to(Kind::namespace_));
    for (std::size_t i = 0; i < monitor_kind_count; ++i) {
        const auto kind = static_cast<MonitorKind>(i);
        const auto& namespaces = plan.kinds[i];
        if (!namespaces) continue;
        for (const std::string& ns : detail::namespaces_or_all(*namespaces)) {
            rules.push_back(monitor_access_to(detail::plural_of(kind), ns, api_group_of(kind)));
            rules.push_back(access_to(Kind::secret, ns));
            rules.push_back(access_to(Kind::configmap, ns));
        }
    }
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    return rules;
}

MonitorOwnerDocument parse_monitor_owner(std::string_view yaml, const std::string& file_name,
                                         std::string default_namespace) {
    constexpr detail::JsonOptions limits{.max_values = 1'000'000,
                                         .max_bytes = std::size_t{16} << 20};
    const detail::YamlValue document = detail::YamlValue::parse(yaml, file_name);
    if (!document.is_mapping()) {
        throw ConfigError(file_name, "must be one Prometheus, PrometheusAgent, VMAgent or VMSingle "
                                     "object");
    }
    return {boost::json::parse(detail::to_json(document, limits)), std::move(default_namespace)};
}

std::vector<Job> discovery_jobs(const std::vector<MonitorJobPtr>& jobs) {
    std::vector<Job> result;
    result.reserve(jobs.size());
    for (const MonitorJobPtr& job : jobs) result.push_back(job->job->discovery);
    return result;
}

std::string to_prometheus_text(const MonitorStatus& status) {
    std::string text;
    const auto begin = [&](const std::string& name, const char* type, const char* help) {
        text += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
    };
    const auto value = [&](const std::string& name, const std::string& labels, std::uint64_t v) {
        text += name + (labels.empty() ? "" : "{" + labels + "}") + " " + std::to_string(v) + "\n";
    };
    begin("k8s_sd_monitors", "gauge", "Monitors seen, by kind and state.");
    for (const MonitorKind kind : kinds_of(status)) {
        const MonitorKindStatus& s = status.kinds[static_cast<std::size_t>(kind)];
        const auto add = [&](MonitorState state, std::size_t count) {
            value("k8s_sd_monitors",
                  "kind=\"" + std::string(to_string(kind)) + "\",state=\"" +
                      std::string(to_string(state)) + "\"",
                  count);
        };
        add(MonitorState::accepted, s.accepted);
        add(MonitorState::refused, s.refused);
        add(MonitorState::unselected, s.unselected);
        add(MonitorState::waiting, s.waiting);
    }
    begin("k8s_sd_monitor_watch_failing", "gauge",
          "Whether the watch of a kind of monitors fails, or the server lacks the kind.");
    for (const MonitorKind kind : kinds_of(status)) {
        const MonitorWatchState watch = status.kinds[static_cast<std::size_t>(kind)].watch;
        value("k8s_sd_monitor_watch_failing", "kind=\"" + std::string(to_string(kind)) + "\"",
              watch == MonitorWatchState::absent || watch == MonitorWatchState::failing);
    }
    const auto single = [&](const std::string& name, const char* type, const char* help,
                            std::uint64_t v) {
        begin(name, type, help);
        value(name, {}, v);
    };
    single("k8s_sd_monitor_owner_refused", "gauge",
           "Whether the present version of the owner is not used.", !status.owner.reason.empty());
    single("k8s_sd_monitor_jobs", "gauge", "Jobs made of monitors.", status.jobs);
    single("k8s_sd_monitor_bytes", "gauge",
           "Estimated memory of the configurations made of monitors.", status.bytes);
    single("k8s_sd_monitor_references", "gauge", "Secrets and ConfigMaps watched for monitors.",
           status.references);
    single("k8s_sd_monitor_generations_total", "counter", "How often jobs were made of a monitor.",
           status.generations);
    single("k8s_sd_monitor_job_changes_total", "counter",
           "Updates and removals of jobs that were delivered.", status.job_changes);
    return text;
}

}  // namespace k8s_sd::inline v0
