#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/kinds.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

void make_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    switch (context.kind) {
        case MonitorKind::service_monitor: return make_service_monitor_jobs(spec, context, jobs);
        case MonitorKind::pod_monitor: return make_pod_monitor_jobs(spec, context, jobs);
        case MonitorKind::probe: return make_probe_job(spec, context, jobs);
        case MonitorKind::scrape_config: return make_scrape_config_job(spec, context, jobs);
        default: return make_vm_jobs(spec, context, jobs);
    }
}

}  // namespace

std::size_t generated_bytes(const ScrapeEntry& entry) {
    std::size_t bytes = memory_of(entry.keys);
    for (const RuleTexts* rules : {&entry.relabel_configs, &entry.metric_relabel_configs}) {
        for (const RuleTextPtr& rule : *rules) bytes += rule->bytes;
    }
    return bytes;
}

bool JobList::add(GeneratedJob job, const ObjectView& at) {
    // Each endpoint repeats the selector and the labels of the object, so a small object can make
    // very large jobs.
    constexpr std::size_t max_bytes = std::size_t{64} << 20;
    job.bytes = generated_bytes(job.config);
    bytes_ += job.bytes;
    if (bytes_ > max_bytes) {
        is_too_large_ = true;
        at.refuse("the jobs of this object are larger than 64 MiB", "split it");
        return false;
    }
    jobs_.push_back(std::move(job));
    return true;
}

Generation generate(const MonitorOwner& owner, MonitorKind kind, const MonitorParts& monitor,
                    const MonitorOptions& options, const ReferenceSource& source,
                    GeneratedRules* known) {
    Faults faults;
    References references(source, owner);
    PatternBudget patterns(monitor_pattern_limits());
    const JobContext context{.owner = owner,
                             .options = options,
                             .references = references,
                             .faults = faults,
                             .patterns = patterns,
                             .known_rules = known,
                             .kind = kind,
                             .object_namespace = std::string(monitor.object_namespace),
                             .name = std::string(monitor.name)};
    JobList jobs;
    // VictoriaMetrics' operator leaves out objects on their way out.
    const bool is_left_out = owner.vm && monitor.is_ending;
    // Paths begin below `spec`, as in the messages of the operator.
    if (!is_left_out) make_jobs(ObjectView(monitor.spec, "", faults), context, jobs);

    if (references.exhausted()) {
        faults.add("the Secrets and ConfigMaps in the jobs of this object are larger than 32 MiB",
                   "split it, or use smaller values");
    }
    Generation result{.refusal = faults.first(),
                      .references = references.requested(),
                      .class_references = references.class_requested(),
                      .bytes = jobs.bytes(),
                      .is_too_large = references.exhausted() || jobs.is_too_large()};
    if (!result.refusal) result.jobs = jobs.take();
    return result;
}

Generation generate(const MonitorOwner& owner, MonitorKind kind, const boost::json::value& object,
                    const MonitorOptions& options, const ReferenceSource& source,
                    GeneratedRules* known) {
    Faults faults;
    const ObjectView metadata = ObjectView(&object, "", faults)["metadata"];
    const boost::json::object* const members = object.if_object();
    const MonitorParts parts{.object_namespace = metadata.text("namespace"),
                             .name = metadata.text("name"),
                             .is_ending = metadata.has("deletionTimestamp"),
                             .spec = members ? members->if_contains("spec") : nullptr};
    Generation result = generate(owner, kind, parts, options, source, known);
    if (faults.none()) return result;
    result.refusal = faults.first();
    result.jobs.clear();
    return result;
}

std::optional<MonitorKind> monitor_kind_of(std::string_view kind) {
    for (std::size_t i = 0; i < monitor_kind_count; ++i) {
        const auto known = static_cast<MonitorKind>(i);
        if (to_string(known) == kind) return known;
    }
    return std::nullopt;
}

std::string object_name(MonitorKind kind, std::string_view object_namespace,
                        std::string_view name) {
    return std::string(to_string(kind)) + " " + std::string(object_namespace) + "/" +
           std::string(name);
}

}  // namespace k8s_sd::inline v0::detail
