#pragma once

#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/target_group.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Builds one target group from label blocks: first those of the group, then target by target,
/// either all of them or part by part. Reused between groups: a group costs one allocation, and one
/// for each new part.
class GroupBuilder {
 public:
    /// \param earlier  a group of the same object; equal contents are shared
    void begin(std::string_view source_prefix, std::string_view ns, std::string_view name,
               std::size_t max_targets = std::numeric_limits<std::size_t>::max(),
               TargetGroupPtr earlier = nullptr, std::uint64_t share_key = 0) {
        blocks_.clear();
        ends_.clear();
        addresses_.clear();
        parts_.clear();
        common_.clear();
        in_common_ = false;
        targets_ = 0;
        max_targets_ = max_targets;
        overfull_ = false;
        run_begin_ = run_parts_ = run_targets_ = 0;
        earlier_ = std::move(earlier);
        share_key_ = share_key;
        source_.assign(source_prefix);
        if (!ns.empty()) (source_ += ns) += '/';
        source_ += name;
    }
    /// Adds the block to the current target; before the first target to the group's labels; after
    /// begin_common() to the common labels of the next targets.
    GroupBuilder& add(const LabelBlockPtr& block) {
        if (block) (in_common_ ? common_ : blocks_).push_back(block);
        return *this;
    }
    /// For a block of an owner, which is never null.
    GroupBuilder& add(const LabelBlock& block) {
        (in_common_ ? common_ : blocks_).emplace_back(&block);
        return *this;
    }
    /// \param address  the value of `__address__`; empty: it is in a block
    GroupBuilder& begin_target(std::string_view address = {}) {
        in_common_ = false;
        count_targets(1);
        ends_.push_back(end());
        // An object may repeat a long address in each target, and offsets have 32 bits.
        if (address.size() > max_addresses - addresses_.size()) {
            overfull_ = true;
        } else {
            addresses_ += address;
        }
        return *this;
    }
    /// Starts a new set of common labels for the next targets.
    void begin_common() {
        common_.clear();
        in_common_ = true;
    }
    /// Adds the common labels to the current target.
    GroupBuilder& add_common() {
        blocks_.insert(blocks_.end(), common_.begin(), common_.end());
        return *this;
    }

    /// Reuses the targets of the earlier group without parts.
    void keep_targets() {
        for (std::size_t i = 0; i < earlier_->size(); ++i) {
            const Labels target = (*earlier_)[i];
            begin_target(Access::address(target));
            const auto kept = Access::blocks(target);
            blocks_.insert(blocks_.end(), kept.begin(), kept.end());
        }
    }

    /// Starts a part; all further targets are in parts.
    /// \param stride  see PlacedPart
    void begin_part(std::size_t stride) {
        if (parts_.empty()) group_blocks_ = blocks_.size();
        stride_ = stride;
        regular_ = no_extra_targets;
    }
    /// The next targets of the part are sorted behind the regular ones of all parts.
    void begin_extra_targets() { regular_ = ends_.size(); }
    void end_part() {
        const std::size_t regular = regular_ == no_extra_targets ? ends_.size() : regular_;
        // Convert starts to ends.
        const TargetEnd last = end();
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            ends_[i] = i + 1 < ends_.size() ? ends_[i + 1] : last;
            ends_[i].blocks -= static_cast<std::uint32_t>(group_blocks_);
        }
        const std::span<LabelBlockPtr> made(blocks_.data() + group_blocks_,
                                            blocks_.size() - group_blocks_);
        TargetPartPtr part = earlier_part();
        if (!part || !part->consists_of(made, ends_, addresses_, regular)) {
            part = ends_.empty() ? nullptr : TargetPart::make(made, ends_, addresses_, regular);
        }
        place(std::move(part), stride_);
        blocks_.resize(group_blocks_);
        ends_.clear();
        addresses_.clear();
    }
    /// Reuses the part of the earlier group at the same position.
    void keep_part() {
        if (parts_.empty()) group_blocks_ = blocks_.size();
        const PlacedPart& kept = Access::parts(*earlier_)[parts_.size()];
        if (kept.part) count_targets(kept.part->size());
        place(kept.part, kept.stride);
    }

    /// Whether the limit of targets is reached; the generator stops at the next target.
    bool full() const noexcept { return targets_ >= max_targets_; }
    /// Makes the group void, as too many targets do: the generator has reached another limit.
    void set_overfull() noexcept { overfull_ = true; }
    /// Whether a limit was exceeded: the group is void.
    bool overfull() const noexcept { return overfull_; }
    /// \returns null without targets
    TargetGroupPtr finish() {
        TargetGroupPtr made;
        if (targets_ != 0 && !overfull_) made = parts_.empty() ? make_plain() : make_of_parts();
        // Release memory not owned by the group now.
        earlier_.reset();
        blocks_.clear();
        common_.clear();
        parts_.clear();
        if (addresses_.capacity() > usual_addresses) std::string().swap(addresses_);
        return made;
    }

 private:
    static constexpr std::size_t no_extra_targets = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_addresses = 64 << 20;    ///< bytes of a part, or of a group
    static constexpr std::size_t usual_addresses = 64 << 10;  ///< kept for the next group

    void count_targets(std::size_t n) {
        if (n > max_targets_ - std::min(targets_, max_targets_)) overfull_ = true;
        targets_ += n;
    }
    /// Of the current target.
    TargetEnd end() const noexcept {
        return {static_cast<std::uint32_t>(blocks_.size()),
                static_cast<std::uint32_t>(addresses_.size())};
    }
    TargetPartPtr earlier_part() const {
        if (!earlier_ || parts_.size() >= Access::parts(*earlier_).size()) return nullptr;
        return Access::parts(*earlier_)[parts_.size()].part;
    }
    void place(TargetPartPtr part, std::size_t stride) {
        const std::size_t regular = part ? part->regular() : 0;
        parts_.push_back({std::move(part), static_cast<std::uint32_t>(run_begin_ + run_parts_),
                          static_cast<std::uint32_t>(stride)});
        run_targets_ += regular;
        if (++run_parts_ < stride) return;
        run_begin_ += std::exchange(run_targets_, 0);
        run_parts_ = 0;
    }
    TargetGroupPtr make_plain() {
        ends_.push_back(end());
        return Access::make_group<TargetGroup>(source_, blocks_, ends_, addresses_, share_key_);
    }
    TargetGroupPtr make_of_parts() {
        if (earlier_ && is_same_as(*earlier_)) return earlier_;
        return Access::make_group<TargetGroup>(source_, group_labels(), parts_, share_key_);
    }
    std::span<LabelBlockPtr> group_labels() { return {blocks_.data(), group_blocks_}; }
    bool is_same_as(const TargetGroup& earlier) {
        const auto labels = group_labels();
        const auto earlier_labels = Access::label_blocks(earlier);
        const auto earlier_parts = Access::parts(earlier);
        return std::equal(labels.begin(), labels.end(), earlier_labels.begin(),
                          earlier_labels.end()) &&
               std::equal(parts_.begin(), parts_.end(), earlier_parts.begin(), earlier_parts.end(),
                          [](const auto& a, const auto& b) {
                              return a.part == b.part && a.first == b.first && a.stride == b.stride;
                          });
    }

    std::size_t max_targets_ = 0;
    std::size_t targets_ = 0;
    bool overfull_ = false;
    bool in_common_ = false;
    TargetGroupPtr earlier_;
    std::uint64_t share_key_ = 0;
    std::string source_;
    std::vector<LabelBlockPtr> blocks_;
    std::vector<LabelBlockPtr> common_;
    std::vector<TargetEnd> ends_;
    std::string addresses_;  // of the targets, one after the other
    std::vector<PlacedPart> parts_;
    std::size_t group_blocks_ = 0;
    // Of the current part.
    std::size_t stride_ = 1;
    std::size_t regular_ = 0;
    // Of alternating parts.
    std::size_t run_begin_ = 0;
    std::size_t run_parts_ = 0;
    std::size_t run_targets_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
