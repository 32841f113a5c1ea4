#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "k8s_sd/detail/groups/full_diff.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/target_source.hpp"

#include <boost/asio/post.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

namespace detail {

namespace {

using SourceNames = boost::unordered_flat_set<std::string_view, SeededHash>;

SourceNames check_groups(const SourceState::Groups& groups) {
    SourceNames names;
    names.reserve(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::string where = "groups[" + std::to_string(i) + "]";
        if (!groups[i]) throw ConfigError(where, "is a null pointer");
        if (names.insert(groups[i]->source()).second) continue;
        throw ConfigError(where, "the source " + in_quotes(printable(groups[i]->source())) +
                                     " is also the source of an earlier group");
    }
    return names;
}

bool is_empty_change(const GroupChange& change) {
    if (!change.group || !change.previous) return change.group == change.previous;
    return *change.group == *change.previous;
}

}  // namespace

// --- state of the source -------------------------------------------------------------------------

void SourceState::set(const Groups& groups) { set(groups, {}, {}); }

void SourceState::set(const Groups& groups, error_code error, std::string message) {
    const SourceNames names = check_groups(groups);
    const std::lock_guard lock(mutex_);
    set_error(error, std::move(message));
    std::vector<GroupChange> changes;
    for (const TargetGroupPtr& group : groups) changes.push_back(change_to(group));
    groups_.for_each_group([&](const TargetGroupPtr& known) {
        if (!names.contains(known->source())) changes.push_back({nullptr, known, false});
    });
    notify(changes, true);
}

void SourceState::update(const Groups& groups) {
    check_groups(groups);
    const std::lock_guard lock(mutex_);
    set_error({}, {});
    std::vector<GroupChange> changes;
    for (const TargetGroupPtr& group : groups) changes.push_back(change_to(group));
    notify(changes);
}

void SourceState::fail(error_code error, std::string message) {
    const std::lock_guard lock(mutex_);
    set_error(error, std::move(message));
    notify({});
}

GroupChange SourceState::change_to(const TargetGroupPtr& group) const {
    return {group->size() > 0 ? group : nullptr, groups_.find(group->source()), false};
}

void SourceState::set_error(error_code error, std::string message) {
    error_ = error;
    message_ = printable(message);
}

void SourceState::notify(const std::vector<GroupChange>& all, bool of_list) {
    std::vector<GroupChange> changes;
    std::copy_if(all.begin(), all.end(), std::back_inserter(changes),
                 [](const GroupChange& change) { return !is_empty_change(change); });
    // First of all: without memory for them, the owner of the source may repeat the changes.
    for (const auto& follower : followers_) follower->add(changes);
    FirstException problem;
    problem.catch_from([&] {
        for (const GroupChange& change : changes) groups_.apply(change);
        listed_ = listed_ || of_list;  // a part of a list is none
    });
    for (const auto& follower : followers_) problem.catch_from([&] { follower->wake(); });
    problem.rethrow();
}

void SourceState::follow(const std::shared_ptr<SourceFollower>& follower) {
    const std::lock_guard lock(mutex_);
    const bool is_known =
        std::find(followers_.begin(), followers_.end(), follower) != followers_.end();
    if (!is_known) followers_.push_back(follower);
    follower->wake();
}

void SourceState::unfollow(const SourceFollower& follower) noexcept {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(followers_.begin(), followers_.end(),
                                    [&](const auto& f) { return f.get() == &follower; });
    if (known == followers_.end()) return;
    (*known)->reminder_.cancel();
    followers_.erase(known);
}

// --- followers -----------------------------------------------------------------------------------

SourceFollower::SourceFollower(std::shared_ptr<SourceState> source, asio::any_io_executor strand,
                               std::shared_ptr<Clock> clock,
                               std::weak_ptr<GroupWatcher::Observer> observer)
    : source_(std::move(source)),
      strand_(std::move(strand)),
      clock_(std::move(clock)),
      observer_(std::move(observer)),
      reminder_(clock_) {}

DiscovererStatus SourceFollower::status() const {
    const std::lock_guard lock(source_->mutex_);
    DiscovererStatus status;
    status.synced = delivered_;
    status.error = source_->error_;
    status.message = source_->message_;
    status.since = since_;
    return status;
}

void SourceFollower::add(std::span<const GroupChange> changes) {
    if (!delivered_) return;
    for (const GroupChange& change : changes) {
        changed_.try_emplace((change.group ? change.group : change.previous)->source(), change);
    }
}

void SourceFollower::wake() {
    if (awake_) return;
    try {
        asio::post(strand_, [self = shared_from_this()] { self->run(); });
    } catch (...) {
        run_later();
        throw;
    }
    awake_ = true;  // not before: without memory, post() throws
}

void SourceFollower::run() {
    try {
        {
            const std::lock_guard lock(source_->mutex_);
            awake_ = false;  // whatever fails, later changes notify
        }
        deliver();  // what failed before
        take();
        deliver();
    } catch (...) {
        run_later();
        throw;
    }
}

void SourceFollower::run_later() noexcept {
    reminder_.call_later(strand_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->run();
    });
}

void SourceFollower::take() {
    const std::lock_guard lock(source_->mutex_);
    if (std::exchange(error_, source_->error_) != source_->error_) since_ = clock_->now();
    if (delivered_) {
        changes_ = take_changes();
    } else if (source_->listed_) {
        state_ = std::make_shared<const TargetGroupDiff>(full_diff(source_->groups_));
        delivered_ = true;
    }
}

/// After an exception the observer is notified of the same once more.
void SourceFollower::deliver() {
    const auto observer = observer_.lock();
    if (!observer) return;
    if (state_) observer->on_ready(state_);
    state_.reset();
    if (!changes_.empty()) observer->on_changes(changes_);
    changes_.clear();
}

/// Compares with the present groups: a change may be reverted, or have failed without memory.
std::vector<GroupChange> SourceFollower::take_changes() {
    std::vector<GroupChange> changes;
    std::vector<GroupChange> removals;
    for (const auto& [source, first] : changed_) {
        const GroupChange change{source_->groups_.find(source), first.previous, false};
        if (!is_empty_change(change)) (change.group ? changes : removals).push_back(change);
    }
    changes.insert(changes.end(), removals.begin(), removals.end());
    changed_ = {};  // not before: without memory, they are delivered later
    return changes;
}

}  // namespace detail

// --- the host's handle ---------------------------------------------------------------------------

TargetSource::TargetSource() : impl_(std::make_shared<detail::SourceState>()) {}

void TargetSource::set(const std::vector<TargetGroupPtr>& groups) { impl_->set(groups); }

void TargetSource::update(const std::vector<TargetGroupPtr>& groups) { impl_->update(groups); }

void TargetSource::fail(const std::string& message) { impl_->fail(errc::source_failed, message); }

}  // namespace k8s_sd::inline v0
