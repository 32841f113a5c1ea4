#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/discovery/filter_index.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

void remove_duplicates(std::vector<FilterOwner*>& owners) {
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
}

/// The joined value of a target without any of the labels.
std::string value_without(const LabelCondition& condition) {
    std::string text;
    for (std::size_t i = 1; i < condition.labels.size(); ++i) text += condition.separator;
    return text;
}

}  // namespace

// --- changes of the index ------------------------------------------------------------------------

void FilterIndex::add(FilterOwner& owner) {
    const auto& conditions = owner.filter.conditions;
    if (conditions.empty()) {
        all_pass_.push_back(&owner);
    } else {
        const auto best =
            std::min_element(conditions.begin(), conditions.end(),
                             [this](const auto& a, const auto& b) { return cost(a) < cost(b); });
        owner.condition = &*best;
        put(owner, shape_of(*best));
    }
    owner.is_indexed = true;
    ++size_;
}

void FilterIndex::put(FilterOwner& owner, Shape& shape) try {
    owner.shape = &shape;
    for (const std::string& value : owner.condition->values) {
        std::vector<FilterOwner*>& owners = shape.owners[value];
        const bool is_repeated = !owners.empty() && owners.back() == &owner;
        if (!is_repeated) owners.push_back(&owner);
    }
    // Only a long value passes such a filter.
    if (owner.condition->values.empty()) shape.owners[shape.without_labels].push_back(&owner);
    if (shape.owners.contains(shape.without_labels)) without_labels_.insert(&shape);
} catch (...) {
    take_out(owner);
    throw;
}

/// The number of filters found together with one indexed by this condition.
std::size_t FilterIndex::cost(const LabelCondition& condition) const {
    const auto shape = shapes_.find({condition.labels, condition.separator});
    if (shape == shapes_.end()) return 0;
    std::size_t sum = 0;
    for (const std::string& value : condition.values) {
        const auto owners = shape->second.owners.find(value);
        if (owners != shape->second.owners.end()) sum += owners->second.size();
    }
    return sum;
}

FilterIndex::Shape& FilterIndex::shape_of(const LabelCondition& condition) {
    const auto [it, is_new] = shapes_.try_emplace({condition.labels, condition.separator});
    Shape& shape = it->second;
    if (!is_new) return shape;
    shape.key = &it->first;
    try {
        shape.without_labels = value_without(condition);
        for (const std::string& label : condition.labels) {
            const auto [known, is_new_label] = shapes_of_label_.try_emplace(label);
            if (is_new_label) ++labels_of_size_[label.size() % labels_of_size_.size()];
            std::vector<Shape*>& shapes = known->second;
            const bool is_repeated = !shapes.empty() && shapes.back() == &shape;
            if (!is_repeated) shapes.push_back(&shape);
        }
    } catch (...) {
        release(shape);
        throw;
    }
    return shape;
}

void FilterIndex::remove(FilterOwner& owner) noexcept {
    if (!std::exchange(owner.is_indexed, false)) return;
    --size_;
    if (owner.shape) return take_out(owner);
    std::erase(all_pass_, &owner);
}

void FilterIndex::take_out(FilterOwner& owner) noexcept {
    Shape& shape = *std::exchange(owner.shape, nullptr);
    const auto erase = [&](const std::string& value) {
        const auto owners = shape.owners.find(value);
        if (owners == shape.owners.end()) return;
        std::erase(owners->second, &owner);
        if (owners->second.empty()) shape.owners.erase(owners);
    };
    for (const std::string& value : owner.condition->values) erase(value);
    if (owner.condition->values.empty()) erase(shape.without_labels);
    if (!shape.owners.contains(shape.without_labels)) without_labels_.erase(&shape);
    if (shape.owners.empty()) release(shape);
}

void FilterIndex::release(Shape& shape) noexcept {
    for (const std::string& label : shape.key->first) {
        const auto shapes = shapes_of_label_.find(label);
        if (shapes == shapes_of_label_.end()) continue;
        std::erase(shapes->second, &shape);
        if (!shapes->second.empty()) continue;
        --labels_of_size_[label.size() % labels_of_size_.size()];
        shapes_of_label_.erase(shapes);
    }
    shapes_.erase(shapes_.find(*shape.key));
}

// --- look-ups ------------------------------------------------------------------------------------

FilterIndex::Owners FilterIndex::passing(const TargetGroup& group) {
    Owners passing = all_pass_;
    if (size_ == all_pass_.size()) return passing;
    FoundLabels common;
    FoundLabels own;
    OtherShapes others;
    Owners of_group;  // candidates of the targets without found labels of their own
    bool has_of_group = false;
    Owners of_target;
    boost::unordered_flat_set<FilterOwner*> known;
    if (find(group.labels(), others, common)) return all();
    for (std::size_t i = 0; i < group.size(); ++i) {
        own.clear();
        if (find(group[i], others, own)) return all();
        const bool is_of_group = own.empty();
        if (!is_of_group || !has_of_group) {
            Owners& candidates = is_of_group ? of_group : of_target;
            candidates.clear();
            look_up(own, common, candidates);
            has_of_group = has_of_group || is_of_group;
        }
        for (FilterOwner* owner : is_of_group ? of_group : of_target) {
            if (known.contains(owner) || !owner->filter.passes(group, i)) continue;
            known.insert(owner);
            passing.push_back(owner);
        }
    }
    return passing;
}

/// Finds the labels that some shape has.
/// \returns whether any value is so long that all filters pass
bool FilterIndex::find(const Labels& labels, OtherShapes& others, FoundLabels& found) const {
    constexpr std::size_t max_others = 16;  // they are searched for each block
    if (find_all(Access::make<Labels>(nullptr, nullptr, Access::address(labels)), found)) {
        return true;
    }
    for (const LabelBlockPtr& block : Access::blocks(labels)) {
        if (!block) continue;
        const bool is_small = block->packed().size() <= TargetFilter::max_value_bytes;
        const LabelShape* const shape = &block->shape();
        if (is_small && std::find(others.begin(), others.end(), shape) != others.end()) continue;
        const std::size_t before = found.size();
        if (find_all(Access::make<Labels>(&block, &block + 1), found)) return true;
        if (found.size() == before && others.size() < max_others) others.push_back(shape);
    }
    return false;
}

/// The same, label by label.
bool FilterIndex::find_all(const Labels& labels, FoundLabels& found) const {
    for (const auto [name, value] : labels) {
        if (value.size() > TargetFilter::max_value_bytes) return true;
        if (labels_of_size_[name.size() % labels_of_size_.size()] == 0) continue;
        const auto shapes = shapes_of_label_.find(name);
        if (shapes != shapes_of_label_.end()) found.push_back({name, value, &shapes->second});
    }
    return false;
}

void FilterIndex::look_up(const FoundLabels& target, const FoundLabels& group, Owners& candidates) {
    ++uses_;
    for (const FoundLabels* const labels : {&target, &group}) {
        for (const Found& label : *labels) {
            for (Shape* shape : *label.shapes) look_up(*shape, target, group, candidates);
        }
    }
    for (Shape* shape : without_labels_) look_up(*shape, target, group, candidates);
    remove_duplicates(candidates);
}

void FilterIndex::look_up(Shape& shape, const FoundLabels& target, const FoundLabels& group,
                          Owners& candidates) {
    if (std::exchange(shape.last_use, uses_) == uses_) return;
    std::string joined;
    const auto& [names, separator] = *shape.key;
    for (const std::string& name : names) {
        if (&name != &names.front()) joined += separator;
        const auto has_name = [&](const Found& label) { return label.name == name; };
        auto label = std::find_if(target.begin(), target.end(), has_name);
        if (label == target.end()) {
            label = std::find_if(group.begin(), group.end(), has_name);
            if (label == group.end()) continue;
        }
        joined += label->value;
    }
    const auto owners = shape.owners.find(joined);
    if (owners == shape.owners.end()) return;
    candidates.insert(candidates.end(), owners->second.begin(), owners->second.end());
}

FilterIndex::Owners FilterIndex::all() const {
    Owners owners = all_pass_;
    for (const auto& [key, shape] : shapes_) {
        for (const auto& [value, of_value] : shape.owners) {
            owners.insert(owners.end(), of_value.begin(), of_value.end());
        }
    }
    remove_duplicates(owners);
    return owners;
}

}  // namespace k8s_sd::inline v0::detail
