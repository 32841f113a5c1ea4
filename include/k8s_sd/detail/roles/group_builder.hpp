#pragma once

#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Puts one target group together from label blocks: first the group's, then target by target.
/// Reused from group to group, so that building one costs a single allocation.
class GroupBuilder {
 public:
    void begin(std::string_view source_prefix, std::string_view ns, std::string_view name,
               std::size_t max_targets = std::numeric_limits<std::size_t>::max()) {
        blocks_.clear();
        ends_.clear();
        max_targets_ = max_targets;
        overfull_ = false;
        source_.assign(source_prefix);
        if (!ns.empty()) (source_ += ns) += '/';
        source_ += name;
    }
    /// Adds to the current target or, before the first one, to the labels of the group.
    GroupBuilder& add(const LabelBlockPtr& block) {
        if (block) blocks_.push_back(block);
        return *this;
    }
    GroupBuilder& begin_target() {
        if (full()) overfull_ = true;
        ends_.push_back(static_cast<std::uint32_t>(blocks_.size()));
        return *this;
    }
    /// True once it has as many targets as it may have. A generator stops at the next one.
    bool full() const noexcept { return ends_.size() >= max_targets_; }
    /// True if more targets were begun than there may be: the group is of no use.
    bool overfull() const noexcept { return overfull_; }
    /// Null if no target was begun.
    TargetGroupPtr finish() {
        if (ends_.empty() || overfull_) return nullptr;
        ends_.push_back(static_cast<std::uint32_t>(blocks_.size()));
        return TargetGroup::make(source_, blocks_, ends_);
    }

 private:
    std::size_t max_targets_ = 0;
    bool overfull_ = false;
    std::string source_;
    std::vector<LabelBlockPtr> blocks_;
    std::vector<std::uint32_t> ends_;
};

}  // namespace k8s_sd::inline v0::detail
