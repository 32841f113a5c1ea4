#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/relabel/case_map.hpp"
#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/relabel/xxh64.hpp"
#include "k8s_sd/error.hpp"

#include <boost/container/small_vector.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>

namespace k8s_sd::inline v0::detail {

namespace {

using Groups = boost::container::small_vector<std::string_view, 8>;

bool uses_regex(RelabelAction action) {
    switch (action) {
        case RelabelAction::replace:
        case RelabelAction::keep:
        case RelabelAction::drop:
        case RelabelAction::labelmap:
        case RelabelAction::labeldrop:
        case RelabelAction::labelkeep:
        case RelabelAction::replace_all:
        case RelabelAction::labelmap_all: return true;
        default: return false;
    }
}

/// Whether the regex is looked for everywhere in the text.
bool is_unanchored(RelabelAction action) {
    return action == RelabelAction::replace_all || action == RelabelAction::labelmap_all;
}

}  // namespace

CompiledRule::CompiledRule(const RelabelRule& rule, const RelabelOptions& options)
    : rule_(&rule), names_(options.names) {
    validate(rule, options);
    if (uses_regex(rule.action)) compile_regex(options);
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

void CompiledRule::compile_regex(const RelabelOptions& options) {
    const bool unanchored = is_unanchored(rule_->action);
    try {
        pattern_.emplace(rule_->regex,
                         unanchored ? Pattern::Anchors::none : Pattern::Anchors::both);
    } catch (const std::invalid_argument& e) {
        throw ConfigError("regex", "is no regular expression of RE2, which has neither "
                                   "look-around nor back-references: " +
                                       std::string(e.what()));
    }
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

std::string CompiledRule::replaced_everywhere(std::string_view text, MutableLabels& labels) const {
    std::string result;
    const auto append = [&](std::span<const std::string_view> groups, std::string& to) {
        to += replacement_.expand(groups, labels);
    };
    pattern_->replace_all(text, group_count_, append, result);
    return result;
}

void CompiledRule::replace_all(MutableLabels& labels) const {
    const std::string_view before = source(labels);
    const std::string after = replaced_everywhere(before, labels);
    if (after != before) labels.set(rule_->target_label, labels.copy(after));
}

std::uint64_t CompiledRule::hash(std::string_view text) const {
    return md5_ ? (*md5_)(text) : xxh64(text);
}

void CompiledRule::hashmod(MutableLabels& labels) const {
    char text[20];
    const auto [end, error] =
        std::to_chars(std::begin(text), std::end(text), hash(source(labels)) % rule_->modulus);
    const auto length = static_cast<std::size_t>(end - text);
    labels.set(rule_->target_label, labels.copy({text, length}));
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
        std::string_view from, to, value;
    };
    boost::container::small_vector<Copy, 32> copies;
    Groups groups(std::max<std::size_t>(group_count_, 1));
    const std::span<std::string_view> all(groups.data(), groups.size());
    for (const auto& [name, value] : labels.labels()) {
        if (value.empty() || !pattern_->match(name, all)) continue;
        // A regex that escapes its anchors can match a part of the name.
        const bool whole = groups[0].size() == name.size();
        const std::string_view to = whole ? replacement_.expand(all, labels)
                                          : labels.copy(replaced_everywhere(name, labels));
        copies.push_back({name, to, value});
    }
    const auto set_all = [&] {
        for (const Copy& copy : copies) {
            if (is_label_name(copy.to, names_)) labels.set(copy.to, copy.value);
        }
    };
    set_all();  // gives new labels their places: the order is that of the old ones
    // Where two get one name, the greater original name wins.
    const auto by_name = [](const Copy& a, const Copy& b) { return a.from < b.from; };
    if (std::is_sorted(copies.begin(), copies.end(), by_name)) return;
    std::sort(copies.begin(), copies.end(), by_name);
    set_all();
}

void CompiledRule::labelmap_all(MutableLabels& labels) const {
    struct Renamed {
        std::string_view from, to, value;
    };
    std::vector<Renamed> all;
    std::map<std::string_view, const Renamed*> winners;  // the greatest original name
    for (const auto& [name, value] : labels.labels()) {
        const std::string to = replaced_everywhere(name, labels);
        all.push_back({name, is_label_name(to, names_) ? labels.copy(to) : name, value});
    }
    for (const Renamed& label : all) {
        if (label.value.empty()) continue;
        const Renamed*& winner = winners[label.to];
        if (!winner || winner->from < label.from) winner = &label;
    }
    labels.erase_if([](std::string_view) { return true; });
    for (const Renamed& label : all) {
        const auto winner = winners.find(label.to);
        if (winner == winners.end()) {
            labels.set(label.to, "");
        } else if (!label.value.empty()) {  // a blank gives its place to no other label
            labels.set(label.to, winner->second->value);
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
