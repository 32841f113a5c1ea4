#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace k8s_sd::inline v0::detail {

namespace {

/// The actions with requirements; any other one is left to Prometheus, as in the operator.
struct ActionTraits {
    std::string_view name;
    bool needs_target = false;
    bool no_replacement = false;      ///< other than the default
    bool sources_and_target = false;  ///< no other field
    bool regex_only = false;
    std::uint64_t since = 0;  ///< minor version of Prometheus 2
};

constexpr std::array<ActionTraits, 9> action_traits{{
    {.name = "replace", .needs_target = true},
    {.name = "hashmod", .needs_target = true},
    {.name = "lowercase", .needs_target = true, .no_replacement = true, .since = 36},
    {.name = "uppercase", .needs_target = true, .no_replacement = true, .since = 36},
    {.name = "keepequal",
     .needs_target = true,
     .no_replacement = true,
     .sources_and_target = true,
     .since = 41},
    {.name = "dropequal",
     .needs_target = true,
     .no_replacement = true,
     .sources_and_target = true,
     .since = 41},
    {.name = "labelmap"},
    {.name = "labeldrop", .regex_only = true},
    {.name = "labelkeep", .regex_only = true},
}};

constexpr std::string_view default_separator = ";";
constexpr std::string_view default_regex = "(.*)";
constexpr std::string_view default_replacement = "$1";

/// A rule in the spelling of the CRDs.
class UserRule {
 public:
    UserRule(const ObjectView& rule, const JobContext& context)
        : rule_(rule),
          version_(context.owner.version),
          patterns_(context.patterns),
          action_(lower_case(rule.text("action"))) {
        if (action_.empty()) action_ = "replace";
    }

    void check() const {
        check_regex();
        const auto* traits = std::find_if(action_traits.begin(), action_traits.end(),
                                          [&](const auto& t) { return t.name == action_; });
        if (traits == action_traits.end()) return;
        if (!at_least(version_, 2, traits->since)) {
            refuse("action '" + action_ + "' needs Prometheus 2." + std::to_string(traits->since),
                   "remove the rule, or raise the owner's version");
        }
        if (traits->needs_target) check_target();
        if (traits->no_replacement && is_set("replacement", default_replacement)) {
            refuse("action '" + action_ + "' takes no replacement", "remove the replacement");
        }
        if (traits->sources_and_target) check_sources_and_target_only();
        if (traits->regex_only) check_regex_only();
        check_specialities();
    }

 private:
    void refuse(const std::string& problem, std::string remedy) const {
        rule_.refuse(problem, std::move(remedy));
    }
    /// Whether a text is there and differs from the default of Prometheus.
    bool is_set(std::string_view key, std::string_view default_text) const {
        return rule_.has(key) && rule_.text(key) != default_text;
    }

    void check_regex() const {
        try {
            patterns_.pattern(std::string(rule_.text("regex")));
        } catch (const PatternsTooLarge& e) {
            refuse(std::string("the regular expressions of this object are too large: ") + e.what(),
                   "split the object, or use simpler expressions");
        } catch (const std::invalid_argument& e) {
            refuse(std::string("invalid regex: ") + e.what(),
                   "correct the regular expression (RE2 syntax)");
        }
    }
    void check_target() const {
        const std::string_view target = rule_.text("targetLabel");
        if (target.empty()) {
            refuse("action '" + action_ + "' needs a targetLabel", "add targetLabel");
        } else if (!is_label_name_for(target, version_)) {
            refuse("'" + std::string(target) + "' is an invalid targetLabel",
                   "use letters, digits and '_', not starting with a digit");
        }
    }
    void check_sources_and_target_only() const {
        if (is_set("separator", default_separator) || has_modulus() ||
            (is_set("regex", default_regex) && !rule_.text("regex").empty())) {
            refuse("action '" + action_ + "' takes sourceLabels and targetLabel only",
                   "remove the other fields");
        }
    }
    void check_regex_only() const {
        if (!rule_.items("sourceLabels").empty() || !rule_.text("targetLabel").empty() ||
            has_modulus() || is_set("separator", default_separator) ||
            is_set("replacement", default_replacement)) {
            refuse("action '" + action_ + "' takes a regex only", "remove the other fields");
        }
    }
    void check_specialities() const {
        if (action_ == "hashmod" && !has_modulus()) {
            refuse("action 'hashmod' needs a modulus above 0", "add modulus");
        }
        if (action_ == "labelmap" && rule_.has("replacement") &&
            !is_label_name_for(rule_.text("replacement"), version_)) {
            refuse("'" + std::string(rule_.text("replacement")) + "' is an invalid replacement",
                   "use a valid label name");
        }
    }
    bool has_modulus() const { return rule_.number("modulus").value_or(0) != 0; }

    const ObjectView& rule_;
    const MonitorVersion& version_;
    PatternBudget& patterns_;
    std::string action_;
};

JobObject user_rule(const ObjectView& rule) {
    JobObject result;
    const std::vector<std::string> sources = rule.texts("sourceLabels");
    if (!sources.empty()) put_texts(result, "source_labels", sources);
    if (rule.has("separator")) put_text(result, "separator", rule.text("separator"));
    put_nonempty(result, "target_label", rule.text("targetLabel"));
    put_nonempty(result, "regex", rule.text("regex"));
    if (const auto modulus = rule.number("modulus").value_or(0)) put(result, "modulus", modulus);
    if (rule.has("replacement")) put_text(result, "replacement", rule.text("replacement"));
    put_nonempty(result, "action", lower_case(rule.text("action")));
    return result;
}

JobObject built_in_rule(const BuiltInRule& rule) {
    JobObject result;
    put_nonempty(result, "action", rule.action);
    if (!rule.sources.empty()) {
        put(result, "source_labels", boost::json::array(rule.sources.begin(), rule.sources.end()));
    }
    put_nonempty(result, "separator", rule.separator);
    if (rule.regex) put_text(result, "regex", *rule.regex);
    if (rule.modulus != 0) put(result, "modulus", rule.modulus);
    put_nonempty(result, "target_label", rule.target);
    if (rule.replacement) put_text(result, "replacement", *rule.replacement);
    return result;
}

/// A generated rule, with views of its fields.
BuiltInRule rule_in(const boost::json::object& fields) {
    const auto text = [&](std::string_view key) -> std::optional<std::string_view> {
        const boost::json::value* const field = fields.if_contains(key);
        return field ? std::optional<std::string_view>(field->get_string()) : std::nullopt;
    };
    const boost::json::value* const sources = fields.if_contains("source_labels");
    const boost::json::value* const modulus = fields.if_contains("modulus");
    return {.action = text("action").value_or(""),
            .sources = sources ? RuleSources(sources->get_array()) : RuleSources(),
            .separator = text("separator").value_or(""),
            .regex = text("regex"),
            .target = text("target_label").value_or(""),
            .replacement = text("replacement"),
            .modulus = modulus ? modulus->get_uint64() : 0};
}

std::size_t hash_of(const BuiltInRule& rule) {
    KeyedHash hash(hash_key());
    for (const std::string_view source : rule.sources) hash.add(source);
    return hash.add(rule.action)
        .add(rule.regex.value_or(""))
        .add(rule.target)
        .add(rule.replacement.value_or(""))
        .finish();
}

}  // namespace

RuleTextPtr GeneratedRules::of(const BuiltInRule& rule) {
    const std::size_t hash = hash_of(rule);
    const BuiltIn* const known =
        built_in_.find(hash, [&](const BuiltIn& candidate) { return candidate.rule == rule; });
    if (known) return known->text;
    RuleTextPtr text = std::make_shared<const RuleText>(built_in_rule(rule));
    if (text->bytes <= max_bytes) {
        built_in_.add(hash, {rule_in(text->json.get_object()), text});
    }
    return text;
}

RuleTextPtr GeneratedRules::of(boost::json::value rule) {
    RuleTextPtr text = std::make_shared<const RuleText>(std::move(rule));
    const RuleTextPtr* const known =
        others_.find(text->hash, [&](const RuleTextPtr& r) { return r->json == text->json; });
    if (known) return *known;
    if (text->bytes <= max_bytes) others_.add(text->hash, text);
    return text;
}

void RuleList::add(const BuiltInRule& rule) {
    if (GeneratedRules* const rules = known()) {
        rules_.push_back(rules->of(rule));
    } else {
        add_generated(built_in_rule(rule));
    }
}

void RuleList::add_generated(boost::json::value rule) {
    GeneratedRules* const rules = known();
    rules_.push_back(rules ? rules->of(std::move(rule))
                           : std::make_shared<const RuleText>(std::move(rule)));
}

void RuleList::add_user_rules(const std::vector<ObjectView>& rules) {
    for (const ObjectView& rule : rules) add_generated(user_rule(rule));
}

bool RuleList::has_hashmod() const noexcept {
    return std::any_of(rules_.begin(), rules_.end(), [](const RuleTextPtr& rule) {
        const boost::json::object* fields = rule->json.if_object();
        const boost::json::value* action = fields ? fields->if_contains("action") : nullptr;
        const boost::json::string* name = action ? action->if_string() : nullptr;
        return name != nullptr && *name == "hashmod";
    });
}

void put_target_rules(GeneratedJob& job, RuleList rules) {
    if (rules.empty()) return put(job.config.keys, ScrapeEntry::targets_key, boost::json::array());
    put(job.config.keys, ScrapeEntry::targets_key, nullptr);
    job.config.relabel_configs = rules.take();
}

void put_metric_rules(GeneratedJob& job, RuleList rules) {
    if (rules.empty()) return;
    put(job.config.keys, ScrapeEntry::metrics_key, nullptr);
    job.config.metric_relabel_configs = rules.take();
}

void check_relabelings(const std::vector<ObjectView>& rules, const JobContext& context) {
    for (const ObjectView& rule : rules) {
        // Only the first fault counts, and patterns are expensive.
        if (!context.faults.none()) return;
        UserRule(rule, context).check();
    }
}

bool is_label_name_for(std::string_view name, const MonitorVersion& version) {
    return is_label_name(name, version.major < 3 ? NameValidation::legacy : NameValidation::utf8);
}

}  // namespace k8s_sd::inline v0::detail
