#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0 {

namespace detail {

struct TargetHash {
    std::size_t operator()(const ScrapeTargetPtr& target) const noexcept { return target->hash(); }
};
struct SameTarget {
    bool operator()(const ScrapeTargetPtr& a, const ScrapeTargetPtr& b) const noexcept {
        return a == b || a->same_as(*b);
    }
};
using TargetSet = boost::unordered_flat_set<ScrapeTargetPtr, TargetHash, SameTarget>;

/// All targets that were built. Groups can have targets in common: of equal ones one is active, the
/// others wait to take its place.
class BuiltTargets {
 public:
    bool contains(const ScrapeTargetPtr& target) const { return active_.contains(target); }
    /// The active one that equals `target`; null if there is none.
    ScrapeTargetPtr find(const ScrapeTargetPtr& target) const {
        const auto it = active_.find(target);
        return it == active_.end() ? nullptr : *it;
    }
    const TargetSet& active() const noexcept { return active_; }

    void insert(const ScrapeTargetPtr& target) {
        const bool is_first = active_.insert(target).second;
        if (!is_first) equals_[target].insert(target.get());
    }
    void erase(const ScrapeTargetPtr& target) {
        const auto equals = equals_.find(target);
        if (equals == equals_.end()) {
            active_.erase(target);
            return;
        }
        Equals& others = equals->second;
        const auto active = active_.find(target);
        if (*active == target) {
            const ScrapeTargetPtr next = *others.begin();
            others.erase(others.begin());
            active_.erase(active);
            active_.insert(next);
        } else {
            others.erase(target.get());
        }
        if (others.empty()) {
            equals_.erase(equals);
        } else if (equals->first == target) {
            // Any of the equal ones can be the key, as long as it is there.
            Equals moved = std::move(others);
            const ScrapeTargetPtr key = *moved.begin();
            equals_.erase(equals);
            equals_.emplace(key, std::move(moved));
        }
    }

 private:
    using Equals = boost::unordered_flat_set<const ScrapeTarget*>;

    TargetSet active_;
    boost::unordered_flat_map<ScrapeTargetPtr, Equals, TargetHash, SameTarget> equals_;
};

/// What became of the targets of a group.
struct Outcomes {
    struct Dropped {
        std::uint32_t index;
        DropReason reason;
    };
    struct Failed {
        std::uint32_t index;
        std::string message;
    };
    std::vector<ScrapeTargetPtr> targets;
    std::vector<Dropped> dropped;
    std::vector<Failed> failed;
};

/// A group, small where all of its targets are dropped by the rules: those are most groups of most
/// jobs.
class Record {
 public:
    Record() = default;
    Record(TargetBuilder& builder, const TargetGroupPtr& group) : group_(group) {
        Outcomes outcomes;
        for (std::uint32_t i = 0; i < group->size(); ++i) {
            BuiltTarget built = builder.build(group, i);
            if (auto* target = std::get_if<ScrapeTargetPtr>(&built)) {
                outcomes.targets.push_back(std::move(*target));
            } else if (const auto* reason = std::get_if<DropReason>(&built)) {
                outcomes.dropped.push_back({i, *reason});
                dropped_by_rules_ += *reason == DropReason::relabelling ? 1 : 0;
            } else {
                outcomes.failed.push_back({i, std::move(std::get<TargetError>(built).message)});
            }
        }
        if (dropped_by_rules_ < group->size()) {
            outcomes_ = std::make_unique<Outcomes>(std::move(outcomes));
        }
    }

    const TargetGroupPtr& group() const noexcept { return group_; }
    std::span<const ScrapeTargetPtr> targets() const noexcept {
        return outcomes_ ? std::span<const ScrapeTargetPtr>(outcomes_->targets)
                         : std::span<const ScrapeTargetPtr>();
    }
    std::size_t dropped_count() const noexcept {
        return outcomes_ ? outcomes_->dropped.size() : dropped_by_rules_;
    }
    std::span<const Outcomes::Failed> failed() const noexcept {
        return outcomes_ ? std::span<const Outcomes::Failed>(outcomes_->failed)
                         : std::span<const Outcomes::Failed>();
    }
    /// Calls `visit(index, reason)` until it returns false.
    template <class Visitor>
    void for_each_dropped(Visitor&& visit) const {
        for (std::uint32_t i = 0; !outcomes_ && i < dropped_by_rules_; ++i) {
            if (!visit(i, DropReason::relabelling)) return;
        }
        if (!outcomes_) return;
        for (const Outcomes::Dropped& target : outcomes_->dropped) {
            if (!visit(target.index, target.reason)) return;
        }
    }

 private:
    TargetGroupPtr group_;
    std::unique_ptr<Outcomes> outcomes_;  ///< null: all are dropped by rules
    std::uint32_t dropped_by_rules_ = 0;
};

/// The targets that leave and those that come, in one change.
struct Transition {
    std::vector<ScrapeTargetPtr> leaving;
    std::vector<ScrapeTargetPtr> coming;
};

}  // namespace detail

class TargetPool::Impl {
 public:
    Impl(ScrapeConfig config, TargetHandler& handler, Sharding sharding)
        : builder_(std::move(config), std::move(sharding)), handler_(&handler) {}

    const TargetBuilder& builder() const noexcept { return builder_; }

    void apply(const JobDiff& diff) {
        detail::Transition transition;
        if (diff.full) remove_all(transition);
        for (const ProviderDiff& part : diff.providers) {
            apply_part(part.provider, part.diff, transition);
        }
        make(transition);
    }
    void apply(const TargetGroupDiff& diff) {
        detail::Transition transition;
        apply_part(0, diff, transition);
        make(transition);
    }
    void reload(ScrapeConfig config, Sharding sharding) {
        TargetBuilder builder(std::move(config), std::move(sharding));
        builder_ = std::move(builder);
        detail::Transition transition;
        for (auto& [id, groups] : providers_) {
            for (auto& [source, record] : groups) {
                take_out(record, transition);
                put_in(record, TargetGroupPtr(record.group()), transition);
            }
        }
        make(transition);
    }
    void clear() {
        detail::Transition transition;
        remove_all(transition);
        make(transition);
    }

    std::vector<ScrapeTargetPtr> active() const {
        return {built_.active().begin(), built_.active().end()};
    }
    std::size_t active_count() const noexcept { return built_.active().size(); }
    std::size_t dropped_count() const noexcept { return dropped_count_; }
    std::size_t failed_count() const noexcept { return failed_count_; }

    std::vector<DroppedTarget> dropped() const {
        const std::size_t limit = builder_.config().keep_dropped_targets;
        std::vector<DroppedTarget> result;
        for_each_record([&](const detail::Record& record) {
            record.for_each_dropped([&](std::uint32_t index, DropReason reason) {
                if (limit != 0 && result.size() == limit) return false;
                result.push_back({std::string(record.group()->source()),
                                  builder_.discovered(*record.group(), index), reason});
                return true;
            });
        });
        return result;
    }
    std::vector<FailedTarget> failed() const {
        std::vector<FailedTarget> result;
        for_each_record([&](const detail::Record& record) {
            for (const detail::Outcomes::Failed& target : record.failed()) {
                result.push_back(
                    {std::string(record.group()->source()), target.index, target.message});
            }
        });
        return result;
    }

 private:
    // The key is part of the record's group.
    using Groups = boost::unordered_flat_map<std::string_view, detail::Record>;

    template <class Visitor>
    void for_each_record(Visitor&& visit) const {
        for (const auto& [id, groups] : providers_) {
            for (const auto& [source, record] : groups) visit(record);
        }
    }

    void apply_part(ProviderId provider, const TargetGroupDiff& diff,
                    detail::Transition& transition) {
        Groups& groups = providers_[provider];
        if (diff.full) remove_all(groups, transition);
        for (const TargetGroupPtr& group : diff.removed) {
            remove(groups, group->source(), transition);
        }
        for (const GroupChange& change : diff.updated) {
            remove(groups, change.group->source(), transition);
            put_in(groups[change.group->source()], change.group, transition);
        }
        if (groups.empty()) providers_.erase(provider);
    }
    void remove_all(detail::Transition& transition) {
        for (auto& [id, groups] : providers_) remove_all(groups, transition);
        providers_.clear();
    }
    void remove_all(Groups& groups, detail::Transition& transition) {
        for (auto& [source, record] : groups) take_out(record, transition);
        groups.clear();
    }
    void remove(Groups& groups, std::string_view source, detail::Transition& transition) {
        const auto it = groups.find(source);
        if (it == groups.end()) return;
        take_out(it->second, transition);
        groups.erase(it);
    }
    void take_out(const detail::Record& record, detail::Transition& transition) {
        dropped_count_ -= record.dropped_count();
        failed_count_ -= record.failed().size();
        transition.leaving.insert(transition.leaving.end(), record.targets().begin(),
                                  record.targets().end());
    }
    void put_in(detail::Record& record, const TargetGroupPtr& group,
                detail::Transition& transition) {
        record = detail::Record(builder_, group);
        dropped_count_ += record.dropped_count();
        failed_count_ += record.failed().size();
        transition.coming.insert(transition.coming.end(), record.targets().begin(),
                                 record.targets().end());
    }

    /// New targets are entered before old ones are struck out, so a target of both goes on.
    void make(const detail::Transition& transition) {
        std::vector<ScrapeTargetPtr> started;
        for (const ScrapeTargetPtr& target : transition.coming) {
            if (!built_.contains(target)) started.push_back(target);
            built_.insert(target);
        }
        for (const ScrapeTargetPtr& target : transition.leaving) built_.erase(target);
        std::vector<ScrapeTargetPtr> stopped;
        std::vector<ScrapeTargetPtr> kept;
        detail::TargetSet seen;
        for (const ScrapeTargetPtr& target : transition.leaving) {
            if (!seen.insert(target).second) continue;
            const ScrapeTargetPtr left = built_.find(target);
            if (!left) {
                stopped.push_back(target);
            } else if (!left->same_discovered(*target)) {
                kept.push_back(left);
            }
        }
        for (const ScrapeTargetPtr& target : stopped) handler_->stop(target);
        for (const ScrapeTargetPtr& target : kept) handler_->keep(target);
        for (const ScrapeTargetPtr& target : started) handler_->start(target);
    }
    TargetBuilder builder_;
    TargetHandler* handler_;
    boost::unordered_flat_map<ProviderId, Groups> providers_;
    detail::BuiltTargets built_;
    std::size_t dropped_count_ = 0;
    std::size_t failed_count_ = 0;
};

TargetPool::TargetPool(ScrapeConfig config, TargetHandler& handler, Sharding sharding)
    : impl_(std::make_unique<Impl>(std::move(config), handler, std::move(sharding))) {}
TargetPool::TargetPool(TargetPool&&) noexcept = default;
TargetPool& TargetPool::operator=(TargetPool&&) noexcept = default;
TargetPool::~TargetPool() = default;

void TargetPool::apply(const JobDiff& diff) { impl_->apply(diff); }
void TargetPool::apply(const TargetGroupDiff& diff) { impl_->apply(diff); }
void TargetPool::clear() { impl_->clear(); }

void TargetPool::reload(ScrapeConfig config, Sharding sharding) {
    const TargetBuilder& present = impl_->builder();
    if (config == present.config() && sharding.options() == present.sharding().options()) return;
    impl_->reload(std::move(config), std::move(sharding));
}

const ScrapeConfig& TargetPool::config() const noexcept { return impl_->builder().config(); }
std::vector<ScrapeTargetPtr> TargetPool::active() const { return impl_->active(); }
std::size_t TargetPool::active_count() const noexcept { return impl_->active_count(); }
std::vector<DroppedTarget> TargetPool::dropped() const { return impl_->dropped(); }
std::size_t TargetPool::dropped_count() const noexcept { return impl_->dropped_count(); }
std::vector<FailedTarget> TargetPool::failed() const { return impl_->failed(); }
std::size_t TargetPool::failed_count() const noexcept { return impl_->failed_count(); }

std::optional<std::string> TargetPool::limit_error() const {
    const std::size_t limit = config().target_limit;
    if (limit == 0 || active_count() <= limit) return std::nullopt;
    return "job " + config().job_name + " has " + std::to_string(active_count()) +
           " targets, more than its target_limit of " + std::to_string(limit);
}

}  // namespace k8s_sd::inline v0
