#pragma once

#include "k8s_sd/detail/labels/group_builder.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

/// The labels of a map as a block; null if it is empty.
inline detail::LabelBlockPtr make_block(const LabelMap& map) {
    // A shape references its names, which are literals in the library.
    static std::set<std::string, std::less<>> interned;
    std::vector<std::string_view> names;
    std::string packed;
    for (const auto& [name, value] : map) {
        names.push_back(*interned.insert(name).first);
        detail::pack_value(packed, value);
    }
    if (names.empty()) return nullptr;
    return detail::LabelBlock::make(new detail::LabelShape(names), packed);
}

/// Begins a target with these labels, with its address beside its block as generators do.
inline void add_target(detail::GroupBuilder& builder, LabelMap labels) {
    const auto address = labels.extract(std::string(detail::address_name.text));
    builder.begin_target(address ? std::string_view(address.mapped()) : std::string_view());
    builder.add(make_block(labels));
}

/// The group "pod/ns/<name>" with these labels.
inline TargetGroupPtr make_group(std::string_view name, const std::vector<LabelMap>& targets,
                                 const LabelMap& labels = {}, std::uint64_t share_key = 0) {
    detail::GroupBuilder builder;
    builder.begin("pod/", "ns", name, std::numeric_limits<std::size_t>::max(), nullptr, share_key);
    builder.add(make_block(labels));
    for (const LabelMap& target : targets) add_target(builder, target);
    return builder.finish();
}

/// A diff with the complete state.
inline TargetGroupDiff full_diff(const std::vector<TargetGroupPtr>& groups) {
    TargetGroupDiff diff;
    diff.full = true;
    for (const TargetGroupPtr& group : groups) diff.updated.push_back({group, nullptr, false});
    return diff;
}

/// A diff with updated groups and removed ones.
inline TargetGroupDiff change(const std::vector<GroupChange>& updated,
                              const std::vector<TargetGroupPtr>& removed = {}) {
    TargetGroupDiff diff;
    diff.updated = updated;
    diff.removed = removed;
    return diff;
}

}  // namespace k8s_sd::test
