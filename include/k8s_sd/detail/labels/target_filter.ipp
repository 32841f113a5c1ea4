#include "k8s_sd/target_filter.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

namespace {

bool has_long_value(const Labels& labels) {
    return std::any_of(labels.begin(), labels.end(), [](const auto& label) {
        return label.second.size() > TargetFilter::max_value_bytes;
    });
}

/// Even an empty label of the target hides the group's label.
std::string_view own_or_group_value(const std::string& name, const Labels& target,
                                    const Labels& group) {
    const auto own = target.get(name);
    return own ? *own : group.get(name).value_or(std::string_view());
}

bool is_met(const LabelCondition& condition, const Labels& target, const Labels& group) {
    std::string joined;
    for (const std::string& name : condition.labels) {
        if (&name != &condition.labels.front()) joined += condition.separator;
        joined += own_or_group_value(name, target, group);
    }
    return std::find(condition.values.begin(), condition.values.end(), joined) !=
           condition.values.end();
}

}  // namespace

bool TargetFilter::passes(const TargetGroup& group, std::size_t target) const {
    const Labels own = group[target];
    const Labels common = group.labels();
    if (has_long_value(own) || has_long_value(common)) return true;
    return std::all_of(conditions.begin(), conditions.end(), [&](const LabelCondition& condition) {
        return is_met(condition, own, common);
    });
}

bool TargetFilter::passes_any(const TargetGroup& group) const {
    if (empty()) return true;
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (passes(group, i)) return true;
    }
    return false;
}

}  // namespace k8s_sd::inline v0
