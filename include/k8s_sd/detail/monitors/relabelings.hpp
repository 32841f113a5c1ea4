#pragma once

#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/scrape/known_parts.hpp"
#include "k8s_sd/detail/scrape/scrape_entry.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"

#include <boost/json/value.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The source labels of a built-in rule. The compiler refuses more than the maximum.
class RuleSources {
    static constexpr std::size_t max = 3;

 public:
    RuleSources() = default;
    template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) > 0 && sizeof...(Names) <= max) RuleSources(const Names&... names)
        : names_{names...}, count_(sizeof...(Names)) {}
    /// Those of a rule as generated.
    explicit RuleSources(const boost::json::array& names) : count_(names.size()) {
        for (std::size_t i = 0; i < count_; ++i) names_.at(i) = names[i].as_string();
    }
    bool operator==(const RuleSources&) const = default;
    const std::string_view* begin() const noexcept { return names_.data(); }
    const std::string_view* end() const noexcept { return names_.data() + count_; }
    bool empty() const noexcept { return count_ == 0; }

 private:
    std::array<std::string_view, max> names_{};
    std::size_t count_ = 0;
};

/// A built-in relabelling rule, for one call. Missing parts are not generated: Prometheus' defaults
/// apply.
struct BuiltInRule {
    std::string_view action{};
    RuleSources sources{};
    std::string_view separator{};
    std::optional<std::string_view> regex{};
    std::string_view target{};
    std::optional<std::string_view> replacement{};
    std::uint64_t modulus = 0;
    bool operator==(const BuiltInRule&) const = default;
};

/// The rules of recent jobs, for either operator. A thousand monitors have the same rules, apart
/// from those for their selectors: one of each is kept. Bounded. Not thread-safe.
class GeneratedRules {
 public:
    /// A known rule is not made again.
    RuleTextPtr of(const BuiltInRule&);
    /// A rule of an object, a class or an owner, as generated.
    RuleTextPtr of(boost::json::value rule);

 private:
    struct BuiltIn {
        BuiltInRule rule{};  ///< with views of `text`
        RuleTextPtr text{};
    };
    static constexpr std::size_t max_rules = 128;
    static constexpr std::size_t max_bytes = 1024;  ///< of a rule: a hostile one may have megabytes

    // By the hash of the rule.
    RecentParts<BuiltIn> built_in_{max_rules};
    RecentParts<RuleTextPtr> others_{max_rules};
};

/// The list `relabel_configs` or `metric_relabel_configs` of a job.
class RuleList {
 public:
    RuleList() = default;  ///< its rules are not shared
    explicit RuleList(const JobContext& context) : context_(&context) {}

    void add(const BuiltInRule&);
    /// A rule of an object, a class or an owner, as generated.
    void add_generated(boost::json::value rule);
    /// `(source) → target`.
    void copy_label(std::string_view source, std::string_view target) {
        add({.sources = {source}, .target = target});
    }
    /// `(source; (.+)) → target = ${1}`: an absent source leaves the target alone.
    void copy_label_if_present(std::string_view source, std::string_view target) {
        add({.sources = {source}, .regex = "(.+)", .target = target, .replacement = "${1}"});
    }
    /// `→ target = text`.
    void set_label(std::string_view target, std::string_view text) {
        add({.target = target, .replacement = text});
    }
    /// The rules of an object, a class or an owner, in its spelling.
    void add_user_rules(const std::vector<ObjectView>& rules);

    /// Whether a rule has the action `hashmod`.
    bool has_hashmod() const noexcept;
    bool empty() const noexcept { return rules_.empty(); }
    RuleTexts take() { return std::move(rules_); }

 private:
    GeneratedRules* known() const noexcept { return context_ ? context_->known_rules : nullptr; }

    const JobContext* context_ = nullptr;
    RuleTexts rules_;
};

/// Sets `relabel_configs`, even without rules.
void put_target_rules(GeneratedJob&, RuleList);
/// Sets `metric_relabel_configs`, unless there are no rules.
void put_metric_rules(GeneratedJob&, RuleList);

/// Refuses invalid rules of an object, a class or an owner.
void check_relabelings(const std::vector<ObjectView>& rules, const JobContext&);

/// Whether the version of Prometheus accepts a label name: from 3 on any UTF-8.
bool is_label_name_for(std::string_view name, const MonitorVersion&);

}  // namespace k8s_sd::inline v0::detail
