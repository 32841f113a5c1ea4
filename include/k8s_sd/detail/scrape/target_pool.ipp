#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/detail/scrape/built_group.hpp"
#include "k8s_sd/detail/scrape/equal_targets.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

class TargetPool::Impl {
 public:
    Impl(ScrapeConfig config, TargetHandler& handler, Sharding sharding)
        : builder_(std::move(config), std::move(sharding)), handler_(&handler) {}

    const TargetBuilder& builder() const noexcept { return builder_; }

    void apply(const JobDiff& diff) {
        TargetTransition transition;
        if (diff.full) remove_all(transition);
        for (const ProviderDiff& part : diff.providers) {
            apply_part(part.provider, part.diff, transition);
        }
        make(transition);
    }
    void apply(const TargetGroupDiff& diff) {
        TargetTransition transition;
        apply_part(0, diff, transition);
        make(transition);
    }
    void reload(ScrapeConfig config, Sharding sharding) {
        TargetBuilder builder(std::move(config), std::move(sharding));
        builder_ = std::move(builder);
        TargetTransition transition;
        for (auto& [id, groups] : providers_) {
            for (auto& [source, built] : groups) {
                take_out(built, transition);
                put_in(built, TargetGroupPtr(built.group()), transition);
            }
        }
        make(transition);
    }
    void clear() {
        TargetTransition transition;
        remove_all(transition);
        make(transition);
    }

    std::vector<ScrapeTargetPtr> active() const {
        return {targets_.active().begin(), targets_.active().end()};
    }
    std::size_t active_count() const noexcept { return targets_.active().size(); }
    std::size_t dropped_count() const noexcept { return dropped_count_; }
    std::size_t failed_count() const noexcept { return failed_count_; }

    std::vector<DroppedTarget> dropped() const {
        const std::size_t limit = builder_.config().keep_dropped_targets;
        std::vector<DroppedTarget> result;
        for_each_group([&](const BuiltGroup& built) {
            built.for_each_dropped([&](std::uint32_t index, DropReason reason) {
                if (limit != 0 && result.size() == limit) return false;
                result.push_back({std::string(built.group()->source()),
                                  builder_.discovered(*built.group(), index), reason});
                return true;
            });
        });
        return result;
    }
    std::vector<FailedTarget> failed() const {
        std::vector<FailedTarget> result;
        for_each_group([&](const BuiltGroup& built) {
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
    // The key is part of the group.
    using Groups = boost::unordered_flat_map<std::string_view, BuiltGroup, detail::SeededHash>;

    template <class Visitor>
    void for_each_group(Visitor&& visit) const {
        for (const auto& [id, groups] : providers_) {
            for (const auto& [source, built] : groups) visit(built);
        }
    }

    void apply_part(ProviderId provider, const TargetGroupDiff& diff,
                    TargetTransition& transition) {
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
    void remove_all(TargetTransition& transition) {
        for (auto& [id, groups] : providers_) remove_all(groups, transition);
        providers_.clear();
    }
    void remove_all(Groups& groups, TargetTransition& transition) {
        for (auto& [source, built] : groups) take_out(built, transition);
        groups.clear();
    }
    void remove(Groups& groups, std::string_view source, TargetTransition& transition) {
        const auto it = groups.find(source);
        if (it == groups.end()) return;
        take_out(it->second, transition);
        groups.erase(it);
    }
    void take_out(const BuiltGroup& built, TargetTransition& transition) {
        dropped_count_ -= built.dropped_count();
        failed_count_ -= built.failed().size();
        transition.leaving.insert(transition.leaving.end(), built.targets().begin(),
                                  built.targets().end());
    }
    void put_in(BuiltGroup& built, const TargetGroupPtr& group, TargetTransition& transition) {
        built = BuiltGroup(builder_, group);
        dropped_count_ += built.dropped_count();
        failed_count_ += built.failed().size();
        transition.coming.insert(transition.coming.end(), built.targets().begin(),
                                 built.targets().end());
    }

    void make(const TargetTransition& transition) {
        const detail::TargetSteps steps = targets_.apply(transition);
        for (const ScrapeTargetPtr& target : steps.stop) handler_->stop(target);
        for (const ScrapeTargetPtr& target : steps.keep) handler_->keep(target);
        for (const ScrapeTargetPtr& target : steps.start) handler_->start(target);
    }

    TargetBuilder builder_;
    TargetHandler* handler_;
    boost::unordered_flat_map<ProviderId, Groups> providers_;
    detail::EqualTargets targets_;
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
