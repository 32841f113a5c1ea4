#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/scrape/built_group.hpp"
#include "k8s_sd/detail/scrape/target_packer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

/// Provides the outcomes of an earlier version of a group, in the order of targets.
class BuiltGroup::Earlier {
 public:
    Earlier(const BuiltGroup* built, const TargetGroup& now)
        : built_(built && built->group_->labels() == now.labels() ? built : nullptr) {}

    /// \returns nullopt if the target has changed
    std::optional<BuiltTarget> at(std::uint32_t index, const TargetGroupPtr& now) {
        if (!built_ || index >= built_->group_->size()) return std::nullopt;
        if ((*built_->group_)[index] != (*now)[index]) return std::nullopt;
        const auto targets = built_->targets();
        while (target_ < targets.size() && targets[target_]->index() < index) ++target_;
        if (target_ < targets.size() && targets[target_]->index() == index) {
            return TargetPacker::repack(*targets[target_], now, index);
        }
        if (!built_->outcomes_) return DropReason::relabelling;
        const Outcomes& all = *built_->outcomes_;
        if (const Dropped* target = find(all.dropped, dropped_, index)) return target->reason;
        if (const Others* target = find(all.others, others_, index)) {
            return OthersTarget{target->key};
        }
        return TargetError{find(all.failed, failed_, index)->message};
    }

 private:
    /// \returns null if the list lacks the index
    template <class List>
    static const typename List::value_type* find(const List& list, std::size_t& place,
                                                 std::uint32_t index) {
        while (place < list.size() && list[place].index < index) ++place;
        return place < list.size() && list[place].index == index ? &list[place] : nullptr;
    }

    const BuiltGroup* built_;
    std::size_t target_ = 0, dropped_ = 0, failed_ = 0, others_ = 0;
};

/// The moving targets of another version of a group, at any index.
class BuiltGroup::MovingTargets {
 public:
    /// \param built  null: none
    explicit MovingTargets(const BuiltGroup* built) {
        if (!built) return;
        auto target = built->targets().begin();
        for (const Moving& place : built->moving()) {
            while ((*target)->index() != place.index) ++target;
            entries_.push_back({target->get(), place.until});
        }
        // Of equal targets the first one counts.
        std::stable_sort(entries_.begin(), entries_.end(),
                         [](const MovingTarget& a, const MovingTarget& b) {
                             return a.target->hash() < b.target->hash();
                         });
    }

    /// Continues the handover of a target still equal in a new version of its group.
    void go_on(TargetBuilder& builder, const TargetGroupPtr& group, std::uint32_t index,
               BuiltTarget& built, Outcomes& outcomes) const {
        if (entries_.empty()) return;
        const bool is_others = std::holds_alternative<OthersTarget>(built);
        BuiltTarget mine = is_others ? builder.build(group, index) : built;
        const auto* target = std::get_if<ScrapeTargetPtr>(&mine);
        const auto until = target ? until_of(**target) : std::nullopt;
        if (!until) return;
        outcomes.moving.push_back({index, *until});
        built = std::move(mine);
    }

 private:
    struct MovingTarget {
        const ScrapeTarget* target;
        TimePoint until;
    };

    /// The end of a target's handover; nullopt: not moving.
    std::optional<TimePoint> until_of(const ScrapeTarget& target) const {
        const auto has_less = [](const MovingTarget& entry, std::uint64_t hash) {
            return entry.target->hash() < hash;
        };
        auto it = std::lower_bound(entries_.begin(), entries_.end(), target.hash(), has_less);
        for (; it != entries_.end() && it->target->hash() == target.hash(); ++it) {
            if (it->target->same_as(target)) return it->until;
        }
        return std::nullopt;
    }

    std::vector<MovingTarget> entries_;  ///< sorted by hash
};

namespace {

/// The new owner starts at once, so it has scraped the target by then.
Duration handover_time(const ScrapeTarget& target) {
    return std::max<Duration>(2 * target.scrape_interval(), std::chrono::seconds(30));
}

}  // namespace

void BuiltGroup::Outcomes::add(std::uint32_t index, BuiltTarget built) {
    if (auto* target = std::get_if<ScrapeTargetPtr>(&built)) {
        targets.push_back(std::move(*target));
    } else if (const auto* reason = std::get_if<DropReason>(&built)) {
        dropped.push_back({index, *reason});
    } else if (const auto* other = std::get_if<OthersTarget>(&built)) {
        others.push_back({index, other->key});
    } else {
        failed.push_back({index, std::move(std::get<TargetError>(built).message)});
    }
}

void BuiltGroup::Outcomes::sort() {
    const auto by_index = [](const auto& a, const auto& b) { return a.index < b.index; };
    std::sort(targets.begin(), targets.end(),
              [](const auto& a, const auto& b) { return a->index() < b->index(); });
    std::sort(dropped.begin(), dropped.end(), by_index);
    std::sort(failed.begin(), failed.end(), by_index);
    std::sort(others.begin(), others.end(), by_index);
}

bool BuiltGroup::Outcomes::is_small(std::size_t all) const noexcept {
    const bool by_rules = std::all_of(dropped.begin(), dropped.end(), [](const Dropped& target) {
        return target.reason == DropReason::relabelling;
    });
    return by_rules && targets.size() <= 1 && targets.size() + dropped.size() == all &&
           moving.empty();
}

BuiltGroup::BuiltGroup(TargetBuilder& builder, const TargetGroupPtr& group, const FleetShare& share,
                       const BuiltGroup* earlier, const BuiltGroup* moving) {
    Earlier known(earlier, *group);
    const MovingTargets moves(moving);
    Outcomes outcomes;
    for (std::uint32_t i = 0; i < group->size(); ++i) {
        std::optional<BuiltTarget> as_before = known.at(i, group);
        BuiltTarget built = as_before ? *std::move(as_before) : builder.build(group, i, share);
        // A newly built target of this member is not moving.
        const bool may_move = as_before || std::holds_alternative<OthersTarget>(built);
        if (may_move) moves.go_on(builder, group, i, built, outcomes);
        outcomes.add(i, std::move(built));
    }
    *this = BuiltGroup(group, std::move(outcomes));
}

BuiltGroup::BuiltGroup(TargetGroupPtr group, Outcomes outcomes) : group_(std::move(group)) {
    if (outcomes.is_small(group_->size())) {
        if (!outcomes.targets.empty()) only_ = std::move(outcomes.targets.front());
        return;
    }
    outcomes.targets.shrink_to_fit();
    outcomes.dropped.shrink_to_fit();
    outcomes.others.shrink_to_fit();
    outcomes_ = std::make_unique<Outcomes>(std::move(outcomes));
}

/// The complete outcomes, from either form of storage.
BuiltGroup::Outcomes BuiltGroup::outcomes() const {
    if (outcomes_) return *outcomes_;
    Outcomes all;
    all.targets.assign(targets().begin(), targets().end());
    for_each_dropped([&](std::uint32_t index, DropReason reason) {
        all.dropped.push_back({index, reason});
        return true;
    });
    return all;
}

std::optional<BuiltGroup::Reshared> BuiltGroup::reshared(TargetBuilder& builder,
                                                         const FleetShare& share,
                                                         TimePoint now) const {
    std::vector<Moving> moving_now;
    auto known = moving().begin();
    for (const ScrapeTargetPtr& target : targets()) {
        const bool was_moving = known != moving().end() && known->index == target->index();
        const Moving before = was_moving ? *known++
                                         : Moving{static_cast<std::uint32_t>(target->index()),
                                                  due_after(now, handover_time(*target))};
        if (!share.owns(builder.share_key(*target))) moving_now.push_back(before);
    }
    const std::span<const Others> others =
        outcomes_ ? std::span<const Others>(outcomes_->others) : std::span<const Others>();
    const auto is_gained = [&](const Others& target) { return share.owns(target.key); };
    const bool gains = std::any_of(others.begin(), others.end(), is_gained);
    const auto same_index = [](const Moving& a, const Moving& b) { return a.index == b.index; };
    if (!gains && std::equal(moving_now.begin(), moving_now.end(), moving().begin(), moving().end(),
                             same_index)) {
        return std::nullopt;
    }
    Outcomes next = outcomes();
    next.moving = std::move(moving_now);
    std::erase_if(next.others, is_gained);
    const std::size_t kept = next.targets.size();
    for (const Others& target : others) {
        if (is_gained(target)) next.add(target.index, builder.build(group_, target.index, share));
    }
    std::vector<ScrapeTargetPtr> gained(next.targets.begin() + static_cast<std::ptrdiff_t>(kept),
                                        next.targets.end());
    next.sort();
    return Reshared{BuiltGroup(group_, std::move(next)), std::move(gained)};
}

std::optional<BuiltGroup::Reshared> BuiltGroup::without_moved(const TargetBuilder& builder,
                                                              TimePoint now) const {
    const auto has_moved = [&](const Moving& target) { return target.until <= now; };
    if (std::none_of(moving().begin(), moving().end(), has_moved)) return std::nullopt;
    Outcomes next = outcomes();
    std::vector<ScrapeTargetPtr> kept;
    std::vector<ScrapeTargetPtr> gone;
    auto place = moving().begin();
    for (ScrapeTargetPtr& target : next.targets) {
        const bool moves = place != moving().end() && place->index == target->index();
        if (moves && has_moved(*place++)) {
            next.others.push_back(
                {static_cast<std::uint32_t>(target->index()), builder.share_key(*target)});
            gone.push_back(std::move(target));
        } else {
            kept.push_back(std::move(target));
        }
    }
    next.targets = std::move(kept);
    std::erase_if(next.moving, has_moved);
    next.sort();
    return Reshared{BuiltGroup(group_, std::move(next)), std::move(gone)};
}

std::size_t GroupHash::operator()(std::string_view source) const noexcept {
    return SeededHash{}(source);
}

}  // namespace k8s_sd::inline v0::detail
