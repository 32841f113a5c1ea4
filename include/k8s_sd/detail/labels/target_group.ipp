#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace k8s_sd::inline v0 {

// --- groups with parts ---------------------------------------------------------------------------

TargetGroupPtr TargetGroup::make(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                                 std::span<detail::PlacedPart> parts, std::uint64_t share_key) {
    PartCount count{static_cast<std::uint32_t>(parts.size()),
                    static_cast<std::uint32_t>(parts.size())};
    for (const auto& [part, first, stride] : parts) {
        if (part && part->size() > part->regular()) ++count.all;
    }
    const detail::TargetEnd own_end{static_cast<std::uint32_t>(blocks.size())};
    const std::size_t bytes =
        sizeof(TargetGroup) + bytes_of_ends(1, has_small_ends(own_end, source)) +
        blocks.size_bytes() + sizeof(PartCount) + count.all * sizeof(detail::PlacedPart) +
        key_size(share_key) + source.size();
    return new (::operator new(bytes))
        TargetGroup(source, blocks, parts, own_end, count, share_key);
}

TargetGroup::TargetGroup(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                         std::span<detail::PlacedPart> parts, detail::TargetEnd own_end,
                         PartCount count, std::uint64_t share_key) noexcept
    : targets_(0),
      in_parts_(true),
      has_share_key_(share_key != 0),
      has_small_ends_(has_small_ends(own_end, source)) {
    auto* block_memory = write_ends(source, {&own_end, 1});
    auto* count_memory = reinterpret_cast<PartCount*>(block_memory + blocks.size());
    auto* part_memory = reinterpret_cast<detail::PlacedPart*>(count_memory + 1);
    std::uninitialized_move(blocks.begin(), blocks.end(), block_memory);
    new (count_memory) PartCount(count);
    std::uint32_t targets = 0;
    for (const detail::PlacedPart& placed : parts) {
        targets += placed.part ? static_cast<std::uint32_t>(placed.part->regular()) : 0U;
    }
    auto* extra = part_memory + parts.size();
    for (const detail::PlacedPart& placed : parts) {
        if (!placed.part || placed.part->size() == placed.part->regular()) continue;
        new (extra++) detail::PlacedPart{placed.part, targets, 1};
        targets += static_cast<std::uint32_t>(placed.part->size() - placed.part->regular());
    }
    targets_ = targets & max_targets;
    std::uninitialized_move(parts.begin(), parts.end(), part_memory);
    char* const text_memory = write_key(extra, share_key);
    source.copy(text_memory, source.size());
}

Labels TargetGroup::in_part(std::size_t target) const noexcept {
    const detail::PlacedPart* const begin = placed();
    const auto starts_behind = [](std::size_t index, const detail::PlacedPart& candidate) {
        return index < candidate.first;
    };
    const detail::PlacedPart* found =
        std::upper_bound(begin, begin + count().all, target, starts_behind) - 1;
    const std::size_t offset = target - found->first;
    if (found >= begin + count().regular) return (*found->part)[found->part->regular() + offset];
    if (offset == 0) return (*found->part)[0];
    // The last one of the alternating parts was found.
    const std::size_t before = found->stride - 1;
    const std::size_t in_run = offset + before;
    return (*(found - before + in_run % found->stride)->part)[in_run / found->stride];
}

bool TargetGroup::has_parts_of(const TargetGroup& other) const noexcept {
    const auto equal = [](const detail::PlacedPart& a, const detail::PlacedPart& b) {
        if (a.first != b.first || a.stride != b.stride) return false;
        if (a.part == b.part) return true;
        if (!a.part || !b.part || a.part->regular() != b.part->regular()) return false;
        if (a.part->size() != b.part->size()) return false;
        for (std::size_t i = 0; i < a.part->size(); ++i) {
            if ((*a.part)[i] != (*b.part)[i]) return false;
        }
        return true;
    };
    const auto mine = parts();
    const auto others = other.parts();
    return std::equal(mine.begin(), mine.end(), others.begin(), others.end(), equal);
}

bool TargetGroup::equals(const TargetGroup& other) const noexcept {
    if (this == &other) return true;
    if (share_key() != other.share_key()) return false;
    if (targets_ != other.targets_ || labels() != other.labels()) return false;
    if (in_parts_ && other.in_parts_ && has_parts_of(other)) return true;
    // Different parts can contain the same targets.
    for (std::size_t i = 0; i < targets_; ++i) {
        if ((*this)[i] != other[i]) return false;
    }
    return true;
}

// --- changes -------------------------------------------------------------------------------------

namespace {

/// Compares two versions of a group, without visiting their shared parts.
class TargetComparison {
 public:
    TargetComparison(const TargetGroup* previous, const TargetGroup* current)
        : previous_(previous), current_(current) {}

    TargetChanges changes() {
        const std::size_t before = previous_ ? previous_->size() : 0;
        const std::size_t now = current_ ? current_->size() : 0;
        const std::size_t beginning = equal_beginning(std::min(before, now));
        if (beginning == before && beginning == now) return all_kept(now);
        kept_before_.assign(before, false);
        kept_now_.assign(now, false);
        if (before > 0 && now > 0) mark(beginning);
        return marked();
    }

 private:
    static TargetChanges all_kept(std::size_t targets) {
        TargetChanges result;
        result.kept.resize(targets);
        std::iota(result.kept.begin(), result.kept.end(), std::size_t{0});
        return result;
    }
    TargetChanges marked() const {
        TargetChanges result;
        for (std::size_t i = 0; i < kept_now_.size(); ++i) {
            (kept_now_[i] ? result.kept : result.added).push_back(i);
        }
        for (std::size_t i = 0; i < kept_before_.size(); ++i) {
            if (!kept_before_[i]) result.removed.push_back(i);
        }
        return result;
    }

    void mark(std::size_t beginning) {
        const auto size = static_cast<std::ptrdiff_t>(beginning);
        std::fill_n(kept_before_.begin(), size, true);
        std::fill_n(kept_now_.begin(), size, true);
        mark_shared();
        mark_equal();
    }
    void mark_shared() {
        const auto before = detail::Access::parts(*previous_);
        const auto now = detail::Access::parts(*current_);
        // Extra targets follow the regular ones, in the same order of parts.
        const auto* extra_before = before.data() + before.size();
        const auto* extra_now = now.data() + now.size();
        for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
            const bool shared = before[i].part && before[i].part == now[i].part;
            if (shared) {
                mark(kept_before_, before[i], before[i].part->regular());
                mark(kept_now_, now[i], now[i].part->regular());
            }
            mark_extra(kept_before_, before[i], extra_before, shared);
            mark_extra(kept_now_, now[i], extra_now, shared);
        }
    }
    static void mark(std::vector<bool>& kept, const detail::PlacedPart& placed, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) kept[placed.first + i * placed.stride] = true;
    }
    static void mark_extra(std::vector<bool>& kept, const detail::PlacedPart& placed,
                           const detail::PlacedPart*& extra, bool shared) {
        const std::size_t n = placed.part ? placed.part->size() - placed.part->regular() : 0;
        if (n == 0) return;
        if (shared) mark(kept, *extra, n);
        ++extra;
    }

    /// If only the labels of a group have changed, most targets are unchanged and in order.
    std::size_t equal_beginning(std::size_t both) const {
        if (both == 0 || !detail::Access::parts(*previous_).empty() ||
            !detail::Access::parts(*current_).empty())
            return 0;
        std::size_t i = 0;
        while (i < both && (*previous_)[i] == (*current_)[i]) ++i;
        return i;
    }

    /// Equal targets can occur more than once: each matches one previous target.
    void mark_equal() {
        boost::unordered_flat_map<std::size_t, std::vector<std::size_t>> by_hash;
        for (std::size_t i = kept_before_.size(); i-- > 0;) {
            if (!kept_before_[i]) by_hash[(*previous_)[i].hash()].push_back(i);
        }
        for (std::size_t i = 0; i < kept_now_.size() && !by_hash.empty(); ++i) {
            if (kept_now_[i]) continue;
            const Labels target = (*current_)[i];
            const auto it = by_hash.find(target.hash());
            if (it == by_hash.end()) continue;
            auto& candidates = it->second;
            for (auto candidate = candidates.rbegin(); candidate != candidates.rend();
                 ++candidate) {
                if ((*previous_)[*candidate] != target) continue;
                kept_before_[*candidate] = kept_now_[i] = true;
                candidates.erase(std::next(candidate).base());
                break;
            }
        }
    }

    const TargetGroup* previous_;  // null: none
    const TargetGroup* current_;   // null: none
    std::vector<bool> kept_before_;
    std::vector<bool> kept_now_;
};

}  // namespace

TargetChanges compare_targets(const TargetGroupPtr& previous, const TargetGroupPtr& current) {
    return TargetComparison(previous.get(), current.get()).changes();
}

}  // namespace k8s_sd::inline v0
