#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/monitors/versions.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 4> selector_prefixes{"serviceMonitor", "podMonitor", "probe",
                                                            "scrapeConfig"};

/// Reads the object of an owner.
class OwnerReader {
 public:
    OwnerReader(const boost::json::value& object, std::string_view default_namespace, bool defaults,
                Faults& faults)
        : object_(&object, "", faults), spec_(object_["spec"]), defaults_(defaults) {
        const ObjectView metadata = object_["metadata"];
        owner_.name = metadata.text("name");
        owner_.owner_namespace = metadata.text("namespace");
        if (owner_.owner_namespace.empty()) owner_.owner_namespace = default_namespace;
    }

    MonitorOwner read() {
        owner_.is_agent = object_.text("kind") == "PrometheusAgent";
        owner_.daemon_set = owner_.is_agent && spec_.text("mode") == "DaemonSet";
        read_version();
        read_selections();
        read_times();
        read_classes();
        read_limits("", owner_.limits);
        read_limits("enforced", owner_.enforced);
        read_namespaces();
        read_overrides();
        read_shards();
        owner_.api_server = spec_["apiserverConfig"].copy();
        read_additional();
        read_global();
        return std::move(owner_);
    }

 private:
    void read_version() {
        const std::string_view text = spec_.text("version");
        if (text.empty()) return;
        const auto version = parse_monitor_version(text);
        if (!version) {
            spec_["version"].refuse("is no version", "use a version such as 3.5.0");
        } else if (version->major != 2 && version->major != 3) {
            spec_["version"].refuse("is neither version 2 nor 3 of Prometheus",
                                    "use a version such as 3.5.0");
        } else {
            owner_.version = *version;
        }
    }

    void read_selections() {
        for (std::size_t i = 0; i < selector_prefixes.size(); ++i) {
            // An agent on each node takes pods only.
            if (owner_.daemon_set && monitor_kinds[i] != MonitorKind::pod_monitor) continue;
            const std::string objects = std::string(selector_prefixes[i]) + "Selector";
            const std::string namespaces = std::string(selector_prefixes[i]) + "NamespaceSelector";
            owner_.selections[i].objects = read_label_selector(spec_[objects]);
            owner_.selections[i].namespaces = read_label_selector(spec_[namespaces]);
        }
    }

    void read_times() {
        if (spec_.has("scrapeInterval") || !defaults_) {
            owner_.scrape_interval = spec_.text("scrapeInterval");
        }
        owner_.scrape_timeout = spec_.text("scrapeTimeout");
    }

    void read_classes() {
        for (const ObjectView& entry : spec_.items("scrapeClasses")) {
            owner_.scrape_classes.push_back({.name = std::string(entry.text("name")),
                                             .is_default = entry.flag("default").value_or(false),
                                             .spec = entry.copy()});
        }
    }

    /// \param prefix  "enforced" for the limits of the objects
    void read_limits(const std::string& prefix, MonitorLimits& limits) {
        const auto number = [&](const char* capital, const char* plain) {
            return spec_.number(prefix.empty() ? plain : prefix + capital);
        };
        limits.sample = number("SampleLimit", "sampleLimit");
        limits.target = number("TargetLimit", "targetLimit");
        limits.label = number("LabelLimit", "labelLimit");
        limits.label_name_length = number("LabelNameLengthLimit", "labelNameLengthLimit");
        limits.label_value_length = number("LabelValueLengthLimit", "labelValueLengthLimit");
        limits.keep_dropped = number("KeepDroppedTargets", "keepDroppedTargets");
        limits.body_size = spec_.text(prefix.empty() ? "bodySizeLimit" : "enforcedBodySizeLimit");
    }

    void read_namespaces() {
        owner_.ignore_namespace_selectors = spec_.flag("ignoreNamespaceSelectors").value_or(false);
        owner_.enforced_namespace_label = spec_.text("enforcedNamespaceLabel");
        for (const ObjectView& entry : spec_.items("excludedFromEnforcement")) {
            EnforcementExclusion exclusion;
            exclusion.object_namespace = entry.text("namespace");
            if (!entry.text("group").empty()) exclusion.group = entry.text("group");
            exclusion.resource = entry.text("resource");
            exclusion.name = entry.text("name");
            owner_.excluded_from_enforcement.push_back(std::move(exclusion));
        }
    }

    void read_overrides() {
        owner_.override_honor_labels = spec_.flag("overrideHonorLabels").value_or(false);
        owner_.override_honor_timestamps = spec_.flag("overrideHonorTimestamps").value_or(false);
        owner_.deny_file_access = spec_["arbitraryFSAccessThroughSMs"].flag("deny").value_or(false);
        owner_.pod_target_labels = spec_.texts("podTargetLabels");
        owner_.endpoint_slice_role = spec_.text("serviceDiscoveryRole") == "EndpointSlice";
    }

    void read_shards() {
        const std::int32_t shards = spec_["shards"].as_integer().value_or(1);
        owner_.shards = static_cast<std::uint64_t>(std::max(shards, 1));
        const ObjectView strategy = spec_["shardingStrategy"];
        if (strategy.text("mode") != "Topology") return;
        const ObjectView topology = strategy["topology"];
        owner_.topology = topology.texts("values");
        if (topology.has("externalLabelName")) {
            owner_.topology_label = topology.text("externalLabelName");
        }
    }

    void read_global() {
        for (const auto& [name, value] : spec_["externalLabels"].members()) {
            owner_.external_labels.emplace(name, value.as_text().value_or(""));
        }
        if (const ObjectView name = spec_["prometheusExternalLabelName"]) {
            owner_.owner_label = name.as_text().value_or("");
        }
        if (const ObjectView name = spec_["replicaExternalLabelName"]) {
            owner_.replica_label = name.as_text().value_or("");
        }
        owner_.scrape_protocols = spec_.texts("scrapeProtocols");
        owner_.name_validation_scheme = spec_.text("nameValidationScheme");
        owner_.name_escaping_scheme = spec_.text("nameEscapingScheme");
        owner_.scrape_native_histograms = spec_.flag("scrapeNativeHistograms");
        owner_.scrape_classic_histograms = spec_.flag("scrapeClassicHistograms");
        owner_.convert_classic_histograms_to_nhcb = spec_.flag("convertClassicHistogramsToNHCB");
    }

    void read_additional() {
        const ObjectView selector = spec_["additionalScrapeConfigs"];
        if (!selector) return;
        owner_.additional_scrape_configs =
            MonitorReference{MonitorReference::Kind::secret, owner_.owner_namespace,
                             std::string(selector.text("name")), std::string(selector.text("key"))};
        owner_.additional_optional = selector.flag("optional").value_or(false);
    }

    ObjectView object_;
    ObjectView spec_;
    bool defaults_;
    MonitorOwner owner_;
};

OwnerReading finish_owner(MonitorOwner owner, const MonitorOptions& options,
                          const ReferenceSource& source, Faults& faults) {
    References references(source, owner);
    PatternBudget patterns(monitor_pattern_limits());
    const JobContext context{.owner = owner,
                             .options = options,
                             .references = references,
                             .faults = faults,
                             .patterns = patterns,
                             .object_namespace = owner.owner_namespace,
                             .name = owner.name};
    check_scrape_classes(owner, context);
    const std::string problem = times_problem(owner.scrape_interval, owner.scrape_timeout);
    if (!problem.empty()) {
        faults.add("scrapeTimeout: " + problem, "use durations such as 30s");
    }
    OwnerReading reading;
    reading.references = references.requested();
    reading.refusal = faults.first();
    if (reading.refusal) return reading;
    reading.owner = std::move(owner);
    return reading;
}

}  // namespace

OwnerReading read_owner(const boost::json::value& object, std::string_view default_namespace,
                        const MonitorOptions& options, const ReferenceSource& source) {
    Faults faults;
    const std::string_view kind = ObjectView(&object, "", faults).text("kind");
    if (kind == "VMAgent" || kind == "VMSingle") {
        return finish_owner(read_vm_owner(object, default_namespace, faults), options, source,
                            faults);
    }
    MonitorOwner owner =
        OwnerReader(object, default_namespace, options.server_defaults, faults).read();
    return finish_owner(std::move(owner), options, source, faults);
}

OwnerReading check_owner(MonitorOwner owner, const MonitorOptions& options,
                         const ReferenceSource& source) {
    Faults faults;
    return finish_owner(std::move(owner), options, source, faults);
}

}  // namespace k8s_sd::inline v0::detail
