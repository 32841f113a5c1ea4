#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/config/share_keys.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// The share with this member in the view: it prepares for joining.
FleetShare as_member(const FleetShare& share) {
    if (!share.view() || share.view()->contains(share.self())) return share;
    const auto others = share.view()->members();
    std::vector<std::string> members(others.begin(), others.end());
    members.push_back(share.self());
    return {std::make_shared<const FleetView>(std::move(members)), share.self(), share.replicas()};
}

/// Merges ranges across the smallest gaps.
void merge_nearest(std::vector<HashRange>& ranges, std::size_t max_ranges) {
    if (ranges.size() <= max_ranges) return;
    std::vector<std::uint64_t> gaps;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        gaps.push_back(ranges[i].first - ranges[i - 1].last);
    }
    // Keep the largest gaps, as many as are allowed.
    std::vector<std::uint64_t> sorted = gaps;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const std::uint64_t max_merged_gap = sorted[max_ranges - 1];
    std::vector<HashRange> merged{ranges.front()};
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        if (gaps[i - 1] > max_merged_gap) {
            merged.push_back(ranges[i]);
        } else {
            merged.back().last = ranges[i].last;
        }
    }
    ranges = std::move(merged);
}

bool names_all(const DiscoveryConfig& config) {
    const auto& names = config.namespaces;
    return names.empty() || std::find(names.begin(), names.end(), "") != names.end();
}

}  // namespace

Division usual_division(const DiscoveryConfig& config) {
    const std::size_t named = names_all(config) ? 0 : config.namespaces.size();
    const bool joins =
        config.role != Role::pod && config.role != Role::node && config.role != Role::service;
    if (config.role == Role::node || (!joins && named < 2)) return {DivideBy::objects};
    const bool is_one = named == 1 || config.own_namespace;
    return {is_one ? DivideBy::nothing : DivideBy::namespaces};
}

DividedDiscovery::DividedDiscovery() : share_(nullptr, {}) {}

void DividedDiscovery::share(const FleetShare& share, TimePoint now) {
    finish_handovers(now);
    FleetShare next = as_member(share);
    if (next == share_) return;
    std::erase_if(before_, [&](const HandedOver& before) { return before.share == next; });
    const bool had_any = !share_.is_shared() || share_.view();
    if (had_any) before_.push_back({share_, detail::due_after(now, handover_)});
    share_ = std::move(next);
}

std::optional<TimePoint> DividedDiscovery::next_handover() const noexcept {
    // Handovers are ordered by time, the earliest first.
    if (before_.empty()) return std::nullopt;
    return before_.front().until;
}

void DividedDiscovery::finish_handovers(TimePoint now) {
    std::erase_if(before_, [&](const HandedOver& before) { return before.until <= now; });
}

bool DividedDiscovery::knows_part(const FleetStatus& fleet) const noexcept {
    return !share_.is_shared() || share_.view() || fleet.hold == ViewHold::no_active_member ||
           fleet.hold == ViewHold::wait_for_size;
}

std::optional<DiscoveryConfig> DividedDiscovery::part_of(DiscoveryConfig config) const {
    switch (config.division.by) {
        case DivideBy::objects: {
            if (!config.share.is_all()) {
                throw ConfigError("share", "is set by the fleet (division); leave it out");
            }
            auto mine = ranges(config.division.slots);
            if (mine.empty()) return std::nullopt;
            config.share = ObjectShare(std::move(mine));
            return config;
        }
        case DivideBy::namespaces:
            if (names_all(config)) config.namespaces = namespaces_;
            std::erase_if(config.namespaces, [&](const std::string& ns) {
                return !discovers(detail::namespace_key(ns));
            });
            if (config.namespaces.empty()) return std::nullopt;
            // The division exists to avoid a watch of all namespaces.
            config.watch.cluster_wide_from = 0;
            return config;
        default: return config;
    }
}

SharedList<DiscoveryConfig> DividedDiscovery::parts_of(
    const SharedList<DiscoveryConfig>& configs) const {
    SharedList<DiscoveryConfig> parts;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        if (configs[i].division.by == DivideBy::nothing) {
            parts.share(configs.pointer(i));
        } else if (auto part = part_of(configs[i])) {
            parts.push_back(*std::move(part));
        }
    }
    return parts;
}

bool DividedDiscovery::discovers(std::uint64_t key) const noexcept {
    return share_.owns(key) ||
           std::any_of(before_.begin(), before_.end(),
                       [&](const HandedOver& before) { return before.share.owns(key); });
}

/// The slots to discover, with adjacent ones merged.
std::vector<HashRange> DividedDiscovery::ranges(unsigned slots) const {
    std::vector<HashRange> ranges;
    for (unsigned slot = 0; slot < slots;) {
        const unsigned first = slot;
        while (slot < slots && discovers(detail::slot_key(slot, slots))) ++slot;
        if (slot != first) {
            ranges.push_back({detail::slot_begin(first, slots), detail::slot_begin(slot, slots)});
        } else {
            ++slot;
        }
    }
    merge_nearest(ranges, ObjectShare::max_ranges);
    return ranges;
}

}  // namespace k8s_sd::inline v0
