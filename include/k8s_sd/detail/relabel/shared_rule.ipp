#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstddef>
#include <mutex>

namespace k8s_sd::inline v0::detail {

namespace {

std::size_t hash_of(const RelabelRule& rule) noexcept {
    KeyedHash hash(hash_key());
    const char action = static_cast<char>(rule.action);
    hash.add({&action, 1});
    for (const std::string& name : rule.source_labels) hash.add(name);
    hash.add(rule.separator).add(rule.regex).add(rule.target_label).add(rule.replacement);
    for (const std::string& selector : rule.if_) hash.add(selector);
    return hash.finish();
}

/// Contains the rules in use, and expired entries until the next cleanup.
class RuleTable {
 public:
    /// \returns null if there is none
    SharedRulePtr find(std::size_t hash, const RelabelRule& rule, const RelabelOptions& options) {
        const std::lock_guard lock(mutex_);
        const auto found = rules_.find(hash);
        SharedRulePtr known = found == rules_.end() ? nullptr : found->second.lock();
        return known && known->is_of(rule, options) ? known : nullptr;
    }
    /// Replaces another rule with the same hash: rules that differ in the modulus or the options.
    void add(std::size_t hash, const SharedRulePtr& rule) {
        const std::lock_guard lock(mutex_);
        rules_[hash] = rule;
        if (rules_.size() >= next_sweep_) sweep();
    }

 private:
    void sweep() {
        boost::unordered::erase_if(rules_, [](const auto& r) { return r.second.expired(); });
        next_sweep_ = std::max(min_sweep, 2 * rules_.size());
    }

    static constexpr std::size_t min_sweep = 64;

    std::mutex mutex_;
    boost::unordered_flat_map<std::size_t, std::weak_ptr<const SharedRule>> rules_;
    std::size_t next_sweep_ = min_sweep;
};

}  // namespace

SharedRule::SharedRule(const RelabelRule& rule, const RelabelOptions& options,
                       PatternBudget& patterns)
    : rule_(rule), options_(options) {
    patterns.record(&patterns_);
    try {
        compiled_.emplace(rule_, options, patterns);
    } catch (...) {
        patterns.record(nullptr);
        throw;
    }
    patterns.record(nullptr);
}

bool SharedRule::is_of(const RelabelRule& rule, const RelabelOptions& options) const {
    // The patterns depend on one limit only.
    return options.names == options_.names && options.dialect == options_.dialect &&
           options.limits.regex_bytes == options_.limits.regex_bytes && rule == rule_;
}

SharedRulePtr shared_rule(const RelabelRule& rule, const RelabelOptions& options,
                          PatternBudget& patterns) {
    static const Immortal<RuleTable> table;
    const std::size_t hash = hash_of(rule);
    // Rules beyond the limit are compiled, for the error.
    SharedRulePtr known = table->find(hash, rule, options);
    if (known && patterns.count(known->patterns())) return known;
    auto compiled = std::make_shared<const SharedRule>(rule, options, patterns);
    table->add(hash, compiled);
    return compiled;
}

}  // namespace k8s_sd::inline v0::detail
