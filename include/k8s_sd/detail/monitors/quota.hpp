#pragma once

#include "k8s_sd/monitors/monitor.hpp"

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

inline MonitorQuota operator+(const MonitorQuota& a, const MonitorQuota& b) noexcept {
    return {a.jobs + b.jobs, a.bytes + b.bytes};
}
inline MonitorQuota operator-(const MonitorQuota& a, const MonitorQuota& b) noexcept {
    return {a.jobs - b.jobs, a.bytes - b.bytes};
}

/// Whether both numbers are within the limits.
inline bool fits(const MonitorQuota& size, const MonitorQuota& limits) noexcept {
    return size.jobs <= limits.jobs && size.bytes <= limits.bytes;
}

/// The jobs of a monitor.
struct QuotaRequest {
    std::string_view ns;  ///< the namespace of the monitor
    MonitorQuota size;
};

/// Calls `grant` once for each request, with fair shares for the namespaces: the next request is
/// that of the namespace with the smallest share after it, on a tie of the first one by name. A
/// namespace keeps the given order of its requests. So a namespace with large requests waits for
/// those with small ones.
/// \param namespaces  of the requests
/// \param share       of the request's namespace with that request, after those granted before
void grant_fairly(const std::vector<std::string_view>& namespaces,
                  const std::function<double(std::size_t)>& share,
                  const std::function<void(std::size_t)>& grant);

/// Whether each monitor may have its jobs. Namespaces get fair shares, see grant_fairly(). A
/// monitor that does not fit is passed over. So the result depends on the monitors only, and a
/// namespace gets at least its equal share of the quota if its monitors fit into that.
std::vector<bool> share_quota(const std::vector<QuotaRequest>&, const MonitorQuota& limits);

/// The refusal of a monitor over the quota.
MonitorRefusal over_quota(const MonitorQuota& limits);

}  // namespace k8s_sd::inline v0::detail
