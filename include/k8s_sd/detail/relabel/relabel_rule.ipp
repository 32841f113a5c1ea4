#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/relabel/case_map.hpp"
#include "k8s_sd/detail/relabel/go_regex.hpp"
#include "k8s_sd/detail/relabel/hashes.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/error.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <string.h>  // <cstring> lacks memmem
#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace k8s_sd::inline v0::detail {

namespace {

using Groups = boost::container::small_vector<std::string_view, 8>;

/// Whether the regex is searched in the whole text.
bool is_unanchored(RelabelAction action) {
    return action == RelabelAction::replace_all || action == RelabelAction::labelmap_all;
}

bool has_replacement(RelabelAction action) {
    return action == RelabelAction::replace || action == RelabelAction::labelmap ||
           is_unanchored(action);
}

/// In linear time; std::string_view does not guarantee that.
bool contains(std::string_view text, std::string_view part) {
    if (part.empty() || text.size() < part.size()) return part.empty();
    return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

}  // namespace

CompiledRule::CompiledRule(const RelabelRule& rule, const RelabelOptions& options,
                           PatternBudget& patterns)
    : rule_(&rule), names_(options.names) {
    halt_at_exit();
    validate(rule, options);
    compile_regex(options, patterns);
    compile_templates(options);
    copies_empty_ = rules_of(options.dialect).labelmap_copies_empty_values;
    drops_empty_ = rules_of(options.dialect).drops_what_has_no_label_left;
    compile_selectors(patterns);
    // hashmod() hashes nothing for a single shard.
    const bool hashes = rule.action == RelabelAction::hashmod && rule.modulus != 1;
    if (hashes && rules_of(options.dialect).hashmod_is_md5) {
        try {
            md5_.emplace();
        } catch (const std::runtime_error& e) {
            throw ConfigError("action", "hashmod " + std::string(e.what()) +
                                            " (FIPS mode?); load a provider that has it");
        }
    }
}

/// Compiles the regex even if the action ignores it, to report its errors.
void CompiledRule::compile_regex(const RelabelOptions& options, PatternBudget& patterns) {
    const DialectRules& rules = rules_of(options.dialect);
    const bool unanchored = is_unanchored(rule_->action);
    const bool is_default = rules.takes_dot_star_for_default_regex && means_dot_star(rule_->regex);
    try {
        if (is_default) {
            pattern_ = unanchored ? patterns.pattern(".*", Pattern::Anchors::none)
                                  : patterns.pattern("(.*)");
            return;
        }
        if (rules.compiles_regex_without_anchors) {
            as_written_ = patterns.pattern(rule_->regex, Pattern::Anchors::none);
        }
        pattern_ = patterns.pattern(rule_->regex,
                                    unanchored ? Pattern::Anchors::none : Pattern::Anchors::both);
    } catch (const PatternsTooLarge& e) {
        throw ConfigError("regex", e.what());
    } catch (const std::invalid_argument& e) {
        throw ConfigError("regex", "is not a regular expression of RE2, which has neither "
                                   "look-around nor back-references: " +
                                       std::string(e.what()));
    }
}

void CompiledRule::compile_selectors(PatternBudget& patterns) {
    for (const std::string& selector : rule_->if_) {
        try {
            if_.emplace_back(selector, patterns);
        } catch (const PatternsTooLarge& e) {
            throw ConfigError("if", e.what());
        } catch (const std::invalid_argument& e) {
            throw ConfigError("if", "series selector " + std::string(e.what()));
        }
    }
}

void CompiledRule::compile_templates(const RelabelOptions& options) {
    if (!has_replacement(rule_->action)) return;
    const bool references = rule_->action == RelabelAction::replace &&
                            rules_of(options.dialect).expands_label_references;
    replacement_ =
        Replacement(rule_->replacement, *pattern_,
                    references ? Replacement::References::labels : Replacement::References::none);
    group_count_ = replacement_.group_count();
    if (rule_->action != RelabelAction::replace) return;
    if (rule_->target_label.find('$') == std::string::npos) return;
    target_.emplace(rule_->target_label, *pattern_);
    group_count_ = std::max(group_count_, target_->group_count());
}

bool CompiledRule::apply(MutableLabels& labels, RelabelBudget& budget) const {
    if (!applies(labels, budget)) return rule_->action != RelabelAction::keep;
    return act(labels, budget) && !(drops_empty_ && labels.empty());
}

bool CompiledRule::act(MutableLabels& labels, RelabelBudget& budget) const {
    const auto name_matches = [&](std::string_view name) { return pattern_->matches(name); };
    const auto target = [&] { return labels.get(rule_->target_label); };
    switch (rule_->action) {
        case RelabelAction::replace: replace(labels, budget); return true;
        case RelabelAction::keep: return matches_source(labels, budget);
        case RelabelAction::drop: return !matches_source(labels, budget);
        case RelabelAction::keepequal: return source(labels, budget) == target();
        case RelabelAction::dropequal: return source(labels, budget) != target();
        case RelabelAction::hashmod: hashmod(labels, budget); return true;
        case RelabelAction::lowercase:
        case RelabelAction::uppercase: change_case(labels, budget); return true;
        case RelabelAction::labelmap: labelmap(labels, budget); return true;
        case RelabelAction::labeldrop:
            charge_names(labels, budget);
            labels.erase_if(name_matches);
            return true;
        case RelabelAction::labelkeep:
            charge_names(labels, budget);
            labels.erase_if(std::not_fn(name_matches));
            return true;
        case RelabelAction::replace_all: replace_all(labels, budget); return true;
        case RelabelAction::labelmap_all: labelmap_all(labels, budget); return true;
        case RelabelAction::keep_if_equal: return sources_are_equal(labels);
        case RelabelAction::drop_if_equal: return !sources_are_equal(labels);
        case RelabelAction::keep_if_contains: return target_contains_sources(labels);
        case RelabelAction::drop_if_contains: return !target_contains_sources(labels);
    }
    return true;
}

bool CompiledRule::applies(const MutableLabels& labels, RelabelBudget& budget) const {
    return if_.empty() || std::any_of(if_.begin(), if_.end(), [&](const SeriesSelector& selector) {
               return selector.matches(labels, budget);
           });
}

std::string_view CompiledRule::source(MutableLabels& labels, RelabelBudget& budget) const {
    const std::vector<std::string>& names = rule_->source_labels;
    if (names.empty()) return {};
    if (names.size() == 1) return labels.get(names[0]);
    std::string& text = labels.new_text();
    for (const std::string& name : names) {
        if (&name != &names.front()) text += rule_->separator;
        const std::string_view value = labels.get(name);
        budget.grow(text.size() + value.size());
        text += value;
    }
    budget.make(text.size());
    return text;
}

bool CompiledRule::matches_source(MutableLabels& labels, RelabelBudget& budget) const {
    const std::string_view text = source(labels, budget);
    budget.charge_match(*pattern_, text.size());
    return pattern_->matches(text);
}

void CompiledRule::charge_names(const MutableLabels& labels, RelabelBudget& budget) const {
    const std::span<const MutableLabels::Label> all = labels.labels();
    const std::size_t bytes =
        std::accumulate(all.begin(), all.end(), std::size_t{0},
                        [](std::size_t sum, const auto& label) { return sum + label.name.size(); });
    budget.charge_match(*pattern_, bytes, all.size());
}

void CompiledRule::replace(MutableLabels& labels, RelabelBudget& budget) const {
    Groups groups(group_count_);
    const std::span<std::string_view> all(groups.data(), groups.size());
    const std::string_view text = source(labels, budget);
    budget.charge_match(*pattern_, text.size());
    if (!pattern_->match(text, all)) return;
    std::string_view name = rule_->target_label;
    if (target_) {
        name = target_->expand(all, labels, budget);
        if (!is_label_name(name, names_)) return;
    }
    budget.set(labels, name, replacement_.expand(all, labels, budget));
}

/// Appends the text with each match of the regex replaced.
void CompiledRule::append_replaced(std::string& result, std::string_view text,
                                   const MutableLabels& labels, RelabelBudget& budget) const {
    const auto append = [&](std::span<const std::string_view> groups, std::string& to) {
        replacement_.append_to(to, groups, labels, budget);
        // The next search may scan the rest of the text.
        const auto at = static_cast<std::size_t>(groups[0].data() - text.data());
        budget.charge_match(*pattern_, text.size() - at);
    };
    pattern_->replace_all(text, group_count_, append, result);
    budget.make(result.size());
}

void CompiledRule::replace_all(MutableLabels& labels, RelabelBudget& budget) const {
    const std::string_view before = source(labels, budget);
    std::string& after = labels.new_text();
    budget.charge_match(*pattern_, before.size());
    append_replaced(after, before, labels, budget);
    if (after != before) budget.set(labels, rule_->target_label, after);
}

std::uint64_t CompiledRule::hash(std::string_view text) const {
    return md5_ ? (*md5_)(text) : xxh64(text);
}

void CompiledRule::hashmod(MutableLabels& labels, RelabelBudget& budget) const {
    const std::string_view hashed = source(labels, budget);
    // prometheus-operator makes such a rule for an owner with a single shard.
    const std::uint64_t number = rule_->modulus == 1 ? 0 : hash(hashed) % rule_->modulus;
    // vmagent prints signed numbers, a difference for a modulus above 2^63.
    budget.set(labels, rule_->target_label,
               labels.copy(md5_ ? std::to_string(number) : std::to_string(std::int64_t(number))));
}

void CompiledRule::change_case(MutableLabels& labels, RelabelBudget& budget) const {
    const std::string_view before = source(labels, budget);
    std::string& after = labels.new_text();
    if (rule_->action == RelabelAction::uppercase) {
        append_upper(after, before);
    } else {
        append_lower(after, before);
    }
    budget.make(after.size());
    budget.set(labels, rule_->target_label, after);
}

void CompiledRule::labelmap(MutableLabels& labels, RelabelBudget& budget) const {
    struct Copy {
        std::string_view to, value;
    };
    boost::container::small_vector<Copy, 32> copies;
    Groups groups(std::max<std::size_t>(group_count_, 1));
    const std::span<std::string_view> all(groups.data(), groups.size());
    charge_names(labels, budget);
    for (const auto& [name, value] : labels.labels()) {
        if ((value.empty() && !copies_empty_) || !pattern_->match(name, all)) continue;
        std::string_view to;
        if (groups[0].size() == name.size()) {
            to = replacement_.expand(all, labels, budget);
        } else {  // a regex with escaped anchors can match a part of the name
            std::string& text = labels.new_text();
            append_replaced(text, name, labels, budget);
            to = text;
        }
        if (is_label_name(to, names_)) copies.push_back({to, value});
    }
    for (const Copy& copy : copies) budget.set(labels, copy.to, copy.value);
}

void CompiledRule::labelmap_all(MutableLabels& labels, RelabelBudget& budget) const {
    struct Renamed {
        std::string_view to, value;
    };
    std::vector<Renamed> all;
    boost::unordered_flat_map<std::string_view, std::string_view, SeededHash> values;
    charge_names(labels, budget);
    for (const auto& [name, value] : labels.labels()) {
        std::string& text = labels.new_text();
        append_replaced(text, name, labels, budget);
        if (text.empty()) continue;
        const std::string_view to = is_label_name(text, names_) ? std::string_view(text) : name;
        all.push_back({to, value});
        if (!value.empty()) values[to] = value;
    }
    labels.erase_if([](std::string_view) { return true; });
    for (const Renamed& label : all) {
        const auto found = values.find(label.to);
        if (found == values.end()) {
            labels.set(label.to, "");
        } else if (!label.value.empty()) {  // a blank does not take another label's slot
            labels.set(label.to, found->second);
        }
    }
}

bool CompiledRule::sources_are_equal(const MutableLabels& labels) const {
    const std::string_view first = labels.get(rule_->source_labels.front());
    return std::all_of(rule_->source_labels.begin(), rule_->source_labels.end(),
                       [&](const std::string& name) { return labels.get(name) == first; });
}

bool CompiledRule::target_contains_sources(const MutableLabels& labels) const {
    const std::string_view target = labels.get(rule_->target_label);
    return std::all_of(rule_->source_labels.begin(), rule_->source_labels.end(),
                       [&](const std::string& name) { return contains(target, labels.get(name)); });
}

}  // namespace k8s_sd::inline v0::detail
