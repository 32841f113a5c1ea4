#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/role.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// Parses a duration in Prometheus' notation: "0", or integers with the units y w d h m s ms in
/// this order, each at most once ("1h30m"). A year has 365 days. LabelDialect::victoriametrics: as
/// in vmagent, also fractions ("1.5s"), any order, upper-case units except `M`, a plain number of
/// seconds ("90", "1e3"), and negative durations.
/// \throws ConfigError with "duration" as where()
K8S_SD_EXPORT std::chrono::milliseconds parse_duration(std::string_view text,
                                                       LabelDialect = LabelDialect::prometheus);

/// LabelDialect::prometheus: "1m", "1s500ms", "0s"; victoriametrics: as Go prints durations,
/// "1m0s", "1.5s", "0s".
K8S_SD_EXPORT std::string format_duration(std::chrono::milliseconds,
                                          LabelDialect = LabelDialect::prometheus);

}  // namespace k8s_sd::inline v0
