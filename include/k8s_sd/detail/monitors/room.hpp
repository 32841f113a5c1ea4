#pragma once

#include "k8s_sd/monitors/monitor.hpp"

#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

inline MonitorRoom operator+(const MonitorRoom& a, const MonitorRoom& b) noexcept {
    return {a.jobs + b.jobs, a.bytes + b.bytes};
}
inline MonitorRoom operator-(const MonitorRoom& a, const MonitorRoom& b) noexcept {
    return {a.jobs - b.jobs, a.bytes - b.bytes};
}

/// Whether both numbers are within the limits.
inline bool fits(const MonitorRoom& size, const MonitorRoom& limits) noexcept {
    return size.jobs <= limits.jobs && size.bytes <= limits.bytes;
}

/// The jobs of a monitor.
struct RoomRequest {
    std::string_view ns;  ///< the namespace of the monitor
    MonitorRoom size;
};

/// Whether each monitor may have its jobs. Namespaces share the room equally: the next one is
/// always that with the smallest share so far, and on a tie the first by name; its next monitor is
/// the next in the given order. A monitor that does not fit is passed over. So the result depends
/// on the monitors only, and one namespace cannot take the room of others.
std::vector<bool> share_room(const std::vector<RoomRequest>&, const MonitorRoom& limits);

/// The refusal of a monitor without room.
MonitorRefusal no_room(const MonitorRoom& limits);

}  // namespace k8s_sd::inline v0::detail
