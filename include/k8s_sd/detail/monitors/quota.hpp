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

/// What the jobs of all monitors need and take up of their quota.
class QuotaUse {
 public:
    explicit QuotaUse(const MonitorQuota& limits) : limits_(limits) {}

    /// Whether jobs may grow from one size to another.
    bool has_room(const MonitorQuota& from, const MonitorQuota& to) const noexcept {
        return fits(used_ - from + to, limits_);
    }
    /// Jobs of this size have been replaced.
    void replace_used(const MonitorQuota& from, const MonitorQuota& to) noexcept {
        used_ = used_ - from + to;
    }
    /// Valid monitors would need this size for their jobs, granted or not.
    void replace_needed(const MonitorQuota& from, const MonitorQuota& to) noexcept {
        const bool sufficed = suffices();
        needed_ = needed_ - from + to;
        if (!sufficed || !suffices()) is_due_ = true;
    }
    const MonitorQuota& used() const noexcept { return used_; }
    /// Whether all have room.
    bool suffices() const noexcept { return fits(needed_, limits_); }

    /// Whether the quota is to be shared out.
    bool is_due() const noexcept { return is_due_; }
    void set_due(bool due) noexcept { is_due_ = due; }

 private:
    const MonitorQuota limits_;
    MonitorQuota needed_{.jobs = 0, .bytes = 0};
    MonitorQuota used_{.jobs = 0, .bytes = 0};
    bool is_due_ = false;
};

/// The refusal of a monitor over the quota.
MonitorRefusal over_quota(const MonitorQuota& limits);

}  // namespace k8s_sd::inline v0::detail
