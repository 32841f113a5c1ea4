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

/// A group and the outcome of each of its targets. Compact if the rules drop all targets, or all
/// but one, as in nearly all groups of most jobs.
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
    /// A target owned by another member of the fleet.
    struct Others {
        std::uint32_t index;
        std::uint64_t key;
    };
    /// A target now owned by another member. It stays until that member certainly scrapes it.
    struct Moving {
        std::uint32_t index;
        TimePoint until;
    };
    /// The same group with another share, or at a later time.
    struct Reshared;

    /// \param earlier  another version of the group by the same builder for the same share; null:
    ///                 none. Targets equal in both versions are not relabelled again.
    /// \param moving   another version of the group by any builder; null: none. Its moving targets,
    ///                 if still equal, continue to move.
    BuiltGroup(TargetBuilder&, const TargetGroupPtr&, const FleetShare&, const BuiltGroup* earlier,
               const BuiltGroup* moving);

    /// The same group for another share, with the gained targets; nullopt: no difference. Targets
    /// lost to other members are moving().
    std::optional<Reshared> reshared(TargetBuilder&, const FleetShare&, TimePoint now) const;
    /// The same group without the targets moved by now, together with these; nullopt: none.
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
    /// The targets() in handover, in order.
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
    /// The outcome of each target; each list is in the order of targets.
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
    std::unique_ptr<Outcomes> outcomes_;  ///< null: `only_` suffices
};

struct BuiltGroup::Reshared {
    BuiltGroup built;
    std::vector<ScrapeTargetPtr> targets;  ///< gained or removed
};

/// Groups are identified by their sources.
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
