#include "k8s_sd/detail/sharing/selection_index.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace k8s_sd::inline v0::detail {

/// A label or a field must have one of these values.
struct SelectionIndex::Condition {
    ByKey* table;
    std::string_view key;
    std::span<const std::string> values;

    /// The number of selections already stored under one of the values: the most of them.
    std::size_t crowd() const {
        const auto required = table->find(key);
        if (required == table->end()) return 0;
        std::size_t most = 0;
        for (const std::string& value : values) {
            const auto it = required->second.by_value.find(value);
            if (it != required->second.by_value.end()) most = std::max(most, it->second.size());
        }
        return most;
    }
};

std::vector<SelectionIndex::Condition> SelectionIndex::conditions_of(
    const SharedSelection& selection) {
    std::vector<Condition> conditions;
    for (const auto& requirement : selection.selectors.labels().requirements()) {
        if (requirement.op == LabelSelector::Operator::in)
            conditions.push_back({&labels_, requirement.key, requirement.values});
    }
    for (const auto& requirement : selection.selectors.fields().requirements()) {
        if (requirement.equal)
            conditions.push_back({&fields_, requirement.path, {&requirement.value, 1}});
    }
    return conditions;
}

SelectionIndex::Required& SelectionIndex::required_label(std::string_view key) {
    key_lengths_.set(length_class(key));
    return labels_[key];
}

/// \returns false if it allows any value of each label and field
bool SelectionIndex::add_for_value(const SharedSelection& selection) {
    const std::vector<Condition> conditions = conditions_of(selection);
    const auto best = std::min_element(
        conditions.begin(), conditions.end(),
        [](const Condition& a, const Condition& b) { return a.crowd() < b.crowd(); });
    if (best == conditions.end()) return false;
    Required& required = best->table == &labels_ ? required_label(best->key) : fields_[best->key];
    for (const std::string& value : best->values) required.by_value[value].push_back(&selection);
    return true;
}

/// \returns false if it requires no label
bool SelectionIndex::add_for_presence(const SharedSelection& selection) {
    using Operator = LabelSelector::Operator;
    const auto& requirements = selection.selectors.labels().requirements();
    const auto it = std::find_if(requirements.begin(), requirements.end(), [](const auto& r) {
        return r.op == Operator::exists || r.op == Operator::greater || r.op == Operator::less;
    });
    if (it == requirements.end()) return false;
    required_label(it->key).any_value.push_back(&selection);
    return true;
}

void SelectionIndex::add(const SharedSelectionPtr& selection, bool applied) {
    if (!all_.insert(selection).second) return;
    if (applied) return applied_.push_back(selection.get());
    if (!add_for_value(*selection) && !add_for_presence(*selection))
        others_.push_back(selection.get());
}

void SelectionIndex::clear() {
    labels_.clear();
    fields_.clear();
    key_lengths_.reset();
    others_.clear();
    applied_.clear();
    all_.clear();
}

void SelectionIndex::evaluate(const DecodedObject& object, ViewSet& views) const {
    const auto add_shared = [&](const SharedSelection& selection) {
        if (selection.share.contains(object.meta.uid)) views.add(selection.number);
    };
    for (const SharedSelection* selection : applied_) add_shared(*selection);
    for_each_candidate(object, [&](const SharedSelection& selection) {
        if (selection.selectors.matches(object)) add_shared(selection);
    });
}

}  // namespace k8s_sd::inline v0::detail
