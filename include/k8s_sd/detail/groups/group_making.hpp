#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/groups/shared_groups.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/role.hpp"

#include <array>
#include <compare>
#include <cstddef>

namespace k8s_sd::inline v0::detail {

class SharedWatches;

/// The settings of target groups. Views of the same watches with equal settings make equal groups.
struct GroupSettings {
    const SharedWatches* watches = nullptr;  ///< owned by each view with these settings
    GroupView view{};
    bool by_namespace = false;  ///< the configuration lists namespaces
    auto operator<=>(const GroupSettings&) const = default;
};

/// What views with equal settings share. Strand-confined.
struct GroupMaking {
    ObjectMaker maker;
    std::array<SharedGroups, role_names.size()> groups{};  ///< by role
};

}  // namespace k8s_sd::inline v0::detail
