#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/dialect.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a rule does: first Prometheus' actions, then those that only vmagent has. V stands for the
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
    labelmap,   ///< copy each label whose name matches to the name that replacement makes of it
    labeldrop,  ///< delete each label whose name matches
    labelkeep,  ///< delete each label whose name does not match

    replace_all,       ///< target label := V with each occurrence of the regex replaced
    labelmap_all,      ///< in each label's name, replace each occurrence of the regex
    keep_if_equal,     ///< drop the target unless all source labels have one value
    drop_if_equal,     ///< drop the target if all source labels have one value
    keep_if_contains,  ///< drop the target unless the target label contains each source label
    drop_if_contains,  ///< drop the target if the target label contains each source label
};

/// As in `action`: "replace" and so on.
K8S_SD_EXPORT std::string_view to_string(RelabelAction) noexcept;

/// One entry of `relabel_configs`. Which fields an action uses is in docs/guide/relabelling.md.
struct RelabelRule {
    RelabelAction action = RelabelAction::replace;  ///< what the rule does
    std::vector<std::string> source_labels{};       ///< names; their values make V
    std::string separator = ";";                    ///< between these values
    std::string regex = "(.*)";      ///< Go's dialect (RE2); has to match from begin to end
    std::string target_label{};      ///< the label that the rule sets or compares
    std::string replacement = "$1";  ///< a template: `$1` and `${name}` are groups of the regex
    std::uint64_t modulus = 0;       ///< of hashmod
    /// vmagent's `if`: series selectors, e.g. `{app="web",tier!~"a|b"}`; the rule is for label sets
    /// that one of them matches. Where none does, `keep` drops the target, other rules do nothing.
    std::vector<std::string> if_{};
    auto operator<=>(const RelabelRule&) const = default;
};

/// Which names a label may have.
enum class NameValidation : std::uint8_t {
    utf8,    ///< any text that is not empty
    legacy,  ///< [a-zA-Z_][a-zA-Z0-9_]*
};

/// What rules may cost. Text that a rule makes can be longer than the text it is made of, so that a
/// few rules can fill any memory. The defaults are far above real use. Prometheus and vmagent have
/// no such limits.
struct RelabelLimits {
    /// Memory of one compiled regular expression, in bytes; RE2 refuses a larger one.
    std::size_t regex_bytes = std::size_t{8} << 20;
    /// Of the compiled regular expressions of all rules together, each different one once. One of
    /// them counts as 128 at least, and with the bytes of its text. What is compared without RE2
    /// does not count: see docs/guide/relabelling.md.
    std::size_t instructions = std::size_t{32} << 20;
    /// Of one text that a rule makes of a label set: a value, a name, the joined source labels.
    std::size_t text_bytes = std::size_t{1} << 20;
    /// Of all texts that the rules make of one label set, and of the labels that they set.
    std::size_t made_bytes = std::size_t{64} << 20;
    /// Of all regular expressions for one label set: the bytes that each one looks at times its
    /// instructions, which is the most that it can take.
    std::uint64_t regex_steps = 10'000'000'000;
    auto operator<=>(const RelabelLimits&) const = default;
};

/// A rule makes more of a label set than RelabelLimits allow. The text names the rule and the
/// limit.
class K8S_SD_EXPORT RelabelError : public std::length_error {
 public:
    /// \param rule  index
    RelabelError(std::size_t rule, const std::string& problem)
        : std::length_error("relabel_configs[" + std::to_string(rule) + "]: " + problem),
          rule_(rule) {}
    std::size_t rule() const noexcept { return rule_; }  ///< index

 private:
    std::size_t rule_;
};

/// How to read and apply rules.
struct RelabelOptions {
    NameValidation names = NameValidation::utf8;  ///< which names rules may make
    /// LabelDialect::victoriametrics: as vmagent; e.g. `hashmod` uses XXH64, and `{{label}}` in a
    /// replacement stands for the value of that label.
    LabelDialect dialect = LabelDialect::prometheus;
    RelabelLimits limits{};  ///< of the rules, and of what they make
    auto operator<=>(const RelabelOptions&) const = default;
};

/// One step of Relabeler::explain().
struct RelabelStep {
    /// One label that the step changed.
    struct Change {
        std::string label;   ///< name
        std::string before;  ///< empty: was not there
        std::string after;   ///< empty: is gone
        friend bool operator==(const Change&, const Change&) = default;
    };
    std::size_t rule = 0;  ///< index
    /// In words: what was compared with what, and what came of it. Long texts are cut.
    std::string reason;
    std::vector<Change> changes;  ///< empty: the step changed nothing
    bool dropped = false;         ///< the target is gone; no step follows
    bool refused = false;         ///< the rule passes a limit (`reason`); no step follows
};

/// Relabelling rules, compiled once. Immutable; cheap to copy; thread-safe.
/// Rules: Prometheus' and vmagent's documentation of `relabel_config`; their behaviour is
/// reproduced but for the differences that docs/guide/relabelling.md lists.
class K8S_SD_EXPORT Relabeler {
 public:
    Relabeler() = default;  ///< without rules: changes nothing
    /// \throws ConfigError where "relabel_configs[<index>].<field>"; also where the regular
    ///         expressions are larger than the limits
    explicit Relabeler(std::vector<RelabelRule> rules, RelabelOptions = {});

    /// The labels may refer to texts of the rules afterwards: keep this object, or a copy of it,
    /// for as long as you use them.
    /// \returns false if a rule dropped the target; what the labels are then is unspecified.
    /// \throws RelabelError where a rule passes a limit; what the labels are then is unspecified
    bool apply(MutableLabels&) const;
    /// The same, step by step, and slower; ends with the step that drops the target or passes a
    /// limit.
    std::vector<RelabelStep> explain(MutableLabels&) const;

    /// The rules as they were given.
    const std::vector<RelabelRule>& rules() const noexcept;
    /// Whether there are no rules.
    bool empty() const noexcept { return rules().empty(); }

 private:
    class Impl;
    std::shared_ptr<const Impl> impl_;
};

}  // namespace k8s_sd::inline v0
