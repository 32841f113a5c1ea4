#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <array>

namespace k8s_sd::inline v0 {

namespace {

using FieldBits = unsigned;
enum Field : FieldBits {
    source_labels = 1,
    separator = 2,
    regex = 4,
    target_label = 8,
    replacement = 16,
    modulus = 32,
};

/// An action's requirements on the fields.
struct ActionRule {
    RelabelAction action;
    std::string_view name;
    std::size_t min_sources = 0;
    bool wants_source = false;  ///< exactly one, if DialectRules::needs_source_labels
    bool if_will_do = false;    ///< `if` may replace that source
    FieldBits required = 0;
    FieldBits refused = 0;  ///< must have their defaults
    FieldBits unused = 0;   ///< also refused if DialectRules::refuses_unused_fields
};

/// In the order of RelabelAction.
constexpr std::array<ActionRule, 17> action_rules{{
    {.action = RelabelAction::replace, .name = "replace", .required = target_label},
    {.action = RelabelAction::keep, .name = "keep", .wants_source = true, .if_will_do = true},
    {.action = RelabelAction::drop, .name = "drop", .wants_source = true, .if_will_do = true},
    {.action = RelabelAction::keepequal,
     .name = "keepequal",
     .required = target_label,
     .refused = regex,
     .unused = modulus | separator | replacement},
    {.action = RelabelAction::dropequal,
     .name = "dropequal",
     .required = target_label,
     .refused = regex,
     .unused = modulus | separator | replacement},
    {.action = RelabelAction::hashmod,
     .name = "hashmod",
     .wants_source = true,
     .required = target_label | modulus},
    {.action = RelabelAction::lowercase,
     .name = "lowercase",
     .wants_source = true,
     .required = target_label,
     .unused = replacement},
    {.action = RelabelAction::uppercase,
     .name = "uppercase",
     .wants_source = true,
     .required = target_label,
     .unused = replacement},
    {.action = RelabelAction::labelmap, .name = "labelmap"},
    {.action = RelabelAction::labeldrop,
     .name = "labeldrop",
     .unused = source_labels | target_label | modulus | separator | replacement},
    {.action = RelabelAction::labelkeep,
     .name = "labelkeep",
     .unused = source_labels | target_label | modulus | separator | replacement},
    {.action = RelabelAction::replace_all,
     .name = "replace_all",
     .min_sources = 1,
     .required = target_label},
    {.action = RelabelAction::labelmap_all, .name = "labelmap_all"},
    {.action = RelabelAction::keep_if_equal,
     .name = "keep_if_equal",
     .min_sources = 2,
     .refused = target_label | regex},
    {.action = RelabelAction::drop_if_equal,
     .name = "drop_if_equal",
     .min_sources = 2,
     .refused = target_label | regex},
    {.action = RelabelAction::keep_if_contains,
     .name = "keep_if_contains",
     .min_sources = 1,
     .required = target_label,
     .refused = regex},
    {.action = RelabelAction::drop_if_contains,
     .name = "drop_if_contains",
     .min_sources = 1,
     .required = target_label,
     .refused = regex},
}};

constexpr bool are_in_order(const std::array<ActionRule, 17>& rules) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].action != static_cast<RelabelAction>(i)) return false;
    }
    return true;
}
static_assert(are_in_order(action_rules));

const ActionRule& rule_of(RelabelAction action) {
    return action_rules[static_cast<std::size_t>(action)];
}

class Validator {
 public:
    Validator(const RelabelRule& rule, const RelabelOptions& options)
        : rule_(rule),
          options_(options),
          dialect_(detail::rules_of(options.dialect)),
          action_(rule_of(rule.action)) {}

    void run() const {
        check_presence();
        check_absence();
        check_source_labels();
        check_target_label();
        if (rule_.action != RelabelAction::labelmap) return;
        if (rule_.replacement.empty() && !dialect_.refuses_nameless_labels) return;
        check_template("replacement", rule_.replacement);
    }

 private:
    [[noreturn]] void fail(const std::string& field, const std::string& problem) const {
        throw ConfigError(field, problem);
    }

    void check_presence() const {
        const std::string needed = "is missing; action " + std::string(action_.name) + " needs it";
        if ((action_.required & target_label) && rule_.target_label.empty()) {
            fail("target_label", needed);
        }
        if ((action_.required & modulus) && rule_.modulus == 0) {
            fail("modulus", "must be 1 or more; action hashmod needs it");
        }
        if (rule_.source_labels.size() < min_sources()) {
            fail("source_labels", "action " + std::string(action_.name) + " needs " +
                                      (action_.min_sources == 2 ? "two or more" : "one or more"));
        }
    }

    std::size_t min_sources() const {
        const bool wants_one = action_.wants_source && dialect_.needs_source_labels &&
                               !(action_.if_will_do && !rule_.if_.empty());
        return wants_one ? 1 : action_.min_sources;
    }

    void check_absence() const {
        FieldBits refused = action_.refused;
        if (dialect_.refuses_unused_fields) refused |= action_.unused;
        static const detail::Immortal<const RelabelRule> defaults;
        const auto check = [&](Field field, const char* name, auto member) {
            if (!(refused & field) || rule_.*member == (*defaults).*member) return;
            fail(name, "is not for action " + std::string(action_.name) + "; leave it out");
        };
        check(source_labels, "source_labels", &RelabelRule::source_labels);
        check(separator, "separator", &RelabelRule::separator);
        check(regex, "regex", &RelabelRule::regex);
        check(target_label, "target_label", &RelabelRule::target_label);
        check(replacement, "replacement", &RelabelRule::replacement);
        check(modulus, "modulus", &RelabelRule::modulus);
    }

    /// Accepts names that the scheme `legacy` cannot produce, because rules may still read them.
    void check_source_labels() const {
        for (const std::string& label : rule_.source_labels) {
            if (label.empty() && dialect_.refuses_nameless_labels) {
                fail("source_labels", "a label name must not be empty");
            }
            if (!detail::is_utf8(label)) fail("source_labels", "a label name must be UTF-8");
        }
    }

    void check_target_label() const {
        if (!(action_.required & target_label)) return;
        const std::string& label = rule_.target_label;
        const bool may_be_template = rule_.action == RelabelAction::replace;
        if (may_be_template && label.find('$') != std::string::npos) {
            check_template("target_label", label);
        } else if (!detail::is_label_name(label, options_.names)) {
            fail("target_label", "is no label name; allowed is " + allowed_name());
        }
    }

    void check_template(const std::string& field, const std::string& text) const {
        if (detail::is_label_name_template(text, options_.names)) return;
        const bool legacy = options_.names == NameValidation::legacy;
        fail(field, "cannot make label names; allowed is " + allowed_name() +
                        (legacy ? " with $1, ${1} or ${name} in it" : ""));
    }

    std::string allowed_name() const {
        return options_.names == NameValidation::legacy
                   ? "[a-zA-Z_][a-zA-Z0-9_]* (legacy name validation)"
                   : "UTF-8 that is not empty";
    }

    const RelabelRule& rule_;
    const RelabelOptions& options_;
    const detail::DialectRules& dialect_;
    const ActionRule& action_;
};

}  // namespace

std::string_view to_string(RelabelAction action) noexcept { return rule_of(action).name; }

namespace detail {

std::optional<RelabelAction> action_from_string(std::string_view name) {
    const auto* rule = std::find_if(action_rules.begin(), action_rules.end(),
                                    [&](const auto& r) { return r.name == lower_case(name); });
    if (rule == action_rules.end()) return std::nullopt;
    return rule->action;
}

std::vector<std::string_view> action_names() {
    std::vector<std::string_view> names(action_rules.size());
    std::transform(action_rules.begin(), action_rules.end(), names.begin(),
                   [](const ActionRule& rule) { return rule.name; });
    return names;
}

bool refuses_regex(RelabelAction action) noexcept { return rule_of(action).refused & regex; }

void validate(const RelabelRule& rule, const RelabelOptions& options) {
    Validator(rule, options).run();
}

}  // namespace detail

}  // namespace k8s_sd::inline v0
