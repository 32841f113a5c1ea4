#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/service_discoveries.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

namespace k8s_sd::inline v0::detail {

void make_vm_scrape_config_job(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    const ObjectView scrape_class = scrape_class_of(spec, context);
    const VMCredentials credentials(spec, scrape_class, context);
    credentials.check();
    check_service_discoveries(spec, context);
    GeneratedJob made{.origin = job_origin(context.kind, context.object_namespace, context.name)};
    JobObject& job = made.config.keys;
    put_text(job, "job_name", made.origin);
    put_vm_scrape_params(job, {.endpoint = spec, .spec = spec}, context);
    RuleList rules(context);
    add_vm_user_rules(rules, scrape_class.items("relabelConfigs"));
    add_vm_user_rules(rules, spec.items("relabelConfigs"));
    add_vm_last_rules(rules, context);
    if (!rules.empty()) put_target_rules(made, std::move(rules));
    put_vm_metric_relabelings(made, scrape_class.items("metricRelabelConfigs"),
                              spec.items("metricRelabelConfigs"), context);
    put_vm_extensions(job, spec, context);
    credentials.put(job);
    put_service_discoveries(job, spec, context);
    jobs.add(std::move(made), spec);
}

}  // namespace k8s_sd::inline v0::detail
