#pragma once

#include "k8s_sd/detail/relabel/hashes.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/relabel_budget.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class Pattern;
class RelabelBudget;

/// A template such as `${1}-$name`, compiled for a pattern with its groups, by Go's rules
/// (Regexp.Expand).
class Replacement {
 public:
    enum class References {
        none,
        labels,  ///< vmagent: `{{name}}` is the value of the label
    };
    Replacement() = default;
    Replacement(std::string_view text, const Pattern&, References = References::none);

    /// The number of groups expand() needs, including the match itself.
    std::size_t group_count() const noexcept { return group_count_; }
    /// The result may be a view of the template, a group or the labels. A composed text is counted.
    std::string_view expand(std::span<const std::string_view> groups, MutableLabels&,
                            RelabelBudget&) const;
    /// The caller counts the text; this only enforces the length limit.
    void append_to(std::string&, std::span<const std::string_view> groups, const MutableLabels&,
                   const RelabelBudget&) const;

 private:
    struct Part {
        enum class Kind { literal, group, label } kind;
        std::string text;                   ///< a literal, or a label name
        std::vector<std::size_t> groups{};  ///< candidates; the first matched one is used
    };

    void add_literal(std::string_view text);
    void add_groups(std::string_view text, const Pattern&);
    void add_group(std::string_view name, const Pattern&);
    static std::string_view value(const Part&, std::span<const std::string_view> groups,
                                  const MutableLabels&);

    std::vector<Part> parts_;
    std::size_t group_count_ = 0;
};

/// A PromQL series selector with vmagent's `or`: `name{a="x",b!~"y|z" or c="w"}`. An absent label
/// has the value "". `{}` matches nothing, as in vmagent. Immutable, thread-safe.
class SeriesSelector {
 public:
    enum class Operator { equal, not_equal, matches, does_not_match };
    struct Condition {
        std::string label;
        Operator op = Operator::equal;
        std::string value;
        std::shared_ptr<const Pattern> pattern{};  ///< for the matching operators
    };
    /// All of these must hold.
    using Conditions = std::vector<Condition>;

    /// \throws std::invalid_argument with the position and the error
    /// \throws PatternsTooLarge
    SeriesSelector(std::string_view text, PatternBudget&);
    /// \throws RelabelLimitReached
    bool matches(const MutableLabels&, RelabelBudget&) const;

 private:
    std::vector<Conditions> alternatives_;
};

/// The action of a name in any case; nullopt: unknown.
std::optional<RelabelAction> action_from_string(std::string_view name);
std::vector<std::string_view> action_names();

/// Whether the action forbids this field even with its default value.
bool refuses_regex(RelabelAction) noexcept;

/// Checks everything except compiled fields.
/// \throws ConfigError with the field: "target_label"
void validate(const RelabelRule&, const RelabelOptions&);

/// A validated and compiled rule, with a reference to the original. Immutable, thread-safe.
class CompiledRule {
 public:
    /// \throws ConfigError with the field: "regex"
    CompiledRule(const RelabelRule&, const RelabelOptions&, PatternBudget&);

    /// \returns false if the rule drops the target
    /// \throws RelabelLimitReached
    bool apply(MutableLabels&, RelabelBudget&) const;
    /// Like apply(), with an explanation; see relabel_explain.ipp.
    /// \param account  charged for the explanation only, so the result equals that of apply()
    /// \throws RelabelLimitReached
    RelabelStep explain(MutableLabels&, RelabelBudget&, RelabelBudget& account) const;

 private:
    void compile_regex(const RelabelOptions&, PatternBudget&);
    void compile_selectors(PatternBudget&);
    void compile_templates(const RelabelOptions&);
    bool applies(const MutableLabels&, RelabelBudget&) const;
    bool act(MutableLabels&, RelabelBudget&) const;
    std::string_view source(MutableLabels&, RelabelBudget&) const;
    /// Whether the regex matches the source.
    bool matches_source(MutableLabels&, RelabelBudget&) const;
    std::uint64_t hash(std::string_view text) const;
    bool sources_are_equal(const MutableLabels&) const;
    bool target_contains_sources(const MutableLabels&) const;
    /// Appends to a text built from these labels, and counts it.
    void append_replaced(std::string&, std::string_view text, const MutableLabels&,
                         RelabelBudget&) const;
    /// Charges a match of the regex against all names.
    void charge_names(const MutableLabels&, RelabelBudget&) const;

    void replace(MutableLabels&, RelabelBudget&) const;
    void replace_all(MutableLabels&, RelabelBudget&) const;
    void hashmod(MutableLabels&, RelabelBudget&) const;
    void change_case(MutableLabels&, RelabelBudget&) const;
    void labelmap(MutableLabels&, RelabelBudget&) const;
    void labelmap_all(MutableLabels&, RelabelBudget&) const;

    std::string account_of(MutableLabels&, RelabelBudget&) const;
    std::string matching_selector(const MutableLabels&, RelabelBudget&) const;
    std::string comparison(MutableLabels&, RelabelBudget&) const;
    std::string source_and(MutableLabels&, RelabelBudget&, const std::string& what) const;
    std::string match(std::string_view text, RelabelBudget&) const;
    std::string replace_comparison(MutableLabels&, RelabelBudget&) const;
    std::string matching_names(const MutableLabels&, RelabelBudget&) const;

    const RelabelRule* rule_;
    NameValidation names_;
    std::vector<SeriesSelector> if_;
    std::shared_ptr<const Pattern> pattern_;
    /// Unanchored, if the dialect compiles that form as well; kept for other rules. May be null.
    std::shared_ptr<const Pattern> as_written_;
    Replacement replacement_;            ///< for actions with a replacement
    std::optional<Replacement> target_;  ///< of `replace`, if the target label is a template
    std::size_t group_count_ = 0;        ///< number of groups used by the templates
    bool copies_empty_ = false;          ///< for `labelmap`: copy empty values, too
    bool drops_empty_ = false;           ///< drop targets without labels
    std::optional<Md5> md5_;             ///< for `hashmod`; none: XXH64
};

/// A compiled rule with the original. Immutable, thread-safe.
class SharedRule {
 public:
    /// \throws ConfigError as CompiledRule
    SharedRule(const RelabelRule&, const RelabelOptions&, PatternBudget&);
    SharedRule(const SharedRule&) = delete;
    SharedRule& operator=(const SharedRule&) = delete;

    const CompiledRule& compiled() const noexcept { return *compiled_; }
    /// For lists of rules.
    const RelabelRulePtr& rule() const noexcept { return rule_; }
    bool is_of(const RelabelRule&, const RelabelOptions&) const;
    const std::vector<UsedPattern>& patterns() const noexcept { return patterns_; }

 private:
    const RelabelRulePtr rule_;
    const RelabelOptions options_;
    std::vector<UsedPattern> patterns_;
    std::optional<CompiledRule> compiled_;
};
using SharedRulePtr = std::shared_ptr<const SharedRule>;

/// Compiles a rule once for all concurrent users: a thousand monitors have the same rules, apart
/// from those for their selectors. Thread-safe.
/// \throws ConfigError as CompiledRule
SharedRulePtr shared_rule(const RelabelRule&, const RelabelOptions&, PatternBudget&);
/// The same for each rule of a list.
/// \throws ConfigError with the place of the field: "relabel_configs[0].regex"
std::vector<SharedRulePtr> shared_rules(const RelabelRules&, const RelabelOptions&, PatternBudget&);

}  // namespace k8s_sd::inline v0::detail
