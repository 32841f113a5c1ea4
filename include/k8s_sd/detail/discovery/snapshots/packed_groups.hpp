#pragma once

#include "k8s_sd/target_group.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Whether a snapshot includes the label.
using KeepLabel = std::function<bool(std::string_view name)>;

/// Packs the groups compactly: shared shapes and blocks are stored once.
std::string pack_groups(std::span<const TargetGroupPtr>, const KeepLabel&);

/// The unpacked groups, equal to the packed ones if all of their labels were kept. nullopt for
/// malformed bytes: nothing is unpacked then. The bytes are untrusted.
std::optional<std::vector<TargetGroupPtr>> unpack_groups(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
