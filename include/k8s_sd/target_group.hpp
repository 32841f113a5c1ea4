#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/labels/target_part.hpp"
#include "k8s_sd/labels.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The targets that come from one Kubernetes object, or from another source that a TargetGroupMaker
/// tells of. Immutable; shared by all discoverers of one scope and view and by every diff that
/// mentions it. Thread-safe.
class TargetGroup final : public boost::intrusive_ref_counter<TargetGroup> {
 public:
    /// Identity of the object: "pod/<namespace>/<name>", "svc/…", "endpoints/…",
    /// "endpointslice/…", "ingress/…", "node/<name>" (Prometheus' sources). Of a group of another
    /// source: what tells it from the others of that source.
    std::string_view source() const noexcept {
        const void* text = in_parts_ ? static_cast<const void*>(placed() + count().all)
                                     : static_cast<const void*>(ends() + targets_ + 1);
        return {static_cast<const char*>(text), source_size_};
    }
    /// What decides which member of a fleet owns its targets, where members divide what they
    /// discover (DiscoveryConfig::division): a key for FleetShare::owns(). 0: nothing is divided.
    std::uint64_t share_key() const noexcept { return share_key_; }
    /// Labels that all targets have in common.
    Labels labels() const noexcept { return {blocks(), blocks() + group_blocks()}; }
    /// Number of targets; a group that reaches a host has at least one.
    std::size_t size() const noexcept { return targets_; }
    /// Labels of one target, `__address__` among them. They override labels(). Of an object with
    /// endpoints it takes a time that grows with the logarithm of size().
    Labels operator[](std::size_t target) const noexcept {
        if (in_parts_) return in_part(target);
        return {blocks() + ends()[target], blocks() + ends()[target + 1]};
    }
    /// Group and target labels in one map; labels without a value are left out.
    LabelMap merged(std::size_t target) const {
        LabelMap map = (*this)[target].to_map();
        for (const auto [name, value] : labels()) map.emplace(name, value);
        std::erase_if(map, [](const auto& label) { return label.second.empty(); });
        return map;
    }

    /// Same targets with the same labels, in the same order, and the same share_key(). Where two
    /// versions of a group share targets, these are not compared.
    friend bool operator==(const TargetGroup& a, const TargetGroup& b) noexcept {
        return a.equals(b);
    }

    /// Of the library itself; hosts have TargetGroupMaker.
    /// \param blocks  those of the group's labels, then those of each target; moved from
    /// \param ends    where the group's blocks end, then where each target's end
    static boost::intrusive_ptr<const TargetGroup> make(std::string_view source,
                                                        std::span<detail::LabelBlockPtr> blocks,
                                                        std::span<const std::uint32_t> ends,
                                                        std::uint64_t share_key = 0) {
        const std::size_t bytes =
            sizeof(TargetGroup) + blocks.size_bytes() + ends.size_bytes() + source.size();
        return new (::operator new(bytes)) TargetGroup(source, blocks, ends, share_key);
    }
    /// Of the library itself: a group with parts. Their extra targets come after the regular ones
    /// of all.
    /// \param blocks  those of the group's labels; moved from
    /// \param parts   in the order of their first targets; moved from
    K8S_SD_EXPORT static boost::intrusive_ptr<const TargetGroup> make(
        std::string_view source, std::span<detail::LabelBlockPtr> blocks,
        std::span<detail::PlacedPart> parts, std::uint64_t share_key = 0);
    /// Of the library itself: those that make() was given; empty if it was given none.
    std::span<const detail::PlacedPart> parts() const noexcept {
        if (!in_parts_) return {};
        return {placed(), count().regular};
    }
    /// Of the library itself: whether the parts are the same, one by one. Groups can be equal and
    /// yet have other parts.
    K8S_SD_EXPORT bool has_parts_of(const TargetGroup&) const noexcept;
    /// Of the library itself: the blocks of labels().
    std::span<const detail::LabelBlockPtr> label_blocks() const noexcept {
        return {blocks(), group_blocks()};
    }
    /// Of the library itself, for a group without parts: the blocks of a target.
    std::span<const detail::LabelBlockPtr> target_blocks(std::size_t target) const noexcept {
        return {blocks() + ends()[target], blocks() + ends()[target + 1]};
    }

    ~TargetGroup() {
        std::destroy_n(blocks(), blocks_);
        if (in_parts_) std::destroy_n(placed(), count().all);
    }
    TargetGroup(const TargetGroup&) = delete;
    TargetGroup& operator=(const TargetGroup&) = delete;
    /// The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

 private:
    /// Behind the blocks of a group with parts. A part with extra targets is there twice: the
    /// second time, behind all others, `first` is the place of the first extra one.
    struct PartCount {
        std::uint32_t regular;
        std::uint32_t all;
    };

    TargetGroup(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                std::span<const std::uint32_t> ends, std::uint64_t share_key) noexcept
        : share_key_(share_key),
          targets_(static_cast<std::uint32_t>(ends.size() - 1)),
          blocks_(static_cast<std::uint32_t>(blocks.size())),
          source_size_(static_cast<std::uint32_t>(source.size()) & 0x7FFFFFFFU),
          in_parts_(false) {
        auto* block_memory = reinterpret_cast<detail::LabelBlockPtr*>(this + 1);
        auto* end_memory = reinterpret_cast<std::uint32_t*>(block_memory + blocks.size());
        std::uninitialized_move(blocks.begin(), blocks.end(), block_memory);
        std::uninitialized_copy(ends.begin(), ends.end(), end_memory);
        std::uninitialized_copy(source.begin(), source.end(),
                                reinterpret_cast<char*>(end_memory + ends.size()));
    }
    TargetGroup(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                std::span<detail::PlacedPart> parts, PartCount, std::uint64_t share_key) noexcept;

    K8S_SD_EXPORT bool equals(const TargetGroup&) const noexcept;
    K8S_SD_EXPORT Labels in_part(std::size_t target) const noexcept;

    const detail::LabelBlockPtr* blocks() const noexcept {
        return reinterpret_cast<const detail::LabelBlockPtr*>(this + 1);
    }
    const std::uint32_t* ends() const noexcept {
        return reinterpret_cast<const std::uint32_t*>(blocks() + blocks_);
    }
    const PartCount& count() const noexcept {
        return *reinterpret_cast<const PartCount*>(blocks() + blocks_);
    }
    const detail::PlacedPart* placed() const noexcept {
        return reinterpret_cast<const detail::PlacedPart*>(&count() + 1);
    }
    std::size_t group_blocks() const noexcept { return in_parts_ ? blocks_ : ends()[0]; }

    std::uint64_t share_key_;
    std::uint32_t targets_;
    std::uint32_t blocks_;
    std::uint32_t source_size_ : 31;
    std::uint32_t in_parts_ : 1;
};

static_assert(sizeof(TargetGroup) % alignof(detail::LabelBlockPtr) == 0);

/// Shared ownership of a target group.
using TargetGroupPtr = boost::intrusive_ptr<const TargetGroup>;

/// How the targets of one group changed. A target is known by its own labels (not the group's).
/// Of several equal ones, as many are kept as both groups have.
struct TargetChanges {
    std::vector<std::size_t> added;    ///< indices in the new group
    std::vector<std::size_t> removed;  ///< indices in the previous group
    std::vector<std::size_t> kept;     ///< indices in the new group
};

/// Both may be null, which counts as a group without targets. Where two versions of a group share
/// targets, these are not compared.
K8S_SD_EXPORT TargetChanges compare_targets(const TargetGroupPtr& previous,
                                            const TargetGroupPtr& current);

/// One group that was added or changed.
struct GroupChange {
    TargetGroupPtr group;     ///< replaces the one of the same source; has targets
    TargetGroupPtr previous;  ///< equal to what the host had; null: nothing
    /// The Kubernetes object was replaced by another one of the same name (another UID): nothing
    /// of `previous` lives on.
    bool replaced = false;

    /// Which targets were added, removed and kept.
    TargetChanges targets() const { return compare_targets(replaced ? nullptr : previous, group); }
};

/// What changed since the previous diff. Applied to the previous state it gives the current one;
/// nothing unchanged is in it.
struct TargetGroupDiff {
    bool full = false;                    ///< the complete state: forget everything else
    std::vector<GroupChange> updated;     ///< added or changed
    std::vector<TargetGroupPtr> removed;  ///< as the host had them
    /// The state comes from a snapshot, see WarmStart: the API server has not confirmed it. An
    /// address may belong to somebody else by now, so give it no credentials. Set in full diffs.
    bool unconfirmed = false;
    /// What was unconfirmed is confirmed now, as far as this diff does not change it.
    bool confirms = false;
    /// Whether there is nothing to tell.
    bool empty() const noexcept { return !full && !confirms && updated.empty() && removed.empty(); }
};

}  // namespace k8s_sd::inline v0
