#include "shown_labels.hpp"

namespace discover {

using k8s_sd::LabelMap;
using k8s_sd::TargetGroup;

LabelMap group_labels(const TargetGroup& group) {
    LabelMap labels = group.labels().to_map();
    std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
    return labels;
}

LabelMap target_labels(const TargetGroup& group, std::size_t target) {
    LabelMap labels = group[target].to_map();
    std::erase_if(labels, [&](const auto& label) {
        return label.second.empty() && group.labels().get(label.first).value_or("").empty();
    });
    return labels;
}

}  // namespace discover
