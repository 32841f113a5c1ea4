#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// Makes the job of a VMProbe. Its targets have a former form, `staticConfig` and `ingress`, and
/// the present one, `static` and a list `kubernetes`; all of them count at once.
class VMProbeJob {
 public:
    VMProbeJob(const ObjectView& spec, const JobContext& context)
        : spec_(spec),
          context_(context),
          scrape_class_(scrape_class_of(spec, context)),
          prober_(spec["vmProberSpec"]),
          targets_(spec["targets"]) {}

    void make(JobList& jobs) {
        const VMCredentials credentials(spec_, scrape_class_, context_);
        credentials.check();
        if (prober_.text("url").empty()) {
            prober_["url"].refuse("is missing", "add host:port of the prober");
        }
        GeneratedJob made{.origin =
                              job_origin(context_.kind, context_.object_namespace, context_.name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        const std::string_view path = prober_.text("path");
        put_vm_scrape_params(job,
                             {.endpoint = spec_,
                              .spec = spec_,
                              .path = path.empty() ? std::string_view("/probe") : path,
                              .scheme = prober_.text("scheme"),
                              .module = spec_.text("module")},
                             context_);
        RuleList rules = put_targets(job);
        if (const std::string_view name = spec_.text("jobName"); !name.empty()) {
            rules.set_label("job", name);
        }
        rules.copy_label("__param_target", "instance");
        rules.set_label("__address__", prober_.text("url"));
        add_vm_last_rules(rules, context_);
        put_target_rules(made, std::move(rules));
        const ObjectView none(nullptr, "", context_.faults);
        put_vm_metric_relabelings(made, none.items(), spec_.items("metricRelabelConfigs"),
                                  context_);
        put_vm_extensions(job, spec_, context_);
        credentials.put(job);
        jobs.add(std::move(made), spec_);
    }

 private:
    /// Adds the discoveries of the targets. \returns their rules
    RuleList put_targets(JobObject& job) const {
        RuleList rules(context_);
        const ObjectView fixed =
            targets_.has("static") ? targets_["static"] : targets_["staticConfig"];
        if (fixed) {
            const char* const list = fixed.has("static") ? "static" : "targets";
            put(job, "static_configs",
                boost::json::array{vm_static_config(fixed.texts(list), fixed["labels"])});
            rules.copy_label("__address__", "__param_target");
            add_vm_user_rules(rules, fixed.items("relabelingConfigs"));
        }
        boost::json::array discoveries;
        if (const ObjectView ingress = targets_["ingress"]) {
            discoveries.push_back(add_discovered(rules, ingress, "ingress"));
        }
        for (const ObjectView& discovered : targets_.items("kubernetes")) {
            discoveries.push_back(
                add_discovered(rules, discovered, std::string(discovered.text("role"))));
        }
        if (!fixed && discoveries.empty()) {
            targets_.refuse("has neither static nor kubernetes", "add one of them");
        }
        if (!discoveries.empty()) put(job, "kubernetes_sd_configs", std::move(discoveries));
        return rules;
    }

    JobObject add_discovered(RuleList& rules, const ObjectView& targets,
                             const std::string& role) const {
        if (role != "ingress" && role != "service" && role != "pod" && role != "node") {
            targets["role"].refuse("is no role of a probe", "use ingress, service, pod or node");
        }
        add_vm_selector_rules(rules, targets["selector"], role, context_);
        if (role != "ingress") add_annotation_rules(rules, role);
        add_target_rules(rules, role);
        add_vm_user_rules(rules, targets.items("relabelingConfigs"));
        VMDiscovery discovery{.role = role, .selector = targets["selector"]};
        if (role != "node") {
            discovery.namespaces = vm_namespaces(targets["namespaceSelector"], context_);
        }
        return vm_kubernetes_entry(discovery, context_);
    }

    /// Path and scheme: of the object's annotations, else `/` and `http`.
    static void add_annotation_rules(RuleList& rules, const std::string& role) {
        const std::string prefix = "__meta_kubernetes_" + role;
        for (const auto& [word, otherwise] :
             {std::pair{"path", "/"}, std::pair{"scheme", "http"}}) {
            const std::string target = prefix + "_" + word;
            rules.set_label(target, otherwise);
            rules.copy_label_if_present(
                prefix + "_annotation_operator_victoriametrics_com_probe_" + word, target);
        }
    }

    static void add_target_rules(RuleList& rules, const std::string& role) {
        const std::string prefix = "__meta_kubernetes_" + role;
        rules.add({.action = "replace",
                   .sources = {"__address__"},
                   .separator = ";",
                   .regex = "(.*)",
                   .target = "__tmp_" + role + "_address",
                   .replacement = "$1"});
        rules.add({.action = "replace",
                   .sources = {prefix + "_scheme", "__address__", prefix + "_path"},
                   .separator = ";",
                   .regex = "(.+);(.+);(.+)",
                   .target = "__param_target",
                   .replacement = "${1}://${2}${3}"});
        rules.copy_label("__meta_kubernetes_namespace", "namespace");
        rules.copy_label(prefix + "_name", role);
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
    ObjectView prober_;
    ObjectView targets_;
};

}  // namespace

void make_vm_probe_job(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    VMProbeJob(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
