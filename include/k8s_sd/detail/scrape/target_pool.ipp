#include "k8s_sd/detail/base/small_set.hpp"
#include "k8s_sd/detail/scrape/built_group.hpp"
#include "k8s_sd/detail/scrape/equal_targets.hpp"
#include "k8s_sd/detail/scrape/target_counts.hpp"
#include "k8s_sd/detail/scrape/target_news.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/target_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

/// A change has two phases. The first one may fail: it builds targets and allocates memory. The
/// second one updates the pool and notifies the handler, and cannot fail.
///
/// The pool is up to date before the handler is notified. So the handler may change the pool again,
/// with the notification after those of the current change, or destroy it.
class TargetPool::Impl : public std::enable_shared_from_this<Impl> {
 public:
    using SharedConfig = std::shared_ptr<const ScrapeConfig>;

    Impl(SharedConfig config, TargetHandler& handler, Sharding sharding)
        : builder_(std::make_shared<TargetBuilder>(std::move(config), std::move(sharding))),
          news_(handler) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    const TargetBuilder& builder() const noexcept { return *builder_; }

    void apply(const JobDiff& diff) {
        Plan plan;
        plan.full = diff.full;
        for (const ProviderDiff& part : diff.providers) {
            add(plan, part.provider, part.diff, part.all);
            if (part.last) plan.ended.push_back(part.provider);
        }
        carry_out(plan);
    }
    void apply(const TargetGroupDiff& part) {
        // Only a whole state shows which targets continue.
        joiner_.add(part, [&](const TargetGroupDiff& diff) {
            Plan plan;
            add(plan, 0, diff, nullptr);
            carry_out(plan);
        });
    }
    /// \param present  null: all providers
    void reload(SharedConfig config, Sharding sharding,
                const std::span<const ProviderId>* present) {
        Plan plan;
        plan.builder = builder_with(std::move(config), std::move(sharding));
        for (const auto& [id, provider] : providers_) {
            const bool concerned =
                !present || std::find(present->begin(), present->end(), id) != present->end();
            if (!concerned || provider.builder == plan.builder) continue;
            BuiltProvider& whole = plan.whole[id];
            whole.builder = plan.builder;
            whole.unconfirmed = provider.unconfirmed;
            whole.all = provider.all;
            whole.groups.make_room(provider.groups.size());
            provider.groups.for_each(
                [&](const BuiltGroup& built) { put(whole, built.group(), &built); });
        }
        carry_out(plan);
    }
    void share(const FleetShare& share, TimePoint now) {
        if (share == share_) return;
        Replacements plan;
        for_each_group([&](TargetBuilder& builder, const BuiltGroup& built) {
            if (auto group = built.reshared(builder, share, now)) {
                plan.add(built, std::move(group->built));
                append(plan.transition.coming, group->targets);
            }
        });
        FleetShare next = share;
        const std::size_t gained = plan.transition.coming.size();
        carry_out(plan, [&]() noexcept {
            std::swap(share_, next);
            counts_.on_gained(gained);
        });
    }
    std::optional<TimePoint> next_handover() const noexcept {
        if (counts_.share().moving == 0) return std::nullopt;
        TimePoint next = TimePoint::max();
        for_each_group([&](const TargetBuilder&, const BuiltGroup& built) {
            for (const BuiltGroup::Moving& target : built.moving()) {
                next = std::min(next, target.until);
            }
        });
        return next;
    }
    void finish_handovers(TimePoint now) {
        Replacements plan;
        for_each_group([&](TargetBuilder& builder, const BuiltGroup& built) {
            if (auto group = built.without_moved(builder, now)) {
                plan.add(built, std::move(group->built));
                for (ScrapeTargetPtr& target : group->targets) {
                    plan.transition.leaving.push_back({std::move(target), StopReason::moved});
                }
            }
        });
        const std::size_t handed = plan.transition.leaving.size();
        carry_out(plan, [&]() noexcept { counts_.on_handed(handed); });
    }
    void set_metrics(std::shared_ptr<Metrics> metrics) noexcept {
        counts_.set_metrics(std::move(metrics));
    }
    void clear() {
        Plan plan;
        plan.full = true;
        carry_out(plan);
    }
    /// Stops notifications to the handler.
    void end() noexcept { news_.end(); }

    std::vector<ScrapeTargetPtr> active() const {
        return {targets_.active().begin(), targets_.active().end()};
    }
    /// Whether only snapshots contain the target. A group of another provider confirms an equal one
    /// in a snapshot, because a new configuration may start from a snapshot.
    bool unconfirmed(const ScrapeTarget& target) const {
        bool is_in_snapshot = false;
        for (const auto& [id, provider] : providers_) {
            const BuiltGroup* built = provider.groups.find(target.source());
            if (!built) continue;
            is_in_snapshot = is_in_snapshot || provider.unconfirmed;
            if (!provider.unconfirmed && has(*built, target)) return false;
        }
        return is_in_snapshot;
    }
    std::size_t active_count() const noexcept { return targets_.active().size(); }
    std::size_t dropped_count() const noexcept {
        std::size_t count = counts_.dropped();
        for (const auto& [id, provider] : providers_) count += left_out_count(provider);
        return count;
    }
    std::size_t failed_count() const noexcept { return counts_.failed(); }
    const ShareCounts& share_counts() const noexcept { return counts_.share(); }

    std::vector<DroppedTarget> dropped() const {
        const std::size_t limit = builder_->config().keep_dropped_targets;
        std::vector<DroppedTarget> result;
        for_each_group([&](const TargetBuilder& builder, const BuiltGroup& built) {
            built.for_each_dropped([&](std::uint32_t index, DropReason reason) {
                if (limit != 0 && result.size() == limit) return false;
                result.push_back({std::string(built.group()->source()),
                                  builder.discovered(*built.group(), index), reason});
                return true;
            });
        });
        for (const auto& [id, provider] : providers_) add_left_out(provider, limit, result);
        return result;
    }
    std::vector<FailedTarget> failed() const {
        std::vector<FailedTarget> result;
        for_each_group([&](const TargetBuilder&, const BuiltGroup& built) {
            for (const BuiltGroup::Failed& target : built.failed()) {
                result.push_back(
                    {std::string(built.group()->source()), target.index, target.message});
            }
        });
        return result;
    }

 private:
    using BuiltGroup = detail::BuiltGroup;
    using TargetTransition = detail::TargetTransition;
    using News = detail::TargetNews::Change;
    using Groups = detail::SmallSet<BuiltGroup, detail::GroupHash, detail::SameSource>;

    struct BuiltProvider {
        std::shared_ptr<TargetBuilder> builder;  // of its groups
        Groups groups;
        bool unconfirmed = false;  // see TargetGroupDiff
        std::size_t targets = 0;   // discovered, in these groups
        // With the groups left out, see ProviderDiff: the rules would drop their targets.
        std::shared_ptr<const LiveTargets> all{};
    };
    /// Changed and removed groups of a provider.
    struct Update {
        BuiltProvider* provider;
        std::vector<BuiltGroup> built;
        const std::vector<TargetGroupPtr>* removed;
        bool confirms;
        std::shared_ptr<const LiveTargets> all;
    };
    struct Plan {
        bool full = false;                          // drop everything missing in `whole`
        std::map<ProviderId, BuiltProvider> whole;  // replace the previous state
        std::vector<Update> updates;                // of other providers
        std::vector<ProviderId> ended;              // removed last
        std::shared_ptr<TargetBuilder> builder;     // the replacement; null: no change
    };

    /// Replacements of groups with a different share only.
    struct Replacements {
        void add(const BuiltGroup& before, BuiltGroup&& now) {
            groups.emplace_back(&before, std::move(now));
        }
        std::vector<std::pair<const BuiltGroup*, BuiltGroup>> groups;
        TargetTransition transition;
    };

    template <class Visitor>
    void for_each_group(Visitor&& visit) const {
        for (const auto& [id, provider] : providers_) {
            provider.groups.for_each([&, &builder = *provider.builder](const BuiltGroup& built) {
                visit(builder, built);
            });
        }
    }

    /// The provider may be ahead of these groups.
    static std::size_t left_out_count(const BuiltProvider& provider) noexcept {
        if (!provider.all) return 0;
        const std::size_t all = provider.all->target_count();
        return all - std::min(all, provider.targets);
    }
    /// Left-out groups with at least `limit` targets; all of them if they have fewer.
    static std::vector<TargetGroupPtr> left_out(const BuiltProvider& provider, std::size_t limit) {
        std::vector<TargetGroupPtr> groups;
        std::size_t targets = 0;
        provider.all->read([&](const TargetGroups& all) {
            all.for_each_group([&](const TargetGroupPtr& group) {
                if (limit != 0 && targets >= limit) return;
                if (provider.groups.find(group->source())) return;
                groups.push_back(group);
                targets += group->size();
            });
        });
        return groups;
    }
    static void add_left_out(const BuiltProvider& provider, std::size_t limit,
                             std::vector<DroppedTarget>& result) {
        const auto is_full = [&] { return limit != 0 && result.size() >= limit; };
        if (!provider.all || is_full()) return;
        for (const TargetGroupPtr& group : left_out(provider, limit)) {
            for (std::size_t i = 0; i < group->size(); ++i) {
                if (is_full()) return;
                result.push_back({std::string(group->source()),
                                  provider.builder->discovered(*group, i),
                                  DropReason::relabelling});
            }
        }
    }

    // --- first phase: may fail -------------------------------------------------------------------

    std::shared_ptr<TargetBuilder> builder_with(SharedConfig config, Sharding sharding) const {
        const ScrapeConfig& present = builder_->config();
        const bool same = config && (config.get() == &present || *config == present) &&
                          sharding.options() == builder_->sharding().options();
        if (same) return builder_;
        return std::make_shared<TargetBuilder>(std::move(config), std::move(sharding));
    }
    void add(Plan& plan, ProviderId id, const TargetGroupDiff& diff,
             const std::shared_ptr<const LiveTargets>& all) {
        const auto known = providers_.find(id);
        if (known != providers_.end() && !plan.full && !diff.full) {
            add_update(plan, known->second, diff);
            plan.updates.back().all = all;
            return;
        }
        BuiltProvider& whole = plan.whole[id];
        whole.builder = known == providers_.end() || plan.full ? builder_ : known->second.builder;
        whole.unconfirmed = diff.unconfirmed;
        whole.all = all;
        whole.groups.make_room(diff.updated.size());
        for (const GroupChange& change : diff.updated) {
            const std::string_view source = change.group->source();
            const BuiltGroup* own =
                known == providers_.end() ? nullptr : known->second.groups.find(source);
            put(whole, change.group, moving_version(own, source));
        }
        for (const TargetGroupPtr& group : diff.removed) {
            const BuiltGroup* const found = whole.groups.find(group->source());
            if (!found) continue;
            whole.targets -= group_size(*found);
            whole.groups.erase(found);
        }
    }
    static std::size_t group_size(const BuiltGroup& built) noexcept {
        return built.group()->size();
    }
    void add_update(Plan& plan, BuiltProvider& provider, const TargetGroupDiff& diff) const {
        Update& update = plan.updates.emplace_back();
        update.provider = &provider;
        update.removed = &diff.removed;
        update.confirms = diff.confirms;
        for (const GroupChange& change : diff.updated) {
            const std::string_view source = change.group->source();
            const BuiltGroup* own = provider.groups.find(source);
            update.built.emplace_back(*provider.builder, change.group, share_, own,
                                      moving_version(own, source));
        }
        provider.groups.make_room(update.built.size());
    }
    /// The version of a group with targets in handover, of any provider, because one provider may
    /// replace another meanwhile. Null if there is none.
    /// \param own  the provider's own version; null: none
    const BuiltGroup* moving_version(const BuiltGroup* own, std::string_view source) const {
        if (counts_.share().moving == 0 || (own && !own->moving().empty())) return own;
        for (const auto& [id, provider] : providers_) {
            const BuiltGroup* built = provider.groups.find(source);
            if (built && !built->moving().empty()) return built;
        }
        return nullptr;
    }
    static bool has(const BuiltGroup& built, const ScrapeTarget& target) {
        const auto targets = built.targets();
        return std::any_of(targets.begin(), targets.end(),
                           [&](const ScrapeTargetPtr& other) { return other->same_as(target); });
    }
    void put(BuiltProvider& provider, const TargetGroupPtr& group, const BuiltGroup* before) const {
        BuiltGroup built(*provider.builder, group, share_, nullptr, before);
        provider.targets += group->size();
        const auto [place, is_new] = provider.groups.insert(std::move(built));
        if (is_new) return;
        provider.targets -= group_size(*place);
        replace(*place, std::move(built));
    }
    /// Upper bounds for removed and added targets.
    static void count_targets(const Plan& plan,
                              const std::map<ProviderId, BuiltProvider>& providers,
                              std::size_t& leaving, std::size_t& coming) {
        for (const auto& [id, provider] : plan.whole) coming += target_count(provider.groups);
        for (const Update& update : plan.updates) {
            for (const BuiltGroup& built : update.built) {
                coming += built.targets().size();
                leaving += count_of(update.provider->groups, built.group()->source());
            }
            for (const TargetGroupPtr& group : *update.removed) {
                leaving += count_of(update.provider->groups, group->source());
            }
        }
        const auto goes = [&](ProviderId id) {
            return plan.full || plan.whole.contains(id) ||
                   std::find(plan.ended.begin(), plan.ended.end(), id) != plan.ended.end();
        };
        for (const auto& [id, provider] : providers) {
            if (goes(id)) leaving += target_count(provider.groups);
        }
        leaving += coming;  // for a diff with repeated groups, or with groups it ends
    }
    static std::size_t target_count(const Groups& groups) noexcept {
        std::size_t count = 0;
        groups.for_each([&](const BuiltGroup& built) { count += built.targets().size(); });
        return count;
    }
    static std::size_t count_of(const Groups& groups, std::string_view source) noexcept {
        const BuiltGroup* const built = groups.find(source);
        return built ? built->targets().size() : 0;
    }

    // --- second phase: cannot fail ---------------------------------------------------------------

    void carry_out(Plan& plan) {
        std::size_t leaving = 0;
        std::size_t coming = 0;
        count_targets(plan, providers_, leaving, coming);
        TargetTransition transition;
        transition.leaving.reserve(leaving);
        transition.coming.reserve(coming);
        std::list<News> news(1);
        news.front().steps = targets_.prepare(leaving, coming);
        commit(plan, transition, news);
        deliver();
    }
    template <class Count>
    void carry_out(Replacements& plan, Count count_moved) {
        TargetTransition& transition = plan.transition;
        std::list<News> news(1);
        news.front().steps = targets_.prepare(transition.leaving.size(), transition.coming.size());
        for (auto& [place, built] : plan.groups) {
            counts_.subtract(*place);
            counts_.add(built);
            replace(*place, std::move(built));
        }
        count_moved();
        finish(transition, news, builder_);
        deliver();
    }
    void commit(Plan& plan, TargetTransition& transition, std::list<News>& news) noexcept {
        const std::shared_ptr<TargetBuilder> before = builder_;
        if (plan.builder) builder_ = std::move(plan.builder);
        for (Update& update : plan.updates) make(update, transition);
        for (auto& [id, whole] : plan.whole) {
            whole.groups.for_each([&](const BuiltGroup& built) { take_in(built, transition); });
        }
        for (auto it = providers_.begin(); it != providers_.end();) {
            const bool goes = plan.full || plan.whole.contains(it->first);
            it = goes ? end(it, transition) : std::next(it);
        }
        providers_.merge(plan.whole);
        for (const ProviderId id : plan.ended) {
            const auto it = providers_.find(id);
            if (it != providers_.end()) end(it, transition);
        }
        finish(transition, news, before);
    }
    void finish(TargetTransition& transition, std::list<News>& news,
                const std::shared_ptr<TargetBuilder>& before) noexcept {
        News& made = news.front();
        targets_.apply(transition, made.steps);
        made.before = before;
        made.now = builder_;
        const std::size_t limit = builder_->config().target_limit;
        made.over_limit = limit != 0 && active_count() > limit;
        counts_.publish();
        news_.add(news);
    }
    void make(Update& update, TargetTransition& transition) noexcept {
        Groups& groups = update.provider->groups;
        if (update.confirms) update.provider->unconfirmed = false;
        update.provider->all = std::move(update.all);
        // Erase last, because erasures reduce the capacity.
        for (BuiltGroup& built : update.built) {
            take_in(built, transition);
            update.provider->targets += group_size(built);
            const auto [place, is_new] = groups.insert(std::move(built));
            if (is_new) continue;
            take_out(*place, transition);
            update.provider->targets -= group_size(*place);
            replace(*place, std::move(built));
        }
        for (const TargetGroupPtr& group : *update.removed) {
            const BuiltGroup* const found = groups.find(group->source());
            if (!found) continue;
            take_out(*found, transition);
            update.provider->targets -= group_size(*found);
            groups.erase(found);
        }
    }
    /// Replaces a group by another one with the same source.
    static void replace(const BuiltGroup& place, BuiltGroup&& built) noexcept {
        const_cast<BuiltGroup&>(place) = std::move(built);
    }
    template <class List>
    static void append(List& list, const List& more) {
        list.insert(list.end(), more.begin(), more.end());
    }
    std::map<ProviderId, BuiltProvider>::iterator end(
        std::map<ProviderId, BuiltProvider>::iterator provider,
        TargetTransition& transition) noexcept {
        provider->second.groups.for_each(
            [&](const BuiltGroup& built) { take_out(built, transition); });
        return providers_.erase(provider);
    }
    void take_in(const BuiltGroup& built, TargetTransition& transition) noexcept {
        counts_.add(built);
        transition.coming.insert(transition.coming.end(), built.targets().begin(),
                                 built.targets().end());
    }
    void take_out(const BuiltGroup& built, TargetTransition& transition) noexcept {
        counts_.subtract(built);
        auto moving = built.moving().begin();
        for (const ScrapeTargetPtr& target : built.targets()) {
            const bool moves = moving != built.moving().end() && moving->index == target->index();
            if (moves) ++moving;
            // The new owner handles the end of the series.
            transition.leaving.push_back({target, moves ? StopReason::moved : StopReason::gone});
        }
    }
    void deliver() noexcept {
        const auto self = this->shared_from_this();  // the handler may destroy the pool
        news_.deliver();
    }

    std::shared_ptr<TargetBuilder> builder_;  // for new groups
    std::map<ProviderId, BuiltProvider> providers_;
    detail::EqualTargets targets_;
    FleetShare share_;
    detail::TargetCounts counts_;
    DiffJoiner joiner_;
    detail::TargetNews news_;
};

namespace {

std::shared_ptr<const ScrapeConfig> shared_copy(ScrapeConfig config) {
    return std::make_shared<const ScrapeConfig>(std::move(config));
}

}  // namespace

TargetPool::TargetPool(ScrapeConfig config, TargetHandler& handler, Sharding sharding)
    : TargetPool(shared_copy(std::move(config)), handler, std::move(sharding)) {}
TargetPool::TargetPool(std::shared_ptr<const ScrapeConfig> config, TargetHandler& handler,
                       Sharding sharding)
    : impl_(std::make_shared<Impl>(std::move(config), handler, std::move(sharding))) {}
TargetPool::TargetPool(TargetPool&&) noexcept = default;
TargetPool& TargetPool::operator=(TargetPool&& other) noexcept {
    if (this != &other) {
        if (impl_) impl_->end();
        impl_ = std::move(other.impl_);
    }
    return *this;
}
TargetPool::~TargetPool() {
    if (impl_) impl_->end();
}

void TargetPool::apply(const JobDiff& diff) { impl_->apply(diff); }
void TargetPool::apply(const TargetGroupDiff& diff) { impl_->apply(diff); }
void TargetPool::share(const FleetShare& share, TimePoint now) { impl_->share(share, now); }
std::optional<TimePoint> TargetPool::next_handover() const noexcept {
    return impl_->next_handover();
}
void TargetPool::finish_handovers(TimePoint now) { impl_->finish_handovers(now); }
void TargetPool::set_metrics(std::shared_ptr<Metrics> metrics) {
    impl_->set_metrics(std::move(metrics));
}
void TargetPool::clear() { impl_->clear(); }

void TargetPool::reload(ScrapeConfig config, Sharding sharding) {
    reload(shared_copy(std::move(config)), std::move(sharding));
}
void TargetPool::reload(ScrapeConfig config, Sharding sharding,
                        std::span<const ProviderId> providers) {
    reload(shared_copy(std::move(config)), std::move(sharding), providers);
}
void TargetPool::reload(std::shared_ptr<const ScrapeConfig> config, Sharding sharding) {
    impl_->reload(std::move(config), std::move(sharding), nullptr);
}
void TargetPool::reload(std::shared_ptr<const ScrapeConfig> config, Sharding sharding,
                        std::span<const ProviderId> providers) {
    impl_->reload(std::move(config), std::move(sharding), &providers);
}

bool TargetPool::unconfirmed(const ScrapeTarget& target) const {
    return impl_->unconfirmed(target);
}
const ScrapeConfig& TargetPool::config() const noexcept { return impl_->builder().config(); }
std::vector<ScrapeTargetPtr> TargetPool::active() const { return impl_->active(); }
std::size_t TargetPool::active_count() const noexcept { return impl_->active_count(); }
std::vector<DroppedTarget> TargetPool::dropped() const { return impl_->dropped(); }
std::size_t TargetPool::dropped_count() const noexcept { return impl_->dropped_count(); }
std::vector<FailedTarget> TargetPool::failed() const { return impl_->failed(); }
std::size_t TargetPool::failed_count() const noexcept { return impl_->failed_count(); }
ShareCounts TargetPool::share_counts() const noexcept { return impl_->share_counts(); }

std::optional<std::string> TargetPool::limit_error() const {
    const std::size_t limit = config().target_limit;
    if (limit == 0 || active_count() <= limit) return std::nullopt;
    return "job " + config().job_name + " has " + std::to_string(active_count()) +
           " targets, more than its target_limit of " + std::to_string(limit);
}

}  // namespace k8s_sd::inline v0
