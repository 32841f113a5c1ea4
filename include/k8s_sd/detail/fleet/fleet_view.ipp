#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/config/share_keys.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// The rendezvous weight of a member for a key; adding a member changes no other weight.
constexpr std::uint64_t weight_of(std::uint64_t seed, std::uint64_t key) noexcept {
    return detail::mix64(seed ^ key);
}

}  // namespace

std::uint64_t share_key(std::span<const std::string_view> parts) noexcept {
    return detail::key_of_parts(parts);
}

FleetView::FleetView(std::vector<std::string> members) : members_(std::move(members)) {
    std::sort(members_.begin(), members_.end());
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    seeds_.reserve(members_.size());
    for (const std::string& member : members_) {
        seeds_.push_back(detail::mix64(detail::fnv1a64(member)));
    }
    const std::vector<std::string_view> names(members_.begin(), members_.end());
    epoch_ = share_key(names);
}

std::size_t FleetView::index_of(std::string_view member) const noexcept {
    const auto it = std::lower_bound(members_.begin(), members_.end(), member);
    const bool found = it != members_.end() && *it == member;
    return found ? static_cast<std::size_t>(it - members_.begin()) : size();
}

std::vector<std::string_view> FleetView::owners(std::uint64_t key, unsigned replicas) const {
    const std::size_t wanted = std::min<std::size_t>(std::max(replicas, 1U), size());
    const auto heavier = [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    // A heap of the heaviest members so far, the lightest of them in front.
    std::vector<std::pair<std::uint64_t, std::size_t>> heaviest;
    heaviest.reserve(wanted);
    for (std::size_t i = 0; i < size(); ++i) {
        const std::uint64_t weight = weight_of(seeds_[i], key);
        if (heaviest.size() == wanted) {
            if (weight <= heaviest.front().first) continue;
            std::pop_heap(heaviest.begin(), heaviest.end(), heavier);
            heaviest.pop_back();
        }
        heaviest.emplace_back(weight, i);
        std::push_heap(heaviest.begin(), heaviest.end(), heavier);
    }
    std::sort_heap(heaviest.begin(), heaviest.end(), heavier);
    std::vector<std::string_view> owners;
    for (const auto& [weight, member] : heaviest) owners.emplace_back(members_[member]);
    return owners;
}

/// Usually the first few members already outweigh this one, and the loop ends early.
bool FleetView::owns(std::size_t member, std::uint64_t key, unsigned replicas) const noexcept {
    if (member >= size()) return false;
    const std::uint64_t own = weight_of(seeds_[member], key);
    unsigned heavier = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        const std::uint64_t other = weight_of(seeds_[i], key);
        const bool wins = other != own ? other > own : i < member;
        if (wins && ++heavier >= std::max(replicas, 1U)) return false;
    }
    return true;
}

FleetShare::FleetShare(FleetViewPtr view, std::string self, unsigned replicas)
    : shared_(true),
      view_(std::move(view)),
      self_(std::move(self)),
      index_(view_ ? view_->index_of(self_) : 0),
      replicas_(std::max(replicas, 1U)) {}

bool FleetShare::equals(const FleetShare& other) const noexcept {
    if (shared_ != other.shared_ || self_ != other.self_ || replicas_ != other.replicas_) {
        return false;
    }
    if (view_ == other.view_) return true;
    return view_ && other.view_ && *view_ == *other.view_;
}

}  // namespace k8s_sd::inline v0
