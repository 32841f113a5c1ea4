#pragma once

#include "k8s_sd/detail/monitors/object_view.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// An `IntOrString` of the API.
struct MonitorPort {
    std::string text{};  ///< empty if absent
    bool is_number = false;
};

inline MonitorPort read_port(const ObjectView& port) {
    if (!port) return {};
    if (port.is_text()) return {std::string(port.as_text().value_or("")), false};
    const auto number = port.as_integer();
    return number ? MonitorPort{std::to_string(*number), true} : MonitorPort{};
}

}  // namespace k8s_sd::inline v0::detail
