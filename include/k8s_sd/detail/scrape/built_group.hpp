#pragma once

#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
    /// A target that another member of the fleet owns.
    struct Others {
        std::uint32_t index;
        std::uint64_t key;
    };
    /// One of the targets that another member owns now. It stays until that one surely scrapes it.
    struct Moving {
        std::uint32_t index;
        TimePoint until;
    };
    /// The group for another share, or at another time.
    struct Reshared;

    /// \param earlier  what the same builder made of another version of the group, for the same
    ///                 share; null: nothing. Targets that are as they were then are not relabelled
    ///                 again.
    /// \param moving   another version of the group, which any builder made; null: none. What moves
    ///                 in it and is the same here goes on moving.
    BuiltGroup(TargetBuilder&, const TargetGroupPtr&, const FleetShare&, const BuiltGroup* earlier,
               const BuiltGroup* moving);

    /// The same group for another share, and the targets that it has gained; nullopt: nothing
    /// differs. Those that others own now are moving().
    std::optional<Reshared> reshared(TargetBuilder&, const FleetShare&, TimePoint now) const;
    /// The same group without the targets that have moved by now, and those; nullopt: there is
    /// none.
    std::optional<Reshared> without_moved(const TargetBuilder&, TimePoint now) const;

    const TargetGroupPtr& group() const noexcept { return group_; }
    std::span<const ScrapeTargetPtr> targets() const noexcept {
        if (outcomes_) return outcomes_->targets;
        return {&only_, only_ ? 1U : 0U};
    }
    std::size_t dropped_count() const noexcept {
        return outcomes_ ? outcomes_->dropped.size() + outcomes_->others.size()
                         : group_->size() - targets().size();
    }
    std::size_t others_count() const noexcept { return outcomes_ ? outcomes_->others.size() : 0; }
    /// Which of targets() are being handed over, in their order.
    std::span<const Moving> moving() const noexcept {
        return outcomes_ ? std::span<const Moving>(outcomes_->moving) : std::span<const Moving>();
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
        for (const Others& target : outcomes_->others) {
            if (!visit(target.index, DropReason::sharding)) return;
        }
    }

 private:
    /// What became of each target, each list in the order of targets.
    struct Outcomes {
        void add(std::uint32_t index, BuiltTarget);
        void sort();
        bool is_small(std::size_t all) const noexcept;

        std::vector<ScrapeTargetPtr> targets;
        std::vector<Dropped> dropped;
        std::vector<Failed> failed;
        std::vector<Others> others;
        std::vector<Moving> moving;
    };
    class Earlier;
    class MovingTargets;

    BuiltGroup(TargetGroupPtr, Outcomes);
    Outcomes outcomes() const;

    TargetGroupPtr group_;
    ScrapeTargetPtr only_;                ///< the rules drop all others; it is not moving
    std::unique_ptr<Outcomes> outcomes_;  ///< null: `only_` says it all
};

struct BuiltGroup::Reshared {
    BuiltGroup built;
    std::vector<ScrapeTargetPtr> targets;  ///< that come, or go
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
