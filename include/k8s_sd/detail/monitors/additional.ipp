#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/sharding_rules.hpp"
#include "k8s_sd/error.hpp"

#include <boost/json/parse.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Raw jobs; a fault if the text is no list.
/// \param at  the field of the owner with the text
boost::json::array read_raw_jobs(const std::string& text, const ObjectView& at) {
    constexpr std::string_view remedy = "store a list of scrape configurations in YAML";
    try {
        const YamlValue list = YamlValue::parse(text, at.path());
        if (list.is_null()) return {};
        const std::string json =
            // As the operator, which reads the jobs and writes them again.
            to_json(list, {.max_values = 1'000'000,
                           .max_bytes = std::size_t{16} << 20,
                           .whole_numbers_by_value = true});
        boost::system::error_code error;
        boost::json::parse_options options;
        options.max_depth = 64;
        boost::json::value value = boost::json::parse(json, error, {}, options);
        if (!error && value.is_array()) return std::move(value.as_array());
        at.refuse("is no list", std::string(remedy));
    } catch (const ConfigError& e) {
        at.refuse(e.what(), std::string(remedy));
    }
    return {};
}

void add_additional_sharding(boost::json::object& job, const JobContext& context) {
    boost::json::value* present = job.if_contains("relabel_configs");
    RuleList rules;
    if (present != nullptr && present->is_array()) {
        for (const boost::json::value& rule : present->get_array()) rules.add_generated(rule);
    }
    add_sharding_rules_if_needed(rules, context);
    if (!rules.empty()) put(job, "relabel_configs", to_json(rules.take()));
}

/// Adds the jobs of a text.
void add_raw_jobs(Generation& result, const std::string& text, const ObjectView& at,
                  const JobContext& context) {
    for (boost::json::value& job : read_raw_jobs(text, at)) {
        boost::json::object* config = job.if_object();
        if (config == nullptr) return at.refuse("an entry is no mapping", "correct the list");
        add_additional_sharding(*config, context);
        const boost::json::value* name = config->if_contains("job_name");
        const boost::json::string* text_name = name != nullptr ? name->if_string() : nullptr;
        GeneratedJob& made = result.jobs.emplace_back();
        if (text_name != nullptr) made.origin = std::string(*text_name);
        made.config.keys = std::move(*config);
        made.bytes = generated_bytes(made.config);
        result.bytes += made.bytes;
    }
}

void add_jobs_of_secret(Generation& result, const ObjectView& at, const JobContext& context) {
    const MonitorOwner& owner = context.owner;
    const MonitorReference& reference = *owner.additional_scrape_configs;
    const auto text = owner.additional_optional ? present_value(reference, context)
                                                : required_value(reference, at, context);
    add_raw_jobs(result, text.value_or(""), at, context);
}

}  // namespace

bool has_additional(const MonitorOwner& owner) {
    return owner.additional_scrape_configs || (owner.vm && !owner.vm->inline_scrape_config.empty());
}

Generation generate_additional(const MonitorOwner& owner, const MonitorOptions& options,
                               const ReferenceSource& source) {
    if (!has_additional(owner)) return {};
    Faults faults;
    References references(source, owner);
    PatternBudget patterns(monitor_pattern_limits());
    const JobContext context{.owner = owner,
                             .options = options,
                             .references = references,
                             .faults = faults,
                             .patterns = patterns,
                             .object_namespace = owner.owner_namespace};
    const boost::json::value there = true;
    const ObjectView of_secret(&there, "additionalScrapeConfigs", faults);
    const ObjectView of_owner(&there, "inlineScrapeConfig", faults);
    Generation result;
    if (owner.additional_scrape_configs) add_jobs_of_secret(result, of_secret, context);
    if (owner.vm) add_raw_jobs(result, owner.vm->inline_scrape_config, of_owner, context);
    result.refusal = faults.first();
    result.references = references.requested();
    if (result.refusal) result.jobs.clear();
    return result;
}

}  // namespace k8s_sd::inline v0::detail
