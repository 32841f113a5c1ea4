#include "k8s_sd/detail/groups/role_groups.hpp"
#include "k8s_sd/error.hpp"

#include <iterator>

namespace k8s_sd::inline v0::detail {

std::string too_many_targets(Kind kind, std::string_view ns, std::string_view name,
                             std::size_t limit) {
    std::string text(to_string(kind));
    text += ' ';
    if (!ns.empty()) (text += ns) += '/';
    text += name;
    return text + " has more than " + std::to_string(limit) +
           " targets (max_targets_per_object); its previous targets are kept";
}

void OverfullObjects::add(std::string_view ns, std::string_view name, TimePoint now) {
    Names added;
    added.emplace(name);
    const std::lock_guard lock(mutex_);
    const bool is_first = names_.empty();
    names_[std::string(ns)].merge(added);  // not emplace(): without memory, a set may stay empty
    if (is_first) since_ = now;
}

void OverfullObjects::remove(std::string_view ns, std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto of_namespace = names_.find(ns);
    if (of_namespace == names_.end()) return;
    const auto found = of_namespace->second.find(name);
    if (found != of_namespace->second.end()) of_namespace->second.erase(found);
    if (of_namespace->second.empty()) names_.erase(of_namespace);
}

void OverfullObjects::add_to(std::vector<WatchStatus>& statuses, Kind kind,
                             std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    for (WatchStatus& status : statuses) {
        if (status.kind != kind || status.error) continue;
        const auto first = status.ns.empty() ? names_.begin() : names_.find(status.ns);
        if (first == names_.end()) continue;
        std::size_t count = 0;
        const auto end = status.ns.empty() ? names_.end() : std::next(first);
        for (auto it = first; it != end; ++it) count += it->second.size();
        status.error = errc::too_many_targets;
        status.message = too_many_targets(kind, first->first, *first->second.begin(), limit);
        if (count > 1) status.message += "; further such objects: " + std::to_string(count - 1);
        status.since = since_;
    }
}

}  // namespace k8s_sd::inline v0::detail
