#pragma once

#include "k8s_sd/detail/relabel/hashes.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/relabel_budget.hpp"
#include "k8s_sd/detail/relabel/replacement.hpp"
#include "k8s_sd/detail/relabel/series_selector.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

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

}  // namespace k8s_sd::inline v0::detail
