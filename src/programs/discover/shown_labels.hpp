#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>

namespace discover {

/// The labels of all targets of the group. An empty value is no label.
k8s_sd::LabelMap group_labels(const k8s_sd::TargetGroup&);

/// A target's own labels. An empty value stays where it hides a label of the group.
k8s_sd::LabelMap target_labels(const k8s_sd::TargetGroup&, std::size_t target);

}  // namespace discover
