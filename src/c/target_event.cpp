#include "target_event.hpp"

namespace k8s_sd_c {

std::string_view TargetEvent::key(std::size_t change) {
    return made_.get(change, "key", [&] { return std::to_string(changes_[change].id); });
}

std::size_t TargetEvent::pairs(std::size_t change, std::int64_t set,
                               std::span<k8s_sd_pair> out) const {
    return set == K8S_SD_LABELS ? copy_pairs(target(change).labels(), out) : 0;
}

std::optional<std::string_view> TargetEvent::value(std::size_t change, std::int64_t set,
                                                   std::string_view name) const {
    if (set != K8S_SD_LABELS) return std::nullopt;
    const std::string_view found = target(change).get(name);
    if (found.empty()) return std::nullopt;
    return found;
}

std::string_view TargetEvent::url(std::size_t change) {
    return made_.get(change, "url", [&] { return target(change).url(); });
}

std::uint64_t TargetEvent::interval_ms(std::size_t change) const {
    return static_cast<std::uint64_t>(target(change).scrape_interval().count());
}

std::uint64_t TargetEvent::timeout_ms(std::size_t change) const {
    return static_cast<std::uint64_t>(target(change).scrape_timeout().count());
}

void TargetEvent::write_change(JsonWriter& out, std::size_t change) {
    out.member("labels", target(change).labels());
    out.member("url", url(change));
    out.member("interval_ms", interval_ms(change));
    out.member("timeout_ms", timeout_ms(change));
}

}  // namespace k8s_sd_c
