#pragma once

#include "k8s_sd/monitors/monitor_owner.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace k8s_sd::inline v0::detail {

/// Reads a semantic version as leniently as the operator: "v3.5", "3", "2.55.1-rc.0+meta".
/// \returns nullopt for other texts
std::optional<MonitorVersion> parse_monitor_version(std::string_view text);

/// Whether the version is that release or a later one.
constexpr bool at_least(const MonitorVersion& version, std::uint64_t major,
                        std::uint64_t minor) noexcept {
    const auto release = std::tuple(major, minor, std::uint64_t{0});
    const auto own = std::tuple(version.major, version.minor, version.patch);
    return own > release || (own == release && !version.pre_release);
}

}  // namespace k8s_sd::inline v0::detail
