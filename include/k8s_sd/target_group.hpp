#pragma once

#include "k8s_sd/detail/base/abi.hpp"
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
        return {reinterpret_cast<const char*>(ends() + targets_ + 1), source_size_};
    }
    /// Labels that all targets have in common.
    Labels labels() const noexcept { return {blocks(), blocks() + ends()[0]}; }
    /// Number of targets; a group that reaches a host has at least one.
    std::size_t size() const noexcept { return targets_; }
    /// Labels of one target, `__address__` among them. They override labels().
    Labels operator[](std::size_t target) const noexcept {
        return {blocks() + ends()[target], blocks() + ends()[target + 1]};
    }
    /// Group and target labels in one map; labels without a value are left out.
    LabelMap merged(std::size_t target) const {
        LabelMap map = (*this)[target].to_map();
        for (const auto [name, value] : labels()) map.emplace(name, value);
        std::erase_if(map, [](const auto& label) { return label.second.empty(); });
        return map;
    }

    /// Same targets with the same labels, in the same order.
    friend bool operator==(const TargetGroup& a, const TargetGroup& b) noexcept {
        if (a.targets_ != b.targets_ || a.labels() != b.labels()) return false;
        for (std::size_t i = 0; i < a.targets_; ++i) {
            if (a[i] != b[i]) return false;
        }
        return true;
    }

    /// Of the library itself; hosts have TargetGroupMaker.
    /// \param blocks  those of the group's labels, then those of each target; moved from
    /// \param ends    where the group's blocks end, then where each target's end
    static boost::intrusive_ptr<const TargetGroup> make(std::string_view source,
                                                        std::span<detail::LabelBlockPtr> blocks,
                                                        std::span<const std::uint32_t> ends) {
        const std::size_t bytes =
            sizeof(TargetGroup) + blocks.size_bytes() + ends.size_bytes() + source.size();
        return new (::operator new(bytes)) TargetGroup(source, blocks, ends);
    }
    ~TargetGroup() { std::destroy_n(blocks(), ends()[targets_]); }
    TargetGroup(const TargetGroup&) = delete;
    TargetGroup& operator=(const TargetGroup&) = delete;
    /// The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

 private:
    TargetGroup(std::string_view source, std::span<detail::LabelBlockPtr> blocks,
                std::span<const std::uint32_t> ends) noexcept
        : targets_(static_cast<std::uint32_t>(ends.size() - 1)),
          blocks_(static_cast<std::uint32_t>(blocks.size())),
          source_size_(static_cast<std::uint32_t>(source.size())) {
        auto* block_memory = reinterpret_cast<detail::LabelBlockPtr*>(this + 1);
        auto* end_memory = reinterpret_cast<std::uint32_t*>(block_memory + blocks.size());
        std::uninitialized_move(blocks.begin(), blocks.end(), block_memory);
        std::uninitialized_copy(ends.begin(), ends.end(), end_memory);
        std::uninitialized_copy(source.begin(), source.end(),
                                reinterpret_cast<char*>(end_memory + ends.size()));
    }
    const detail::LabelBlockPtr* blocks() const noexcept {
        return reinterpret_cast<const detail::LabelBlockPtr*>(this + 1);
    }
    const std::uint32_t* ends() const noexcept {
        return reinterpret_cast<const std::uint32_t*>(blocks() + blocks_);
    }

    std::uint32_t targets_;
    std::uint32_t blocks_;
    std::uint32_t source_size_;
};

static_assert(sizeof(TargetGroup) % alignof(detail::LabelBlockPtr) == 0);

/// Shared ownership of a target group.
using TargetGroupPtr = boost::intrusive_ptr<const TargetGroup>;

/// How the targets of one group changed. A target is known by its own labels (not the group's).
struct TargetChanges {
    std::vector<std::size_t> added;    ///< indices in the new group
    std::vector<std::size_t> removed;  ///< indices in the previous group
    std::vector<std::size_t> kept;     ///< indices in the new group
};

/// Both may be null, which counts as a group without targets.
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
    /// Whether there is nothing to tell.
    bool empty() const noexcept { return !full && updated.empty() && removed.empty(); }
};

}  // namespace k8s_sd::inline v0
