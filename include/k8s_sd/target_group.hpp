#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/target_part.hpp"
#include "k8s_sd/labels.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// The targets of one Kubernetes object, or of another source through a TargetGroupMaker.
/// Immutable; shared by all discoverers of one scope and view and by all diffs with this group.
/// Thread-safe.
class TargetGroup final : public boost::intrusive_ref_counter<TargetGroup> {
 public:
    /// Identity of the object: "pod/<namespace>/<name>", "svc/…", "endpoints/…",
    /// "endpointslice/…", "ingress/…", "node/<name>" (Prometheus' sources). For a group of another
    /// source: its identity within this source.
    std::string_view source() const noexcept {
        return with_ends([this]<class End>(const End* ends) {
            return std::string_view(text_behind(pointers_end(ends)), ends[0].address);
        });
    }
    /// The key for FleetShare::owns() if members of a fleet divide the discovered objects
    /// (DiscoveryConfig::division): selects the owner of all targets. 0: not divided.
    std::uint64_t share_key() const noexcept {
        if (!has_share_key_) return 0;
        return with_ends([this](const auto* ends) {
            return *static_cast<const std::uint64_t*>(pointers_end(ends));
        });
    }
    /// Labels common to all targets.
    Labels labels() const noexcept {
        const auto own = label_blocks();
        return detail::Access::make<Labels>(own.data(), own.data() + own.size());
    }
    /// Number of targets; a delivered group has at least one.
    std::size_t size() const noexcept { return targets_; }
    /// Labels of one target, including `__address__`. They override labels(). Takes time
    /// logarithmic in size() for an object with endpoints.
    Labels operator[](std::size_t target) const noexcept {
        if (in_parts_) return in_part(target);
        return with_ends([&]<class End>(const End* ends) {
            const detail::LabelBlockPtr* const blocks = blocks_behind<End>();
            const char* const text = text_behind(blocks + ends[targets_].blocks);
            return detail::labels_between(ends[target], ends[target + 1], blocks, text);
        });
    }
    /// Group and target labels in one map, without empty values.
    LabelMap merged(std::size_t target) const {
        LabelMap map = (*this)[target].to_map();
        for (const auto [name, value] : labels()) map.emplace(name, value);
        std::erase_if(map, [](const auto& label) { return label.second.empty(); });
        return map;
    }

    /// Whether both have the same targets with the same labels, in the same order, and the same
    /// share_key(). Targets shared by two versions of a group are not compared.
    friend bool operator==(const TargetGroup& a, const TargetGroup& b) noexcept {
        return a.equals(b);
    }

    ~TargetGroup() {
        std::destroy_n(blocks(), block_count());
        if (in_parts_) std::destroy_n(placed(), count().all);
    }
    TargetGroup(const TargetGroup&) = delete;
    TargetGroup& operator=(const TargetGroup&) = delete;
    /// The allocation is larger than the class, so sized deallocation must not be used.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

 private:
    friend struct detail::Access;

    static constexpr std::uint32_t max_targets = 0x1FFFFFFFU;

    /// \param blocks     blocks of the group's labels, then of each target; moved from
    /// \param ends       end of the group's labels, then of each target
    /// \param addresses  of one target after the other
    static boost::intrusive_ptr<const TargetGroup> make(std::string_view source,
                                                        std::span<detail::LabelBlockPtr> blocks,
                                                        std::span<const detail::TargetEnd> ends,
                                                        std::string_view addresses,
                                                        std::uint64_t share_key = 0) {
        const bool small = has_small_ends(ends.back(), source);
        const std::size_t bytes = sizeof(TargetGroup) + bytes_of_ends(ends.size(), small) +
                                  blocks.size_bytes() + key_size(share_key) + source.size() +
                                  addresses.size();
        return new (::operator new(bytes))
            TargetGroup(source, blocks, ends, small, addresses, share_key);
    }
    /// A group with parts. Their extra targets follow the regular targets
    /// of all parts.
    /// \param blocks  blocks of the group's labels; moved from
    /// \param parts   in the order of their first targets; moved from
    K8S_SD_EXPORT static boost::intrusive_ptr<const TargetGroup> make(
        std::string_view source, std::span<detail::LabelBlockPtr> blocks,
        std::span<detail::PlacedPart> parts, std::uint64_t share_key = 0);
    /// The parts given to make(); empty without parts.
    std::span<const detail::PlacedPart> parts() const noexcept {
        if (!in_parts_) return {};
        return {placed(), count().regular};
    }
    /// Whether all parts are identical, one by one. Equal groups can have
    /// different parts.
    K8S_SD_EXPORT bool has_parts_of(const TargetGroup&) const noexcept;
    /// The blocks of labels().
    std::span<const detail::LabelBlockPtr> label_blocks() const noexcept {
        return with_ends([this]<class End>(const End* ends) {
            return std::span(blocks_behind<End>(), ends[0].blocks);
        });
    }

    /// Follows the blocks of a group with parts. A part with extra targets has a second entry after
    /// all regular ones; its `first` is the index of the first extra target.
    struct PartCount {
        std::uint32_t regular;
        std::uint32_t all;
    };

    TargetGroup(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                std::span<const detail::TargetEnd> ends, bool small_ends,
                std::string_view addresses, std::uint64_t share_key) noexcept
        : targets_(static_cast<std::uint32_t>(ends.size() - 1) & max_targets),
          in_parts_(false),
          has_share_key_(share_key != 0),
          has_small_ends_(small_ends) {
        detail::LabelBlockPtr* const block_memory = write_ends(source, ends);
        std::uninitialized_move(blocks.begin(), blocks.end(), block_memory);
        char* const text_memory = write_key(block_memory + blocks.size(), share_key);
        source.copy(text_memory, source.size());
        addresses.copy(text_memory + source.size(), addresses.size());
    }
    TargetGroup(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                std::span<detail::PlacedPart> parts, detail::TargetEnd own_end, PartCount,
                std::uint64_t share_key) noexcept;

    K8S_SD_EXPORT bool equals(const TargetGroup&) const noexcept;
    K8S_SD_EXPORT Labels in_part(std::size_t target) const noexcept;

    // Most groups have no key, so it takes no room in them.
    static std::size_t key_size(std::uint64_t share_key) noexcept {
        return share_key == 0 ? 0 : sizeof share_key;
    }
    /// \returns the end of the key, if there is one
    static char* write_key(void* memory, std::uint64_t share_key) noexcept {
        if (share_key != 0) new (memory) std::uint64_t(share_key);
        return static_cast<char*>(memory) + key_size(share_key);
    }

    /// \param last  without the source
    static bool has_small_ends(detail::TargetEnd last, std::string_view source) noexcept {
        last.address += static_cast<std::uint32_t>(source.size());
        return detail::are_small_ends(last);
    }
    static std::size_t bytes_of_ends(std::size_t count, bool small) noexcept {
        return small ? detail::bytes_of_ends<detail::SmallTargetEnd>(count)
                     : detail::bytes_of_ends<detail::TargetEnd>(count);
    }
    /// \returns the memory for the blocks
    detail::LabelBlockPtr* write_ends(std::string_view source,
                                      std::span<const detail::TargetEnd> ends) noexcept {
        const auto write = [&]<class End>(End* memory) {
            detail::write_ends<End>(memory, ends, static_cast<std::uint32_t>(source.size()));
            char* const begin = reinterpret_cast<char*>(memory);
            return reinterpret_cast<detail::LabelBlockPtr*>(
                begin + detail::bytes_of_ends<End>(ends.size()));
        };
        return has_small_ends_ ? write(reinterpret_cast<detail::SmallTargetEnd*>(this + 1))
                               : write(reinterpret_cast<detail::TargetEnd*>(this + 1));
    }

    // Behind the class, without parts: the ends of the group's labels and source and of each
    // target, the blocks, the key if there is one, the source, the addresses of the targets. With
    // parts: the end of the labels and source, the blocks, the count, the placed parts, the key,
    // the source.
    template <class Read>
    auto with_ends(Read read) const noexcept
        -> decltype(read(static_cast<const detail::TargetEnd*>(nullptr))) {
        return has_small_ends_ ? read(reinterpret_cast<const detail::SmallTargetEnd*>(this + 1))
                               : read(reinterpret_cast<const detail::TargetEnd*>(this + 1));
    }
    std::size_t end_count() const noexcept { return in_parts_ ? 1 : std::size_t{targets_} + 1; }
    template <class End>
    const detail::LabelBlockPtr* blocks_behind() const noexcept {
        return reinterpret_cast<const detail::LabelBlockPtr*>(
            reinterpret_cast<const char*>(this + 1) + detail::bytes_of_ends<End>(end_count()));
    }
    const detail::LabelBlockPtr* blocks() const noexcept {
        return with_ends([this]<class End>(const End*) { return blocks_behind<End>(); });
    }
    std::size_t block_count() const noexcept {
        return with_ends(
            [this](const auto* ends) -> std::size_t { return ends[end_count() - 1].blocks; });
    }
    const PartCount& count() const noexcept {
        return *reinterpret_cast<const PartCount*>(blocks() + block_count());
    }
    const detail::PlacedPart* placed() const noexcept {
        return reinterpret_cast<const detail::PlacedPart*>(&count() + 1);
    }
    template <class End>
    const void* pointers_end(const End* ends) const noexcept {
        return in_parts_ ? static_cast<const void*>(placed() + count().all)
                         : static_cast<const void*>(blocks_behind<End>() + ends[targets_].blocks);
    }
    const char* text_behind(const void* pointers) const noexcept {
        const auto* const begin = static_cast<const char*>(pointers);
        return has_share_key_ ? begin + sizeof(std::uint64_t) : begin;
    }

    // First, because the count of references has four bytes as well.
    std::uint32_t targets_ : 29;
    std::uint32_t in_parts_ : 1;
    std::uint32_t has_share_key_ : 1;
    std::uint32_t has_small_ends_ : 1;
};

static_assert(sizeof(TargetGroup) % alignof(detail::LabelBlockPtr) == 0);

/// Shared ownership of a target group.
using TargetGroupPtr = boost::intrusive_ptr<const TargetGroup>;

/// The changes of the targets of one group. Targets are identified by their own labels, without the
/// group's. Duplicates are kept as often as they are in both versions.
struct TargetChanges {
    std::vector<std::size_t> added;    ///< indices in the new group
    std::vector<std::size_t> removed;  ///< indices in the previous group
    std::vector<std::size_t> kept;     ///< indices in the new group
};

/// Compares two versions of a group; a null pointer counts as a group without targets. Targets
/// shared by both versions are not compared.
K8S_SD_EXPORT TargetChanges compare_targets(const TargetGroupPtr& previous,
                                            const TargetGroupPtr& current);

/// One added or changed group.
struct GroupChange {
    TargetGroupPtr group;     ///< replaces the one of the same source; has targets
    TargetGroupPtr previous;  ///< the last delivered state; null: none
    /// Another Kubernetes object with the same name (another UID) has replaced the previous one:
    /// none of the targets of `previous` continue.
    bool replaced = false;

    /// The added, removed and kept targets.
    TargetChanges targets() const { return compare_targets(replaced ? nullptr : previous, group); }
};

/// The changes since the previous diff: applied to the previous state they give the current one.
/// Has no unchanged groups. A large diff arrives in parts if the host asks for that, see `more`.
struct TargetGroupDiff {
    bool full = false;                    ///< the complete state: forget everything else
    std::vector<GroupChange> updated;     ///< added or changed groups
    std::vector<TargetGroupPtr> removed;  ///< in their last delivered state
    /// The state comes from a snapshot, see WarmStart, without confirmation by the API server.
    /// Another workload may own an address by now, so send it no credentials. Set in full diffs,
    /// and in the further parts of them.
    bool unconfirmed = false;
    /// The unconfirmed state is confirmed, with the changes in this diff.
    bool confirms = false;
    /// The rest of the same state, or of the same changes, follows in the next diffs, see
    /// DiscoveryConfig::max_groups_per_diff. The first part of a complete state has `full` set; the
    /// state is complete with the first diff that does not have `more`.
    bool more = false;
    /// Whether the diff has nothing to deliver.
    bool empty() const noexcept { return !full && !confirms && updated.empty() && removed.empty(); }
};

/// Joins the parts of a diff, for a host that applies each diff as a whole. Not thread-safe.
class DiffJoiner {
 public:
    /// Calls `apply(const TargetGroupDiff&)` with the whole diff if this is its last part. If that
    /// throws, it must have changed nothing: the next call has both diffs as one.
    template <class Apply>
    void add(const TargetGroupDiff& part, Apply&& apply) {
        if (part.full) is_open_ = false;
        if (!is_open_) {
            joined_ = {};
            if (!part.more) return apply_whole(part, apply);
            joined_.full = part.full;
        }
        is_open_ = true;
        joined_.updated.insert(joined_.updated.end(), part.updated.begin(), part.updated.end());
        joined_.removed.insert(joined_.removed.end(), part.removed.begin(), part.removed.end());
        joined_.unconfirmed = part.unconfirmed;
        joined_.confirms = part.confirms;
        is_open_ = part.more;
        if (is_open_) return;
        const TargetGroupDiff whole = std::exchange(joined_, {});
        apply_whole(whole, apply);
    }

 private:
    template <class Apply>
    void apply_whole(const TargetGroupDiff& diff, Apply& apply) {
        if (!missed_.empty()) return apply_missed(diff, apply);
        // In advance, because apply() may throw for lack of memory.
        std::list<TargetGroupDiff> copy = room_for(diff);
        try {
            apply(diff);
        } catch (...) {
            if (copy.empty()) copy.emplace_back();
            copy.front() = diff;
            missed_.swap(copy);
            throw;
        }
    }
    template <class Apply>
    void apply_missed(const TargetGroupDiff& diff, Apply& apply) {
        missed_.push_back(diff);
        while (missed_.size() > 1) {
            const auto second = std::next(missed_.begin());
            missed_.front() = sum_of(missed_.front(), *second);
            missed_.erase(second);
        }
        apply(std::as_const(missed_.front()));
        missed_.clear();
    }
    /// A diff to which the other one can be assigned without further memory; empty if there is
    /// none for it.
    static std::list<TargetGroupDiff> room_for(const TargetGroupDiff& diff) noexcept try {
        std::list<TargetGroupDiff> room(1);
        room.front().updated.reserve(diff.updated.size());
        room.front().removed.reserve(diff.removed.size());
        return room;
    } catch (const std::bad_alloc&) {
        return {};
    }

    static TargetGroupDiff sum_of(const TargetGroupDiff& earlier, const TargetGroupDiff& later) {
        if (later.full) return later;
        TargetGroupDiff sum;
        sum.full = earlier.full;
        sum.unconfirmed = earlier.unconfirmed && !later.confirms;
        sum.confirms = earlier.confirms || later.confirms;
        for (const GroupChange& change : sums_of(earlier, later)) {
            if (change.group) {
                sum.updated.push_back(change);
            } else if (change.previous) {
                sum.removed.push_back(change.previous);
            }
        }
        return sum;
    }
    /// One change of each group; without `group`: its removal.
    static std::vector<GroupChange> sums_of(const TargetGroupDiff& earlier,
                                            const TargetGroupDiff& later) {
        std::vector<GroupChange> sums;
        std::unordered_map<std::string_view, std::size_t> by_source;
        const auto add = [&](const GroupChange& change) {
            const std::string_view source =
                (change.group ? change.group : change.previous)->source();
            const auto [known, is_new] = by_source.emplace(source, sums.size());
            if (is_new) return sums.push_back(change);
            GroupChange& sum = sums[known->second];
            sum.group = change.group;
            sum.replaced = sum.replaced || change.replaced;
        };
        for (const TargetGroupDiff* const diff : {&earlier, &later}) {
            for (const GroupChange& change : diff->updated) add(change);
            for (const TargetGroupPtr& group : diff->removed) add({nullptr, group});
        }
        return sums;
    }

    std::list<TargetGroupDiff> missed_;  // apply() has thrown, or there was no memory for their sum
    TargetGroupDiff joined_;
    bool is_open_ = false;  // further parts follow
};

/// Makes the target groups of a TargetSource, for targets from elsewhere than Kubernetes. Groups of
/// one maker share their label names, so a host with many groups keeps one maker. Not thread-safe,
/// but its groups are.
class K8S_SD_EXPORT TargetGroupMaker {
 public:
    TargetGroupMaker();
    TargetGroupMaker(TargetGroupMaker&&) noexcept;
    TargetGroupMaker& operator=(TargetGroupMaker&&) noexcept;
    ~TargetGroupMaker();

    /// \param source   identifies the group within the TargetSource
    /// \param labels   labels common to all targets
    /// \param targets  labels of each target, including `__address__`; they override `labels`.
    ///                 Empty: the group removes the previous one of this source
    /// \throws ConfigError for an empty source, a label without a name, text in another encoding
    ///         than UTF-8, more than 1 000 000 targets, and more than 64 KiB of source or 1 GiB of
    ///         labels
    TargetGroupPtr make(std::string_view source, const LabelMap& labels,
                        const std::vector<LabelMap>& targets);

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
