#pragma once

#include "k8s_sd/monitors/monitor_owner.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// "servicemonitors".
std::string_view plural_of(MonitorKind) noexcept;
/// "prometheuses".
std::string_view plural_of(MonitorOwnerKind) noexcept;
/// "monitoring.coreos.com".
std::string_view group_of(MonitorOwnerKind) noexcept;

/// The kinds that an owner may select, in the order of its jobs.
std::span<const MonitorKind> kinds_of(const MonitorOwner&) noexcept;

/// Whether an owner is one of VictoriaMetrics.
bool is_owner_of_vm(const MonitorOwnerInput&);

/// The watches for an owner.
struct MonitorPlan {
    /// By MonitorKind. nullopt: no watch; an empty list: all namespaces.
    std::array<std::optional<std::vector<std::string>>, monitor_kind_count> kinds{};
    bool namespaces = false;  ///< the labels of namespaces
    bool operator==(const MonitorPlan&) const = default;
};

/// \param allowed  MonitorSourceConfig::allow_namespaces
MonitorPlan plan_of(const MonitorOwner&, const std::vector<std::string>& allowed);

}  // namespace k8s_sd::inline v0::detail
