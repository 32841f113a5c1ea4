#pragma once

#include "k8s_sd/detail/config/share_keys.hpp"
#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"

#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The source prefix in Prometheus' terms.
inline std::string_view source_prefix(Role role) {
    return with_role(role, [](auto traits) { return traits.source_prefix; });
}

/// The kinds to list before a role's first state is complete; its main kind comes first.
inline std::vector<Kind> needed_kinds(Role role, const AttachMetadata& attach) {
    std::vector<Kind> kinds;
    kinds.reserve(kind_count);
    kinds.push_back(main_kind(role));
    with_role(role, [&](auto traits) { traits.add_needed_kinds(attach, kinds); });
    return kinds;
}

/// Generates the targets of `object`, of the role's main kind. Returns null if it has none, too
/// many, or too large ones; GroupBuilder::overfull() distinguishes the first case.
/// \param earlier  the previous group of the object, or null; see Lookup::begin_part()
inline TargetGroupPtr generate(Role role, const Object& object, GeneratorContext& g,
                               const TargetGroupPtr& earlier = nullptr) {
    g.group.begin(source_prefix(role), object.ns(), object.name(), g.options.max_targets, earlier,
                  share_key_of(g.options.division, object.ns(), object.uid_hash()));
    g.group.add(g.options.cluster);
    g.factory.begin_object();
    try {
        with_role(role, [&](auto traits) {
            using MainObject = typename decltype(traits)::MainObject;
            traits.generate(static_cast<const MainObject&>(object), g);
        });
    } catch (const LabelLimitReached&) {
        g.group.set_overfull();
    }
    return g.group.finish();
}

}  // namespace k8s_sd::inline v0::detail
