#include "k8s_sd/detail/monitors/room.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The larger of the two shares: of the jobs, and of the bytes.
double share_of(const MonitorRoom& size, const MonitorRoom& limits) noexcept {
    const auto part = [](std::size_t of, std::size_t limit) {
        return static_cast<double>(of) / static_cast<double>(std::max<std::size_t>(limit, 1));
    };
    return std::max(part(size.jobs, limits.jobs), part(size.bytes, limits.bytes));
}

}  // namespace

std::vector<bool> share_room(const std::vector<RoomRequest>& requests, const MonitorRoom& limits) {
    std::map<std::string_view, std::vector<std::size_t>> waiting;  // in reverse order
    for (std::size_t i = requests.size(); i > 0; --i) waiting[requests[i - 1].ns].push_back(i - 1);
    std::map<std::string_view, MonitorRoom> used;
    std::set<std::pair<double, std::string_view>> next;
    for (const auto& [ns, of_namespace] : waiting) next.emplace(0.0, ns);
    std::vector<bool> granted(requests.size());
    MonitorRoom all{.jobs = 0, .bytes = 0};
    while (!next.empty()) {
        const std::string_view ns = next.extract(next.begin()).value().second;
        std::vector<std::size_t>& of_namespace = waiting[ns];
        const std::size_t index = of_namespace.back();
        of_namespace.pop_back();
        MonitorRoom& of_this = used.try_emplace(ns, MonitorRoom{0, 0}).first->second;
        if (const MonitorRoom& size = requests[index].size; fits(all + size, limits)) {
            granted[index] = true;
            all = all + size;
            of_this = of_this + size;
        }
        if (!of_namespace.empty()) next.emplace(share_of(of_this, limits), ns);
    }
    return granted;
}

MonitorRefusal no_room(const MonitorRoom& limits) {
    return {"all monitors together would have more than " + std::to_string(limits.jobs) +
                " jobs or " + std::to_string(limits.bytes) +
                " bytes, and this one is beyond the share of its namespace",
            "remove monitors of the namespace, or raise MonitorRoom"};
}

}  // namespace k8s_sd::inline v0::detail
