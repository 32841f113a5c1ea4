#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

RuleList vm_static_rules(const ObjectView& spec, const ObjectView& endpoint,
                         const ObjectView& scrape_class, const JobContext& context) {
    RuleList rules(context);
    if (const std::string_view name = spec.text("jobName"); !name.empty()) {
        rules.set_label("job", name);
    }
    add_vm_user_rules(rules, scrape_class.items("relabelConfigs"));
    add_vm_user_rules(rules, endpoint.items("relabelConfigs"));
    add_vm_last_rules(rules, context);
    return rules;
}

GeneratedJob vm_static_job(std::string name, const ObjectView& spec, const ObjectView& endpoint,
                           const ObjectView& scrape_class, const JobContext& context) {
    const VMCredentials credentials(endpoint, scrape_class, context);
    credentials.check();
    GeneratedJob made{.origin = std::move(name)};
    JobObject& job = made.config.keys;
    put_text(job, "job_name", made.origin);
    put(job, "static_configs",
        boost::json::array{vm_static_config(endpoint.texts("targets"), endpoint["labels"])});
    put_vm_scrape_params(
        job, {.endpoint = endpoint, .spec = spec, .default_timeout = context.owner.scrape_timeout},
        context);
    put_target_rules(made, vm_static_rules(spec, endpoint, scrape_class, context));
    put_vm_metric_relabelings(made, scrape_class.items("metricRelabelConfigs"),
                              endpoint.items("metricRelabelConfigs"), context);
    put_vm_extensions(job, endpoint, context);
    credentials.put(job);
    return made;
}

}  // namespace

void make_vm_static_scrape_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    const ObjectView scrape_class = scrape_class_of(spec, context);
    std::size_t index = 0;
    for (const ObjectView& endpoint : spec.items("targetEndpoints")) {
        std::string origin = job_origin(context.kind, context.object_namespace, context.name) +
                             "/" + std::to_string(index++);
        if (!jobs.add(vm_static_job(std::move(origin), spec, endpoint, scrape_class, context),
                      endpoint)) {
            return;
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
