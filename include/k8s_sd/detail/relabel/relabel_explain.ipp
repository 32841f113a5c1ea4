// Explains the effect of a relabelling rule to users. Not optimized.

#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>
#include <algorithm>
#include <span>

namespace k8s_sd::inline v0::detail {

namespace {

/// The beginning of a text, cut between characters if it is UTF-8.
std::string_view begin_of(std::string_view text) {
    constexpr std::size_t max_size = 1024;
    if (text.size() <= max_size) return text;
    std::size_t end = max_size;
    const auto continues = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U; };
    for (int back = 0; back < 3 && continues(); ++back) --end;
    return text.substr(0, end);
}

/// Describes the omitted part of a text.
std::string rest_of(std::string_view text) {
    const std::size_t shown = begin_of(text).size();
    if (shown == text.size()) return {};
    return "... (" + std::to_string(text.size()) + " bytes)";
}

std::string cut(std::string_view text) { return std::string(begin_of(text)) + rest_of(text); }

std::string as_json(std::string_view text) {
    const std::string_view begin = begin_of(text);
    return boost::json::serialize(boost::json::string_view(begin.data(), begin.size())) +
           rest_of(text);
}

using Label = MutableLabels::Label;

/// The non-empty labels by name. The views are valid as long as those of the set.
std::vector<Label> snapshot(const MutableLabels& labels) {
    std::vector<Label> all;
    for (const Label& label : labels.labels()) {
        if (!label.value.empty()) all.push_back(label);
    }
    std::sort(all.begin(), all.end(),
              [](const Label& a, const Label& b) { return a.name < b.name; });
    return all;
}

std::vector<RelabelStep::Change> changes(std::span<const Label> before,
                                         std::span<const Label> after) {
    std::vector<RelabelStep::Change> result;
    const auto add = [&](std::string_view name, std::string_view from, std::string_view to) {
        if (from == to) return;
        result.push_back({std::string(name), std::string(from), std::string(to)});
    };
    auto old = before.begin();
    for (const Label& label : after) {
        for (; old != before.end() && old->name < label.name; ++old) add(old->name, old->value, {});
        const bool was_there = old != before.end() && old->name == label.name;
        add(label.name, was_there ? old->value : std::string_view(), label.value);
        if (was_there) ++old;
    }
    for (; old != before.end(); ++old) add(old->name, old->value, {});
    return result;
}

bool is_filter(RelabelAction action) {
    switch (action) {
        case RelabelAction::keep:
        case RelabelAction::drop:
        case RelabelAction::keepequal:
        case RelabelAction::dropequal:
        case RelabelAction::keep_if_equal:
        case RelabelAction::drop_if_equal:
        case RelabelAction::keep_if_contains:
        case RelabelAction::drop_if_contains: return true;
        default: return false;
    }
}

std::string outcome(const RelabelStep& step, RelabelAction action) {
    if (step.dropped) return is_filter(action) ? "dropped" : "no label is left: dropped";
    if (is_filter(action)) return "kept";
    if (step.changes.empty()) return "changes nothing";
    if (step.changes.size() > 1)
        return "changes " + std::to_string(step.changes.size()) + " labels";
    const RelabelStep::Change& change = step.changes.front();
    if (change.after.empty()) return "deletes " + cut(change.label);
    return cut(change.label) + " becomes " + as_json(change.after);
}

}  // namespace

RelabelStep CompiledRule::explain(MutableLabels& labels, RelabelBudget& budget,
                                  RelabelBudget& account) const {
    RelabelStep step;
    step.reason = account_of(labels, account);
    const std::vector<Label> before = snapshot(labels);
    step.dropped = !apply(labels, budget);
    if (!step.dropped) step.changes = changes(before, snapshot(labels));
    step.reason += ": " + outcome(step, rule_->action);
    return step;
}

/// Describes the comparison, before the rule is applied.
std::string CompiledRule::account_of(MutableLabels& labels, RelabelBudget& budget) const {
    try {
        if (!applies(labels, budget)) return "no selector of `if` matches";
        return matching_selector(labels, budget) + comparison(labels, budget);
    } catch (const RelabelLimitReached&) {
        return "too long to be shown";
    }
}

std::string CompiledRule::matching_selector(const MutableLabels& labels,
                                            RelabelBudget& budget) const {
    for (std::size_t i = 0; i < if_.size(); ++i) {
        if (if_[i].matches(labels, budget)) return "`if` " + cut(rule_->if_[i]) + " matches; ";
    }
    return {};
}

std::string CompiledRule::comparison(MutableLabels& labels, RelabelBudget& budget) const {
    const std::string& target = rule_->target_label;
    const std::string sources = cut(join(rule_->source_labels));
    switch (rule_->action) {
        case RelabelAction::replace: return replace_comparison(labels, budget);
        case RelabelAction::keep:
        case RelabelAction::drop:
        case RelabelAction::replace_all:
            return source_and(labels, budget, match(source(labels, budget), budget));
        case RelabelAction::keepequal:
        case RelabelAction::dropequal:
            return source_and(labels, budget,
                              ", " + cut(target) + " is " + as_json(labels.get(target)));
        case RelabelAction::hashmod:
            return source_and(labels, budget,
                              ", whose hash is " + std::to_string(hash(source(labels, budget))));
        case RelabelAction::lowercase:
        case RelabelAction::uppercase: return source_and(labels, budget, "");
        case RelabelAction::labelmap:
        case RelabelAction::labeldrop:
        case RelabelAction::labelkeep:
        case RelabelAction::labelmap_all: return matching_names(labels, budget);
        case RelabelAction::keep_if_equal:
        case RelabelAction::drop_if_equal:
            return sources + (sources_are_equal(labels) ? " are equal" : " are not equal");
        case RelabelAction::keep_if_contains:
        case RelabelAction::drop_if_contains: break;
    }
    return cut(target) + " is " + as_json(labels.get(target)) +
           (target_contains_sources(labels) ? ", which contains "
                                            : ", which does not contain all of ") +
           sources;
}

std::string CompiledRule::source_and(MutableLabels& labels, RelabelBudget& budget,
                                     const std::string& what) const {
    const std::vector<std::string>& names = rule_->source_labels;
    const std::string subject =
        names.empty() ? "without source labels" : cut(join(names, rule_->separator)) + " is";
    return subject + " " + as_json(source(labels, budget)) + what;
}

std::string CompiledRule::match(std::string_view text, RelabelBudget& budget) const {
    budget.charge_match(*pattern_, text.size());
    return ", which `" + cut(rule_->regex) + "`" +
           (pattern_->matches(text) ? " matches" : " does not match");
}

std::string CompiledRule::replace_comparison(MutableLabels& labels, RelabelBudget& budget) const {
    const std::string_view text = source(labels, budget);
    std::string result = source_and(labels, budget, match(text, budget));
    std::vector<std::string_view> groups(group_count_);
    if (!target_ || !pattern_->match(text, groups)) return result;
    const std::string_view name = target_->expand(groups, labels, budget);
    if (!is_label_name(name, names_)) {
        result += "; the target label would be " + as_json(name) + ", which is no label name";
    }
    return result;
}

std::string CompiledRule::matching_names(const MutableLabels& labels, RelabelBudget& budget) const {
    charge_names(labels, budget);
    const std::vector<Label> all = snapshot(labels);
    const auto count = std::count_if(
        all.begin(), all.end(), [&](const Label& label) { return pattern_->matches(label.name); });
    return "`" + cut(rule_->regex) + "` matches " + std::to_string(count) + " of " +
           std::to_string(all.size()) + " label names";
}

}  // namespace k8s_sd::inline v0::detail
