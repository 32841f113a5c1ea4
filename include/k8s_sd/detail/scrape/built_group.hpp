#pragma once

#include "k8s_sd/scrape/target_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A group and what became of its targets. Small where the rules drop all of them, or all but one:
/// those are nearly all groups of most jobs.
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

    /// \param earlier  what the same builder made of another version of the group; null: nothing.
    ///                 Targets that are as they were then are not relabelled again.
    BuiltGroup(TargetBuilder&, const TargetGroupPtr&, const BuiltGroup* earlier = nullptr);

    const TargetGroupPtr& group() const noexcept { return group_; }
    std::span<const ScrapeTargetPtr> targets() const noexcept {
        if (outcomes_) return outcomes_->targets;
        return {&only_, only_ ? 1U : 0U};
    }
    std::size_t dropped_count() const noexcept {
        return outcomes_ ? outcomes_->dropped.size() : group_->size() - targets().size();
    }
    std::span<const Failed> failed() const noexcept {
        return outcomes_ ? std::span<const Failed>(outcomes_->failed) : std::span<const Failed>();
    }
    /// Calls `visit(index, reason)` until it returns false.
    template <class Visitor>
    void for_each_dropped(Visitor&& visit) const {
        for (std::uint32_t i = 0; !outcomes_ && i < group_->size(); ++i) {
            const bool kept = only_ && only_->index() == i;
            if (!kept && !visit(i, DropReason::relabelling)) return;
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
    class Earlier;

    TargetGroupPtr group_;
    ScrapeTargetPtr only_;                ///< the rules drop all others
    std::unique_ptr<Outcomes> outcomes_;  ///< null: `only_` says it all
};

/// Groups are known by their sources.
struct GroupHash {
    using is_avalanching = void;
    using is_transparent = void;
    std::size_t operator()(std::string_view source) const noexcept;
    std::size_t operator()(const BuiltGroup& built) const noexcept {
        return (*this)(built.group()->source());
    }
};
struct SameSource {
    using is_transparent = void;
    static std::string_view source(std::string_view source) noexcept { return source; }
    static std::string_view source(const BuiltGroup& built) noexcept {
        return built.group()->source();
    }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
        return source(a) == source(b);
    }
};

}  // namespace k8s_sd::inline v0::detail
