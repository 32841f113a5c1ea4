#pragma once

#include "k8s_sd/target_group.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Whether a label is to be in a snapshot.
using KeepLabel = std::function<bool(std::string_view name)>;

/// The groups in as few bytes as their blocks take: what they share is there once.
std::string pack_groups(std::span<const TargetGroupPtr>, const KeepLabel&);

/// The groups, equal to those that were packed as far as all of their labels were kept. nullopt for
/// bytes that are none: nothing is taken of them, whatever they are.
std::optional<std::vector<TargetGroupPtr>> unpack_groups(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
