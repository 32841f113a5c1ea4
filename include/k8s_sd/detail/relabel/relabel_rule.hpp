#pragma once

#include "k8s_sd/detail/relabel/md5.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/replacement.hpp"
#include "k8s_sd/detail/relabel/series_selector.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// By name in any case; nullopt if there is none.
std::optional<RelabelAction> action_from_string(std::string_view name);
std::vector<std::string_view> action_names();

/// Whether an action must not be given this field at all, not even with its default.
bool refuses_regex(RelabelAction) noexcept;

/// Checks everything but what has to be compiled.
/// \throws ConfigError where the field: "target_label"
void validate(const RelabelRule&, const RelabelOptions&);

/// A rule, checked and compiled. Refers to the rule. Immutable, thread-safe.
class CompiledRule {
 public:
    /// \throws ConfigError where the field: "regex"
    CompiledRule(const RelabelRule&, const RelabelOptions&);

    /// \returns false if it drops the target
    bool apply(MutableLabels&) const;
    /// The same with an account of it. See relabel_explain.ipp.
    RelabelStep explain(MutableLabels&) const;

 private:
    void compile_regex(const RelabelOptions&);
    void compile_templates(const RelabelOptions&);
    bool applies(const MutableLabels&) const;
    bool act(MutableLabels&) const;
    std::string_view source(MutableLabels&) const;
    std::uint64_t hash(std::string_view text) const;
    bool sources_are_equal(const MutableLabels&) const;
    bool target_contains_sources(const MutableLabels&) const;
    void append_replaced(std::string&, std::string_view text, const MutableLabels&) const;

    void replace(MutableLabels&) const;
    void replace_all(MutableLabels&) const;
    void hashmod(MutableLabels&) const;
    void change_case(MutableLabels&) const;
    void labelmap(MutableLabels&) const;
    void labelmap_all(MutableLabels&) const;

    std::string matching_selector(const MutableLabels&) const;
    std::string comparison(MutableLabels&) const;
    std::string source_and(MutableLabels&, const std::string& what) const;
    std::string match(std::string_view text) const;
    std::string replace_comparison(MutableLabels&) const;
    std::string matching_names(const MutableLabels&) const;

    const RelabelRule* rule_;
    NameValidation names_;
    std::vector<SeriesSelector> if_;
    std::shared_ptr<const Pattern> pattern_;
    /// Without anchors, where the dialect compiles it so, too: kept for other rules. May be null.
    std::shared_ptr<const Pattern> as_written_;
    Replacement replacement_;            ///< of the actions that use the replacement
    std::optional<Replacement> target_;  ///< of `replace`, if the target label is a template
    std::size_t group_count_ = 0;        ///< that the templates want
    bool copies_empty_ = false;          ///< of `labelmap`: empty values as well
    bool drops_empty_ = false;           ///< what has no label left
    std::optional<Md5> md5_;             ///< of `hashmod`; none: XXH64
};

}  // namespace k8s_sd::inline v0::detail
