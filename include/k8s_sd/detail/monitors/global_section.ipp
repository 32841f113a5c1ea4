#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/sharding_rules.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"
#include "k8s_sd/detail/text/text.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// A label of the owner or its replica has precedence over a label of the user.
JobObject external_labels(const JobContext& context) {
    const MonitorOwner& owner = context.owner;
    std::map<std::string, std::string> labels;
    if (!owner.owner_label.empty()) {
        labels[owner.owner_label] = owner.owner_namespace + "/" + owner.name;
    }
    if (!owner.replica_label.empty()) labels[owner.replica_label] = "$(POD_NAME)";
    if (shards_by_zone(context) && !owner.topology_label.empty()) {
        labels[owner.topology_label] = "$(TOPOLOGY_ZONE)";
    }
    labels.insert(owner.external_labels.begin(), owner.external_labels.end());
    JobObject result;
    for (const auto& [name, value] : labels) put_text(result, name, value);
    return result;
}

void put_name_schemes_of(JobObject& global, const JobContext& context) {
    if (context.generates(3, 0)) {
        put_nonempty(global, "metric_name_validation_scheme",
                     lower_case(context.owner.name_validation_scheme));
    }
    if (context.generates(3, 4)) {
        put_nonempty(global, "metric_name_escaping_scheme",
                     name_escaping_scheme(context.owner.name_escaping_scheme));
    }
}

void put_histograms_of(JobObject& global, const JobContext& context) {
    const auto put_flag = [&](std::string_view key, std::optional<bool> flag, std::uint64_t minor) {
        if (flag && context.generates(3, minor)) put(global, key, *flag);
    };
    const MonitorOwner& owner = context.owner;
    put_flag("convert_classic_histograms_to_nhcb", owner.convert_classic_histograms_to_nhcb, 4);
    put_flag("always_scrape_classic_histograms", owner.scrape_classic_histograms, 5);
    put_flag("scrape_native_histograms", owner.scrape_native_histograms, 8);
}

/// No section of the owner reads a Secret.
class NoReferences final : public ReferenceSource {
 public:
    ReferencedValue find(const MonitorReference&) const override { return {}; }
};

}  // namespace

boost::json::object global_section(const MonitorOwner& owner, const MonitorOptions& options) {
    Faults faults;
    const NoReferences source;
    References references(source, owner);
    PatternBudget patterns(monitor_pattern_limits());
    const JobContext context{.owner = owner,
                             .options = options,
                             .references = references,
                             .faults = faults,
                             .patterns = patterns};
    if (owner.vm) return vm_global_section(context);
    JobObject global;
    put_text(global, "scrape_interval", owner.scrape_interval);
    put_nonempty(global, "scrape_timeout", owner.scrape_timeout);
    put_scrape_protocols(global, owner.scrape_protocols, context);
    put(global, "external_labels", external_labels(context));
    put_global_limits(global, context);
    put_name_schemes_of(global, context);
    put_histograms_of(global, context);
    return global;
}

}  // namespace k8s_sd::inline v0::detail
