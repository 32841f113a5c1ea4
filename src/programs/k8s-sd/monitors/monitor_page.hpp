#pragma once

#include "k8s_sd/monitors/monitor_source.hpp"

#include <cstddef>
#include <optional>

namespace k8s_sd_program {

/// A part of the list of monitors.
struct MonitorPage {
    static constexpr std::size_t max = 1'000;  ///< monitors

    std::optional<k8s_sd::MonitorName> after{};  ///< nullopt: the first page
    std::size_t limit = max;                     ///< monitors of the page
};

}  // namespace k8s_sd_program
