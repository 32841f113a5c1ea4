#include "group_event.hpp"

namespace k8s_sd_c {

k8s_sd_op GroupEvent::op(std::size_t change) const {
    if (is_removed(change)) return K8S_SD_REMOVED;
    const k8s_sd::GroupChange& updated = diff_.updated[change];
    if (!updated.previous) return K8S_SD_ADDED;
    return updated.replaced ? K8S_SD_REPLACED : K8S_SD_CHANGED;
}

std::optional<k8s_sd::Labels> GroupEvent::labels(std::size_t change, std::int64_t set) const {
    if (set == K8S_SD_LABELS) return group(change).labels();
    if (set < 0 || static_cast<std::uint64_t>(set) >= targets(change)) return std::nullopt;
    return group(change)[static_cast<std::size_t>(set)];
}

std::size_t GroupEvent::pairs(std::size_t change, std::int64_t set,
                              std::span<k8s_sd_pair> out) const {
    const auto found = labels(change, set);
    return found ? copy_pairs(*found, out) : 0;
}

std::optional<std::string_view> GroupEvent::value(std::size_t change, std::int64_t set,
                                                  std::string_view name) const {
    const auto found = labels(change, set);
    if (!found) return std::nullopt;
    if (const auto own = found->get(name); own || set == K8S_SD_LABELS) return own;
    return group(change).labels().get(name);
}

void GroupEvent::write_change(JsonWriter& out, std::size_t change) {
    out.member("labels", group(change).labels());
    out.name("targets").begin('[');
    for (std::size_t i = 0; i < group(change).size(); ++i) out.value(group(change)[i]);
    out.end(']');
}

}  // namespace k8s_sd_c
