#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The kinds of monitors, in the order of the operator's generated jobs.
enum class MonitorKind : std::uint8_t { service_monitor, pod_monitor, probe, scrape_config };

/// All kinds.
inline constexpr std::array<MonitorKind, 4> monitor_kinds{
    MonitorKind::service_monitor, MonitorKind::pod_monitor, MonitorKind::probe,
    MonitorKind::scrape_config};

/// "ServiceMonitor": the kind of the object in the API.
constexpr std::string_view to_string(MonitorKind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"ServiceMonitor", "PodMonitor", "Probe",
                                                    "ScrapeConfig"};
    return names[static_cast<std::size_t>(kind)];
}

/// Why an object makes no jobs, in words.
struct MonitorRefusal {
    std::string reason{};  ///< the field and the fault; never a secret value
    std::string remedy{};  ///< what to change, and where
    auto operator<=>(const MonitorRefusal&) const = default;
};

/// A key of a Secret or ConfigMap named by a monitor or an owner.
struct MonitorReference {
    /// The kind of the referenced object.
    enum class Kind : std::uint8_t { secret, config_map };
    Kind kind = Kind::secret;        ///< see above
    std::string object_namespace{};  ///< that of the monitor
    std::string name{};              ///< of the Secret or ConfigMap
    std::string key{};               ///< below `data`
    auto operator<=>(const MonitorReference&) const = default;
};

}  // namespace k8s_sd::inline v0
