#include "k8s_sd/detail/monitors/quota.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The larger of the two shares: of the jobs, and of the bytes.
double share_of(const MonitorQuota& size, const MonitorQuota& limits) noexcept {
    const auto part = [](std::size_t of, std::size_t limit) {
        return static_cast<double>(of) / static_cast<double>(std::max<std::size_t>(limit, 1));
    };
    return std::max(part(size.jobs, limits.jobs), part(size.bytes, limits.bytes));
}

}  // namespace

void grant_fairly(const std::vector<std::string_view>& namespaces,
                  const std::function<double(std::size_t)>& share,
                  const std::function<void(std::size_t)>& grant) {
    std::map<std::string_view, std::vector<std::size_t>> waiting;  // in reverse order
    for (std::size_t i = namespaces.size(); i > 0; --i) waiting[namespaces[i - 1]].push_back(i - 1);
    std::set<std::pair<double, std::string_view>> next;
    for (const auto& [ns, requests] : waiting) next.emplace(share(requests.back()), ns);
    while (!next.empty()) {
        const std::string_view ns = next.extract(next.begin()).value().second;
        std::vector<std::size_t>& requests = waiting[ns];
        const std::size_t index = requests.back();
        requests.pop_back();
        grant(index);
        if (!requests.empty()) next.emplace(share(requests.back()), ns);
    }
}

std::vector<bool> share_quota(const std::vector<QuotaRequest>& requests,
                              const MonitorQuota& limits) {
    std::vector<std::string_view> namespaces;
    for (const QuotaRequest& request : requests) namespaces.push_back(request.ns);
    std::map<std::string_view, MonitorQuota> used;
    const auto with = [&](std::size_t i) {
        return used.try_emplace(requests[i].ns, MonitorQuota{0, 0}).first->second +
               requests[i].size;
    };
    std::vector<bool> granted(requests.size());
    MonitorQuota all{.jobs = 0, .bytes = 0};
    const auto grant = [&](std::size_t i) {
        if (!fits(all + requests[i].size, limits)) return;
        granted[i] = true;
        all = all + requests[i].size;
        used[requests[i].ns] = with(i);
    };
    grant_fairly(
        namespaces, [&](std::size_t i) { return share_of(with(i), limits); }, grant);
    return granted;
}

MonitorRefusal over_quota(const MonitorQuota& limits) {
    return {
        "all monitors together would have more than " + std::to_string(limits.jobs) + " jobs or " +
            std::to_string(limits.bytes) +
            " bytes, and this one is beyond the share of its namespace",
        "remove monitors of the namespace, or raise MonitorQuota (of k8s-sd: --monitors-max-jobs, "
        "--monitors-max-bytes)"};
}

}  // namespace k8s_sd::inline v0::detail
