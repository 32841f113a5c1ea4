#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/variables.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/relabel/relabel_rule_reader.hpp"
#include "k8s_sd/detail/text/did_you_mean.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"

#include <algorithm>
#include <vector>

namespace k8s_sd::inline v0 {

namespace {

using detail::YamlValue;

constexpr std::string_view list_key = "relabel_configs";

class RuleReader {
 public:
    RuleReader(const YamlValue& rule, const RelabelOptions& options)
        : yaml_(rule), options_(options), rules_(detail::rules_of(options.dialect)) {}

    void read() {
        if (yaml_.is_null()) yaml_.fail("a rule is missing; remove the '-' or write one");
        for (const char* key : {"match", "labels"}) {
            if (yaml_.has(key)) yaml_[key].fail("is for action graphite, which is not supported");
        }
        yaml_.allow_only({"action", "source_labels", "separator", "regex", "target_label",
                          "replacement", "modulus", "if"});
        read_action();
        read_texts("source_labels", rule_.source_labels);
        read_text("separator", rule_.separator);
        read_regex();
        read_text("target_label", rule_.target_label);
        read_text("replacement", rule_.replacement);
        if (yaml_.has("modulus")) rule_.modulus = yaml_["modulus"].unsigned_integer();
        read_selectors();
        if (is_about_metrics_) read_metric_name();
    }

    /// Validates the result of read().
    /// \throws ConfigError
    detail::SharedRulePtr check(detail::PatternBudget& patterns) const {
        try {
            return detail::shared_rule(rule_, options_, patterns);
        } catch (const ConfigError& e) {
            yaml_[e.where()].fail(e.problem());
        }
    }

 private:
    bool is_set(const char* key) const {
        return yaml_.has(key) && (rules_.reads_null_as_empty_text || !yaml_[key].is_null());
    }

    void read_text(const char* key, std::string& text) const {
        if (is_set(key)) text = yaml_[key].string();
    }

    void read_texts(const char* key, std::vector<std::string>& texts) const {
        for (const YamlValue& item : yaml_[key].items()) texts.push_back(item.string());
    }

    void read_action() {
        if (!is_set("action")) return;
        const YamlValue value = yaml_["action"];
        const std::string name = detail::lower_case(value.string());
        if (name.empty() && rules_.empty_action_is_default) return;
        if (name == "graphite") {
            value.fail("graphite is not supported; use replace with source_labels [__name__]");
        }
        is_about_metrics_ = name == "keep_metrics" || name == "drop_metrics";
        const auto action =
            detail::action_from_string(is_about_metrics_ ? name.substr(0, 4) : name);
        if (!action) {
            const std::vector<std::string_view> names = detail::action_names();
            value.fail("there is no such action" + detail::did_you_mean(name, names) +
                       "; allowed are " + detail::join(names));
        }
        rule_.action = *action;
    }

    /// vmagent's keep_metrics and drop_metrics select by the metric name.
    void read_metric_name() {
        const std::string name = detail::lower_case(yaml_["action"].string());
        if (!rule_.source_labels.empty()) {
            yaml_["source_labels"].fail("is not for action " + name + "; leave it out");
        }
        if ((!is_set("regex") || rule_.regex.empty()) && rule_.if_.empty()) {
            yaml_["regex"].fail("is missing; action " + name + " needs it, or if");
        }
        rule_.source_labels = {"__name__"};
    }

    /// A list is equivalent to its alternatives.
    void read_regex() {
        if (!is_set("regex")) return;
        const YamlValue value = yaml_["regex"];
        // Even the default value is rejected.
        if (detail::refuses_regex(rule_.action)) {
            value.fail("is not for action " + std::string(to_string(rule_.action)) +
                       "; leave it out");
        }
        if (!value.is_sequence()) {
            rule_.regex = value.string();
            return;
        }
        std::vector<std::string> alternatives;
        read_texts("regex", alternatives);
        rule_.regex = detail::join(alternatives, "|");
    }

    void read_selectors() {
        const YamlValue value = yaml_["if"];
        if (value.is_sequence()) {
            read_texts("if", rule_.if_);
        } else if (!value.is_null()) {
            rule_.if_.push_back(value.string());
        }
    }

    const YamlValue& yaml_;
    const RelabelOptions& options_;
    const detail::DialectRules& rules_;
    RelabelRule rule_;
    bool is_about_metrics_ = false;
};

YamlValue find_list(const YamlValue& document) {
    if (document.is_null() || document.is_sequence()) {
        return document.with_path(std::string(list_key));
    }
    document.allow_only({list_key});
    return document[list_key];
}

}  // namespace

RelabelRules detail::RelabelRuleReader::read(const YamlValue& list, const RelabelOptions& options,
                                             Mistakes& mistakes) {
    RelabelRules rules;
    if (!patterns_) patterns_.emplace(options.limits);
    const auto read_one = [&](const YamlValue& item) {
        RuleReader reader(item, options);
        reader.read();
        const SharedRulePtr compiled = reader.check(*patterns_);
        compiled_.insert(compiled);
        rules.share(compiled->rule());
    };
    mistakes.attempt([&] {
        const std::vector<YamlValue> items = list.items();
        rules.reserve(items.size());
        for (const YamlValue& item : items) mistakes.attempt([&] { read_one(item); });
    });
    return rules;
}

std::vector<RelabelRule> parse_relabel_configs(std::string_view yaml, RelabelOptions options,
                                               const std::string& file_name,
                                               const VariableLookup& variables,
                                               std::size_t max_bytes) {
    const std::string text =
        detail::expand_variables(yaml, options.dialect, variables, file_name, max_bytes);
    detail::Mistakes mistakes;
    const RelabelRules rules = detail::RelabelRuleReader().read(
        find_list(YamlValue::parse(text, file_name)), options, mistakes);
    mistakes.throw_any();
    return {rules.begin(), rules.end()};
}

std::vector<RelabelRule> load_relabel_configs(const std::string& path, RelabelOptions options,
                                              const VariableLookup& variables,
                                              std::size_t max_bytes) {
    return parse_relabel_configs(detail::read_config_file(path, path, max_bytes), options, path,
                                 variables, max_bytes);
}

}  // namespace k8s_sd::inline v0
