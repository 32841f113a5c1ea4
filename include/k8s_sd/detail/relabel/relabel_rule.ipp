#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/detail/relabel/case_map.hpp"
#include "k8s_sd/detail/relabel/go_regex.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/relabel/xxh64.hpp"
#include "k8s_sd/error.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <functional>
#include <stdexcept>

namespace k8s_sd::inline v0::detail {

namespace {

using Groups = boost::container::small_vector<std::string_view, 8>;

/// Whether the regex is looked for everywhere in the text.
bool is_unanchored(RelabelAction action) {
    return action == RelabelAction::replace_all || action == RelabelAction::labelmap_all;
}

}  // namespace

CompiledRule::CompiledRule(const RelabelRule& rule, const RelabelOptions& options)
    : rule_(&rule), names_(options.names) {
    halt_at_exit();
    validate(rule, options);
    compile_regex(options);
    compile_templates(options);
    copies_empty_ = rules_of(options.dialect).labelmap_copies_empty_values;
    drops_empty_ = rules_of(options.dialect).drops_what_has_no_label_left;
    for (const std::string& selector : rule.if_) {
        try {
            if_.emplace_back(selector);
        } catch (const std::invalid_argument& e) {
            throw ConfigError("if", "series selector " + std::string(e.what()));
        }
    }
    if (rule.action == RelabelAction::hashmod && rules_of(options.dialect).hashmod_is_md5) {
        try {
            md5_.emplace();
        } catch (const std::runtime_error& e) {
            throw ConfigError("action", "hashmod " + std::string(e.what()) +
                                            " (FIPS mode?); load a provider that has it");
        }
    }
}

/// Also where the action does not use it: a mistake is one anywhere.
void CompiledRule::compile_regex(const RelabelOptions& options) {
    const DialectRules& rules = rules_of(options.dialect);
    const bool unanchored = is_unanchored(rule_->action);
    const bool is_default = rules.takes_dot_star_for_default_regex && means_dot_star(rule_->regex);
    try {
        if (is_default) {
            pattern_ =
                unanchored ? shared_pattern(".*", Pattern::Anchors::none) : shared_pattern("(.*)");
            return;
        }
        if (rules.compiles_regex_without_anchors) {
            as_written_ = shared_pattern(rule_->regex, Pattern::Anchors::none);
        }
        pattern_ = shared_pattern(rule_->regex,
                                  unanchored ? Pattern::Anchors::none : Pattern::Anchors::both);
    } catch (const std::invalid_argument& e) {
        throw ConfigError("regex", "is no regular expression of RE2, which has neither "
                                   "look-around nor back-references: " +
                                       std::string(e.what()));
    }
}

void CompiledRule::compile_templates(const RelabelOptions& options) {
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

bool CompiledRule::apply(MutableLabels& labels) const {
    if (!applies(labels)) return rule_->action != RelabelAction::keep;
    return act(labels) && !(drops_empty_ && labels.empty());
}

bool CompiledRule::act(MutableLabels& labels) const {
    const auto name_matches = [&](std::string_view name) { return pattern_->matches(name); };
    switch (rule_->action) {
        case RelabelAction::replace: replace(labels); return true;
        case RelabelAction::keep: return pattern_->matches(source(labels));
        case RelabelAction::drop: return !pattern_->matches(source(labels));
        case RelabelAction::keepequal: return source(labels) == labels.get(rule_->target_label);
        case RelabelAction::dropequal: return source(labels) != labels.get(rule_->target_label);
        case RelabelAction::hashmod: hashmod(labels); return true;
        case RelabelAction::lowercase:
        case RelabelAction::uppercase: change_case(labels); return true;
        case RelabelAction::labelmap: labelmap(labels); return true;
        case RelabelAction::labeldrop: labels.erase_if(name_matches); return true;
        case RelabelAction::labelkeep: labels.erase_if(std::not_fn(name_matches)); return true;
        case RelabelAction::replace_all: replace_all(labels); return true;
        case RelabelAction::labelmap_all: labelmap_all(labels); return true;
        case RelabelAction::keep_if_equal: return sources_are_equal(labels);
        case RelabelAction::drop_if_equal: return !sources_are_equal(labels);
        case RelabelAction::keep_if_contains: return target_contains_sources(labels);
        case RelabelAction::drop_if_contains: return !target_contains_sources(labels);
    }
    return true;
}

bool CompiledRule::applies(const MutableLabels& labels) const {
    return if_.empty() || std::any_of(if_.begin(), if_.end(), [&](const SeriesSelector& selector) {
               return selector.matches(labels);
           });
}

std::string_view CompiledRule::source(MutableLabels& labels) const {
    const std::vector<std::string>& names = rule_->source_labels;
    if (names.empty()) return {};
    if (names.size() == 1) return labels.get(names[0]);
    std::string& text = labels.new_text();
    for (const std::string& name : names) {
        if (&name != &names.front()) text += rule_->separator;
        text += labels.get(name);
    }
    return text;
}

void CompiledRule::replace(MutableLabels& labels) const {
    Groups groups(group_count_);
    const std::span<std::string_view> all(groups.data(), groups.size());
    if (!pattern_->match(source(labels), all)) return;
    std::string_view name = rule_->target_label;
    if (target_) {
        name = target_->expand(all, labels);
        if (!is_label_name(name, names_)) return;
    }
    labels.set(name, replacement_.expand(all, labels));
}

/// Appends the text with each occurrence of the regex replaced.
void CompiledRule::append_replaced(std::string& result, std::string_view text,
                                   const MutableLabels& labels) const {
    const auto append = [&](std::span<const std::string_view> groups, std::string& to) {
        replacement_.append_to(to, groups, labels);
    };
    pattern_->replace_all(text, group_count_, append, result);
}

void CompiledRule::replace_all(MutableLabels& labels) const {
    const std::string_view before = source(labels);
    std::string& after = labels.new_text();
    append_replaced(after, before, labels);
    if (after != before) labels.set(rule_->target_label, after);
}

std::uint64_t CompiledRule::hash(std::string_view text) const {
    return md5_ ? (*md5_)(text) : xxh64(text);
}

void CompiledRule::hashmod(MutableLabels& labels) const {
    const std::uint64_t number = hash(source(labels)) % rule_->modulus;
    // vmagent's numbers have a sign, which a modulus above 2^63 shows.
    labels.set(rule_->target_label,
               labels.copy(md5_ ? std::to_string(number) : std::to_string(std::int64_t(number))));
}

void CompiledRule::change_case(MutableLabels& labels) const {
    const std::string_view before = source(labels);
    std::string& after = labels.new_text();
    if (rule_->action == RelabelAction::uppercase) {
        append_upper(after, before);
    } else {
        append_lower(after, before);
    }
    labels.set(rule_->target_label, after);
}

void CompiledRule::labelmap(MutableLabels& labels) const {
    struct Copy {
        std::string_view to, value;
    };
    boost::container::small_vector<Copy, 32> copies;
    Groups groups(std::max<std::size_t>(group_count_, 1));
    const std::span<std::string_view> all(groups.data(), groups.size());
    for (const auto& [name, value] : labels.labels()) {
        if ((value.empty() && !copies_empty_) || !pattern_->match(name, all)) continue;
        std::string_view to;
        if (groups[0].size() == name.size()) {
            to = replacement_.expand(all, labels);
        } else {  // a regex that escapes its anchors can match a part of the name
            std::string& text = labels.new_text();
            append_replaced(text, name, labels);
            to = text;
        }
        if (is_label_name(to, names_)) copies.push_back({to, value});
    }
    for (const Copy& copy : copies) labels.set(copy.to, copy.value);
}

void CompiledRule::labelmap_all(MutableLabels& labels) const {
    struct Renamed {
        std::string_view to, value;
    };
    std::vector<Renamed> all;
    boost::unordered_flat_map<std::string_view, std::string_view, SeededHash> values;
    for (const auto& [name, value] : labels.labels()) {
        std::string& text = labels.new_text();
        append_replaced(text, name, labels);
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
        } else if (!label.value.empty()) {  // a blank gives its place to no other label
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
                       [&](const std::string& name) {
                           return target.find(labels.get(name)) != std::string_view::npos;
                       });
}

}  // namespace k8s_sd::inline v0::detail
