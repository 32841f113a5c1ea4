#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/error.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Of all that SharedRule::is_of() compares: of rules with equal hashes, only one is shared.
std::size_t hash_of(const RelabelRule& rule, const RelabelOptions& options) noexcept {
    const std::array<std::uint64_t, 7> numbers{static_cast<std::uint64_t>(rule.action),
                                               rule.modulus,
                                               rule.source_labels.size(),
                                               rule.if_.size(),
                                               static_cast<std::uint64_t>(options.names),
                                               static_cast<std::uint64_t>(options.dialect),
                                               options.limits.regex_bytes};
    const auto bytes = std::bit_cast<std::array<char, sizeof numbers>>(numbers);
    KeyedHash hash(hash_key());
    hash.add({bytes.data(), bytes.size()});
    for (const std::string& name : rule.source_labels) hash.add(name);
    hash.add(rule.separator).add(rule.regex).add(rule.target_label).add(rule.replacement);
    for (const std::string& selector : rule.if_) hash.add(selector);
    return hash.finish();
}

/// Contains the rules in use, and expired entries until the next cleanup.
class RuleTable {
 public:
    /// By its address: most rules are those of lists that share them.
    /// \returns null if there is none
    SharedRulePtr find(const RelabelRule& rule, const RelabelOptions& options) {
        const std::lock_guard lock(mutex_);
        const auto found = by_address_.find(&rule);
        if (found == by_address_.end()) return nullptr;
        SharedRulePtr known = found->second.lock();
        return known && known->rule().get() == &rule ? if_equal(std::move(known), rule, options)
                                                     : nullptr;
    }
    /// \returns null if there is none
    SharedRulePtr find(std::size_t hash, const RelabelRule& rule, const RelabelOptions& options) {
        const std::lock_guard lock(mutex_);
        const auto found = rules_.find(hash);
        return found == rules_.end() ? nullptr : if_equal(found->second.lock(), rule, options);
    }
    /// \returns the rule in the table, perhaps added by another thread meanwhile
    SharedRulePtr add(std::size_t hash, SharedRulePtr compiled, const RelabelRule& rule,
                      const RelabelOptions& options) {
        const std::lock_guard lock(mutex_);
        std::weak_ptr<const SharedRule>& place = rules_[hash];
        if (SharedRulePtr other = if_equal(place.lock(), rule, options)) return other;
        place = compiled;
        by_address_.insert_or_assign(compiled->rule().get(), compiled);
        if (by_address_.size() >= next_sweep_) sweep();
        return compiled;
    }

 private:
    static SharedRulePtr if_equal(SharedRulePtr known, const RelabelRule& rule,
                                  const RelabelOptions& options) {
        return known && known->is_of(rule, options) ? std::move(known) : nullptr;
    }
    void sweep() {
        const auto is_expired = [](const auto& r) { return r.second.expired(); };
        boost::unordered::erase_if(rules_, is_expired);
        boost::unordered::erase_if(by_address_, is_expired);
        rules_.rehash(0);  // gives back the memory of a peak
        by_address_.rehash(0);
        next_sweep_ = std::max(min_sweep, 2 * by_address_.size());
    }

    static constexpr std::size_t min_sweep = 64;

    std::mutex mutex_;
    boost::unordered_flat_map<std::size_t, std::weak_ptr<const SharedRule>> rules_;
    /// Not all of these are in `rules_`: only one of those with equal hashes is.
    boost::unordered_flat_map<const RelabelRule*, std::weak_ptr<const SharedRule>> by_address_;
    std::size_t next_sweep_ = min_sweep;
};

}  // namespace

SharedRule::SharedRule(const RelabelRule& rule, const RelabelOptions& options,
                       PatternBudget& patterns)
    : rule_(std::make_shared<const RelabelRule>(rule)), options_(options) {
    patterns.record(&patterns_);
    try {
        compiled_.emplace(*rule_, options, patterns);
    } catch (...) {
        patterns.record(nullptr);
        throw;
    }
    patterns.record(nullptr);
}

bool SharedRule::is_of(const RelabelRule& rule, const RelabelOptions& options) const {
    // The patterns depend on one limit only.
    return options.names == options_.names && options.dialect == options_.dialect &&
           options.limits.regex_bytes == options_.limits.regex_bytes &&
           (&rule == rule_.get() || rule == *rule_);
}

namespace {

/// A system call: of many rules, one looks it up for all.
RuleTable& rule_table() {
    static const Immortal<PerProcess<RuleTable>> tables;
    return tables->get();
}

SharedRulePtr shared_rule(RuleTable& table, const RelabelRule& rule, const RelabelOptions& options,
                          PatternBudget& patterns) {
    // Patterns have the limit of the budget, whatever that of the rule.
    RelabelOptions used = options;
    used.limits.regex_bytes = patterns.max_bytes();
    if (SharedRulePtr known = table.find(rule, used); known && patterns.count(known->patterns())) {
        return known;
    }
    const std::size_t hash = hash_of(rule, used);
    // Rules beyond the limit are compiled, for the error.
    SharedRulePtr known = table.find(hash, rule, used);
    if (known && patterns.count(known->patterns())) return known;
    // Not by make_shared(): the table would keep the memory of an unused rule.
    SharedRulePtr compiled(new SharedRule(rule, used, patterns));
    return table.add(hash, std::move(compiled), rule, used);
}

}  // namespace

SharedRulePtr shared_rule(const RelabelRule& rule, const RelabelOptions& options,
                          PatternBudget& patterns) {
    return shared_rule(rule_table(), rule, options, patterns);
}

std::vector<SharedRulePtr> shared_rules(const RelabelRules& rules, const RelabelOptions& options,
                                        PatternBudget& patterns) {
    RuleTable& table = rule_table();
    std::vector<SharedRulePtr> compiled;
    compiled.reserve(rules.size());
    for (const RelabelRule& rule : rules) {
        try {
            compiled.push_back(shared_rule(table, rule, options, patterns));
        } catch (const ConfigError& e) {
            const std::string index = std::to_string(compiled.size());
            throw ConfigError("relabel_configs[" + index + "]." + e.where(), e.problem());
        }
    }
    return compiled;
}

}  // namespace k8s_sd::inline v0::detail
