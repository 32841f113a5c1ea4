#pragma once

#include "k8s_sd/scrape/target_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A group and what became of its targets. Small where all of them are dropped by the rules: those
/// are most groups of most jobs.
class BuiltGroup {
 public:
    struct Dropped {
        std::uint32_t index;
        DropReason reason;
    };
    struct Failed {
        std::uint32_t index;
        std::string message;
    };

    BuiltGroup() = default;
    BuiltGroup(TargetBuilder&, const TargetGroupPtr&);

    const TargetGroupPtr& group() const noexcept { return group_; }
    std::span<const ScrapeTargetPtr> targets() const noexcept {
        return outcomes_ ? std::span<const ScrapeTargetPtr>(outcomes_->targets)
                         : std::span<const ScrapeTargetPtr>();
    }
    std::size_t dropped_count() const noexcept {
        return outcomes_ ? outcomes_->dropped.size() : dropped_by_rules_;
    }
    std::span<const Failed> failed() const noexcept {
        return outcomes_ ? std::span<const Failed>(outcomes_->failed) : std::span<const Failed>();
    }
    /// Calls `visit(index, reason)` until it returns false.
    template <class Visitor>
    void for_each_dropped(Visitor&& visit) const {
        for (std::uint32_t i = 0; !outcomes_ && i < dropped_by_rules_; ++i) {
            if (!visit(i, DropReason::relabelling)) return;
        }
        if (!outcomes_) return;
        for (const Dropped& target : outcomes_->dropped) {
            if (!visit(target.index, target.reason)) return;
        }
    }

 private:
    struct Outcomes {
        std::vector<ScrapeTargetPtr> targets;
        std::vector<Dropped> dropped;
        std::vector<Failed> failed;
    };

    TargetGroupPtr group_;
    std::unique_ptr<Outcomes> outcomes_;  ///< null: all are dropped by rules
    std::uint32_t dropped_by_rules_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
