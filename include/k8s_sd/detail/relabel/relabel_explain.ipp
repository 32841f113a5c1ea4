// What a relabelling rule did, in words. Slow: for people.

#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string_view.hpp>
#include <algorithm>
#include <set>

namespace k8s_sd::inline v0::detail {

namespace {

std::string as_json(std::string_view text) {
    return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

std::string value(const LabelMap& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? std::string() : found->second;
}

std::vector<RelabelStep::Change> changes(const LabelMap& before, const LabelMap& after) {
    std::set<std::string> names;
    for (const LabelMap* map : {&before, &after}) {
        for (const auto& [name, text] : *map) names.insert(name);
    }
    std::vector<RelabelStep::Change> result;
    for (const std::string& name : names) {
        RelabelStep::Change change{name, value(before, name), value(after, name)};
        if (change.before != change.after) result.push_back(std::move(change));
    }
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
    if (change.after.empty()) return "deletes " + change.label;
    return change.label + " becomes " + as_json(change.after);
}

}  // namespace

RelabelStep CompiledRule::explain(MutableLabels& labels) const {
    RelabelStep step;
    step.reason = applies(labels) ? matching_selector(labels) + comparison(labels)
                                  : "no selector of `if` matches";
    const LabelMap before = labels.to_map();
    step.dropped = !apply(labels);
    if (!step.dropped) step.changes = changes(before, labels.to_map());
    step.reason += ": " + outcome(step, rule_->action);
    return step;
}

std::string CompiledRule::matching_selector(const MutableLabels& labels) const {
    for (std::size_t i = 0; i < if_.size(); ++i) {
        if (if_[i].matches(labels)) return "`if` " + rule_->if_[i] + " matches; ";
    }
    return {};
}

std::string CompiledRule::comparison(MutableLabels& labels) const {
    const std::string& target = rule_->target_label;
    switch (rule_->action) {
        case RelabelAction::replace: return replace_comparison(labels);
        case RelabelAction::keep:
        case RelabelAction::drop: return source_and(labels, match(source(labels)));
        case RelabelAction::keepequal:
        case RelabelAction::dropequal:
            return source_and(labels, ", " + target + " is " + as_json(labels.get(target)));
        case RelabelAction::hashmod:
            return source_and(labels, ", whose hash is " + std::to_string(hash(source(labels))));
        case RelabelAction::lowercase:
        case RelabelAction::uppercase: return source_and(labels, "");
        case RelabelAction::labelmap:
        case RelabelAction::labeldrop:
        case RelabelAction::labelkeep:
        case RelabelAction::labelmap_all: return matching_names(labels);
        case RelabelAction::replace_all: return source_and(labels, match(source(labels)));
        case RelabelAction::keep_if_equal:
        case RelabelAction::drop_if_equal:
            return join(rule_->source_labels) +
                   (sources_are_equal(labels) ? " are equal" : " are not equal");
        case RelabelAction::keep_if_contains:
        case RelabelAction::drop_if_contains: break;
    }
    return target + " is " + as_json(labels.get(target)) +
           (target_contains_sources(labels) ? ", which contains "
                                            : ", which does not contain all of ") +
           join(rule_->source_labels);
}

std::string CompiledRule::source_and(MutableLabels& labels, const std::string& what) const {
    const std::vector<std::string>& names = rule_->source_labels;
    const std::string subject =
        names.empty() ? "without source labels" : join(names, rule_->separator) + " is";
    return subject + " " + as_json(source(labels)) + what;
}

std::string CompiledRule::match(std::string_view text) const {
    return ", which `" + rule_->regex + "`" +
           (pattern_->matches(text) ? " matches" : " does not match");
}

std::string CompiledRule::replace_comparison(MutableLabels& labels) const {
    const std::string_view text = source(labels);
    std::string result = source_and(labels, match(text));
    std::vector<std::string_view> groups(group_count_);
    if (!target_ || !pattern_->match(text, groups)) return result;
    const std::string_view name = target_->expand(groups, labels);
    if (!is_label_name(name, names_)) {
        result += "; the target label would be " + as_json(name) + ", which is no label name";
    }
    return result;
}

std::string CompiledRule::matching_names(const MutableLabels& labels) const {
    const LabelMap all = labels.to_map();
    const auto count = std::count_if(
        all.begin(), all.end(), [&](const auto& label) { return pattern_->matches(label.first); });
    return "`" + rule_->regex + "` matches " + std::to_string(count) + " of " +
           std::to_string(all.size()) + " label names";
}

}  // namespace k8s_sd::inline v0::detail
