#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/shared_values.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

class TargetBuilder;

/// The action of a rule: Prometheus' actions first, then those of vmagent only. V stands for the
/// values of the source labels, joined with the separator.
enum class RelabelAction : std::uint8_t {
    replace,    ///< target label := replacement, if the regex matches V
    keep,       ///< drop the target unless the regex matches V
    drop,       ///< drop the target if the regex matches V
    keepequal,  ///< drop the target unless the target label's value is V
    dropequal,  ///< drop the target if the target label's value is V
    hashmod,    ///< target label := hash of V modulo modulus
    lowercase,  ///< target label := V in lower case
    uppercase,  ///< target label := V in upper case
    labelmap,   ///< copy each label with a matching name to the name made by the replacement
    labeldrop,  ///< delete each label with a matching name
    labelkeep,  ///< delete each label without a matching name

    replace_all,       ///< target label := V with each occurrence of the regex replaced
    labelmap_all,      ///< in each label's name, replace each occurrence of the regex
    keep_if_equal,     ///< drop the target unless all source labels have one value
    drop_if_equal,     ///< drop the target if all source labels have one value
    keep_if_contains,  ///< drop the target unless the target label contains each source label
    drop_if_contains,  ///< drop the target if the target label contains each source label
};

/// The name as in `action`: "replace" and so on.
K8S_SD_EXPORT std::string_view to_string(RelabelAction) noexcept;

/// One entry of `relabel_configs`. docs/guide/relabelling.md lists the fields used by each action.
struct RelabelRule {
    RelabelAction action = RelabelAction::replace;  ///< the rule's action
    std::vector<std::string> source_labels{};       ///< names; V joins their values
    std::string separator = ";";                    ///< between these values
    std::string regex = "(.*)";      ///< Go's dialect (RE2); must match the whole text
    std::string target_label{};      ///< the label set or compared by the rule
    std::string replacement = "$1";  ///< a template: `$1` and `${name}` are groups of the regex
    std::uint64_t modulus = 0;       ///< for hashmod
    /// vmagent's `if`: series selectors, e.g. `{app="web",tier!~"a|b"}`; the rule applies to label
    /// sets matched by any of them. Without a match `keep` drops the target, and other rules do
    /// nothing.
    std::vector<std::string> if_{};
    auto operator<=>(const RelabelRule&) const = default;
};

/// An immutable rule, shared by lists. Never null.
using RelabelRulePtr = std::shared_ptr<const RelabelRule>;

/// A list of rules, made of a vector of rules. Lists that are read from configurations share equal
/// rules: a thousand jobs with the same rules have one of each.
using RelabelRules = SharedList<RelabelRule>;

/// The names allowed for labels.
enum class NameValidation : std::uint8_t {
    utf8,    ///< any non-empty text
    legacy,  ///< [a-zA-Z_][a-zA-Z0-9_]*
};

/// Limits of the cost of rules. A rule's result can be longer than its input, so a few rules can
/// exhaust any memory. The defaults are far above real use. Prometheus and vmagent have no such
/// limits.
struct RelabelLimits {
    /// Memory of one compiled regular expression, in bytes; RE2 refuses a larger one.
    std::size_t regex_bytes = std::size_t{8} << 20;
    /// Total number of instructions in the distinct compiled regular expressions of all rules. Each
    /// counts as at least 128, plus the bytes of its text. Patterns compared without RE2 do not
    /// count: see docs/guide/relabelling.md.
    std::size_t instructions = std::size_t{32} << 20;
    /// Bytes of one string made by a rule: a value, a name, the joined source labels.
    std::size_t text_bytes = std::size_t{1} << 20;
    /// Total bytes of the strings made and of the labels set for one label set.
    std::size_t made_bytes = std::size_t{64} << 20;
    /// Steps of all regular expressions for one label set: for each, the bytes searched times its
    /// number of instructions, an upper bound of the actual cost.
    std::uint64_t regex_steps = 10'000'000'000;
    auto operator<=>(const RelabelLimits&) const = default;
};

/// A rule exceeds RelabelLimits for a label set. The text names the rule and the limit.
class K8S_SD_EXPORT RelabelError : public std::length_error {
 public:
    /// \param rule  index of the rule
    RelabelError(std::size_t rule, const std::string& problem)
        : std::length_error("relabel_configs[" + std::to_string(rule) + "]: " + problem),
          rule_(rule) {}
    std::size_t rule() const noexcept { return rule_; }  ///< index

 private:
    std::size_t rule_;
};

/// How to read and apply rules.
struct RelabelOptions {
    NameValidation names = NameValidation::utf8;  ///< names allowed for labels set by rules
    /// LabelDialect::victoriametrics: as in vmagent; e.g. `hashmod` uses XXH64, and `{{label}}` in
    /// a replacement stands for the label's value.
    LabelDialect dialect = LabelDialect::prometheus;
    RelabelLimits limits{};  ///< limits of the rules and of their results
    auto operator<=>(const RelabelOptions&) const = default;
};

/// One step of Relabeler::explain().
struct RelabelStep {
    /// One label changed by the step.
    struct Change {
        std::string label;   ///< name
        std::string before;  ///< empty: absent before
        std::string after;   ///< empty: absent after
        friend bool operator==(const Change&, const Change&) = default;
    };
    std::size_t rule = 0;  ///< index
    /// In words: the compared values and the result. Long texts are truncated.
    std::string reason;
    std::vector<Change> changes;  ///< empty: the step changed nothing
    bool dropped = false;         ///< the target is dropped; no step follows
    bool refused = false;         ///< the rule exceeds a limit (`reason`); no step follows
};

/// Relabelling rules, compiled once. Immutable; cheap to copy; thread-safe.
/// Follows Prometheus' and vmagent's documentation of `relabel_config` and reproduces the behaviour
/// of both programs, with the differences listed in docs/guide/relabelling.md.
class K8S_SD_EXPORT Relabeler {
 public:
    Relabeler() = default;  ///< without rules: changes nothing
    /// \throws ConfigError with "relabel_configs[<index>].<field>" as where(); also for regular
    ///         expressions beyond the limits
    explicit Relabeler(RelabelRules rules, RelabelOptions = {});

    /// Afterwards the labels may refer to strings of the rules: keep this object, or a copy of it,
    /// as long as they are in use.
    /// \returns false if a rule dropped the target; the labels are unspecified in this case
    /// \throws RelabelError if a rule exceeds a limit; the labels are unspecified in this case
    bool apply(MutableLabels&) const;
    /// The same, step by step, and slower; the last step is the one dropping the target or
    /// exceeding a limit.
    std::vector<RelabelStep> explain(MutableLabels&) const;

    /// The rules passed to the constructor.
    const RelabelRules& rules() const noexcept;
    /// Whether there are no rules.
    bool empty() const noexcept { return rules().empty(); }

 private:
    friend class TargetBuilder;
    using Rules = std::shared_ptr<const RelabelRules>;
    class Impl;

    Relabeler(Rules rules, const RelabelOptions&);

    std::shared_ptr<const Impl> impl_;
};

}  // namespace k8s_sd::inline v0
