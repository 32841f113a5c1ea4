#include "k8s_sd/target_pool.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <boost/unordered_set.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

namespace k8s_sd {

namespace {

struct TargetHash {
    std::size_t operator()(const ScrapeTargetPtr& target) const noexcept { return target->hash(); }
};
struct SameTarget {
    bool operator()(const ScrapeTargetPtr& a, const ScrapeTargetPtr& b) const noexcept {
        return a == b || a->same_as(*b);
    }
};
using TargetSet = boost::unordered_flat_set<ScrapeTargetPtr, TargetHash, SameTarget>;
/// Groups can have targets in common: each is there once for each time it is built.
using TargetMultiset = boost::unordered_multiset<ScrapeTargetPtr, TargetHash, SameTarget>;

/// What became of one target group.
struct Record {
    struct Dropped {
        std::uint32_t index;
        DropReason reason;
    };
    struct Failed {
        std::uint32_t index;
        std::string message;
    };
    TargetGroupPtr group;
    std::vector<ScrapeTargetPtr> targets;
    std::vector<Dropped> dropped;
    std::vector<Failed> failed;
};

Record build_record(TargetBuilder& builder, const TargetGroupPtr& group) {
    Record record{group, {}, {}, {}};
    for (std::uint32_t i = 0; i < group->size(); ++i) {
        BuiltTarget built = builder.build(group, i);
        if (auto* target = std::get_if<ScrapeTargetPtr>(&built)) {
            record.targets.push_back(std::move(*target));
        } else if (const auto* reason = std::get_if<DropReason>(&built)) {
            record.dropped.push_back({i, *reason});
        } else {
            record.failed.push_back({i, std::move(std::get<TargetError>(built).message)});
        }
    }
    return record;
}

/// The targets that leave and those that come, in one change.
struct Transition {
    std::vector<ScrapeTargetPtr> leaving;
    std::vector<ScrapeTargetPtr> coming;
};

}  // namespace

class TargetPool::Impl {
 public:
    Impl(ScrapeConfig config, TargetHandler& handler, Sharding sharding)
        : builder_(std::move(config), std::move(sharding)), handler_(&handler) {}

    const TargetBuilder& builder() const noexcept { return builder_; }

    void apply(const JobDiff& diff) {
        Transition transition;
        if (diff.full) remove_all(transition);
        for (const ProviderDiff& part : diff.providers) {
            apply_part(part.provider, part.diff, transition);
        }
        make(transition);
    }
    void apply(const TargetGroupDiff& diff) {
        Transition transition;
        apply_part(0, diff, transition);
        make(transition);
    }
    void reload(ScrapeConfig config, Sharding sharding) {
        TargetBuilder builder(std::move(config), std::move(sharding));
        builder_ = std::move(builder);
        Transition transition;
        for (auto& [id, groups] : providers_) {
            for (auto& [source, record] : groups) {
                take_out(record, transition);
                put_in(record, record.group, transition);
            }
        }
        make(transition);
    }
    void clear() {
        Transition transition;
        remove_all(transition);
        make(transition);
    }

    std::vector<ScrapeTargetPtr> active() const {
        std::vector<ScrapeTargetPtr> result;
        result.reserve(active_count_);
        for (const ScrapeTargetPtr& target : built_) {
            // Equal ones are next to each other.
            if (result.empty() || !result.back()->same_as(*target)) result.push_back(target);
        }
        return result;
    }
    std::size_t active_count() const noexcept { return active_count_; }
    std::size_t dropped_count() const noexcept { return dropped_count_; }
    std::size_t failed_count() const noexcept { return failed_count_; }

    std::vector<DroppedTarget> dropped() const {
        const std::size_t limit = builder_.config().keep_dropped_targets;
        std::vector<DroppedTarget> result;
        for_each_record([&](const Record& record) {
            for (const Record::Dropped& target : record.dropped) {
                if (limit != 0 && result.size() == limit) return;
                result.push_back({std::string(record.group->source()),
                                  builder_.discovered(*record.group, target.index), target.reason});
            }
        });
        return result;
    }
    std::vector<FailedTarget> failed() const {
        std::vector<FailedTarget> result;
        for_each_record([&](const Record& record) {
            for (const Record::Failed& target : record.failed) {
                result.push_back(
                    {std::string(record.group->source()), target.index, target.message});
            }
        });
        return result;
    }

 private:
    // The key is part of the record's group.
    using Groups = boost::unordered_flat_map<std::string_view, Record>;

    template <class Visitor>
    void for_each_record(Visitor&& visit) const {
        for (const auto& [id, groups] : providers_) {
            for (const auto& [source, record] : groups) visit(record);
        }
    }

    void apply_part(ProviderId provider, const TargetGroupDiff& diff, Transition& transition) {
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
    void remove_all(Transition& transition) {
        for (auto& [id, groups] : providers_) remove_all(groups, transition);
        providers_.clear();
    }
    void remove_all(Groups& groups, Transition& transition) {
        for (auto& [source, record] : groups) take_out(record, transition);
        groups.clear();
    }
    void remove(Groups& groups, std::string_view source, Transition& transition) {
        const auto it = groups.find(source);
        if (it == groups.end()) return;
        take_out(it->second, transition);
        groups.erase(it);
    }
    void take_out(Record& record, Transition& transition) {
        dropped_count_ -= record.dropped.size();
        failed_count_ -= record.failed.size();
        std::move(record.targets.begin(), record.targets.end(),
                  std::back_inserter(transition.leaving));
    }
    void put_in(Record& record, const TargetGroupPtr& group, Transition& transition) {
        record = build_record(builder_, group);
        dropped_count_ += record.dropped.size();
        failed_count_ += record.failed.size();
        transition.coming.insert(transition.coming.end(), record.targets.begin(),
                                 record.targets.end());
    }

    /// Those that come are entered before the others are struck out, so what is in both goes on.
    void make(const Transition& transition) {
        std::vector<ScrapeTargetPtr> started;
        for (const ScrapeTargetPtr& target : transition.coming) {
            if (!built_.contains(target)) started.push_back(target);
            built_.insert(target);
        }
        for (const ScrapeTargetPtr& target : transition.leaving) strike_out(target);
        std::vector<ScrapeTargetPtr> stopped;
        std::vector<ScrapeTargetPtr> kept;
        TargetSet seen;
        for (const ScrapeTargetPtr& target : transition.leaving) {
            if (!seen.insert(target).second) continue;
            const auto left = built_.find(target);
            if (left == built_.end()) {
                stopped.push_back(target);
            } else if (!(*left)->same_discovered(*target)) {
                kept.push_back(*left);
            }
        }
        active_count_ += started.size();
        active_count_ -= stopped.size();
        for (const ScrapeTargetPtr& target : stopped) handler_->stop(target);
        for (const ScrapeTargetPtr& target : kept) handler_->keep(target);
        for (const ScrapeTargetPtr& target : started) handler_->start(target);
    }
    void strike_out(const ScrapeTargetPtr& target) {
        const auto [first, last] = built_.equal_range(target);
        built_.erase(std::find(first, last, target));
    }

    TargetBuilder builder_;
    TargetHandler* handler_;
    boost::unordered_flat_map<ProviderId, Groups> providers_;
    TargetMultiset built_;
    std::size_t active_count_ = 0;
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

}  // namespace k8s_sd
