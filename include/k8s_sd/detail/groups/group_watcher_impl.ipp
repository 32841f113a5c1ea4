#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/groups/full_diff.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

// Groups generated per invocation, so other handlers on the strand can run.
constexpr std::size_t groups_per_handler = 1024;

std::shared_ptr<const TargetGroupDiff> state_of_groups(const RoleGroups& groups) {
    return std::make_shared<const TargetGroupDiff>(full_diff(groups));
}

/// Calls all observers, even if one throws.
template <class Call>
void for_each_alive(const std::vector<std::weak_ptr<GroupWatcher::Observer>>& observers,
                    Call call) {
    FirstException problem;
    for (const auto& observer : observers) {
        if (const auto alive = observer.lock()) problem.catch_from([&] { call(*alive); });
    }
    problem.rethrow();
}

}  // namespace

GroupWatcherImpl::GroupWatcherImpl(std::shared_ptr<SharedWatches> watches,
                                   std::shared_ptr<GroupMaking> making,
                                   const ResolvedConfig& config)
    : shared_(std::move(watches)),
      view_(config.view),
      making_(std::move(making)),
      watches_(shared_, config.scope, dialect_of(view_), *this) {}

// --- observers -----------------------------------------------------------------------------------

void GroupWatcherImpl::subscribe(Role role, const std::weak_ptr<Observer>& observer) {
    --expected_;
    RoleState& state = state_of(role);
    state.observers.push_back(observer);
    FirstException problem;
    problem.catch_from([&] {
        if (!state.groups) return activate(role);
        if (!state.ready) return;
        if (const auto alive = observer.lock()) alive->on_ready(state_of_groups(*state.groups));
    });
    deactivate_unused();
    problem.rethrow();
}

void GroupWatcherImpl::unsubscribe(Role role, const std::weak_ptr<Observer>& observer) {
    auto& observers = state_of(role).observers;
    const auto same = [&](const std::weak_ptr<Observer>& other) {
        return !other.owner_before(observer) && !observer.owner_before(other);
    };
    const auto it = std::find_if(observers.begin(), observers.end(), same);
    if (it == observers.end()) return;
    observers.erase(it);
    deactivate_unused();
}

void GroupWatcherImpl::activate(Role role) {
    RoleState& state = state_of(role);
    state.needed = needed_kinds(role, view_.attach_metadata);
    const auto index = static_cast<std::size_t>(role);
    state.groups = std::make_unique<RoleGroups>(
        role, watches_, making_->maker, making_->groups[index], environment(), overfull_[index]);
    watches_.start(state.needed);
    update(false);
}

// Not while an announced observer may need the same watchers.
void GroupWatcherImpl::deactivate_unused() {
    if (expected_ != 0) return;
    bool any = false;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        if (!roles_[i].groups || !roles_[i].observers.empty()) continue;
        roles_[i] = {};
        any = true;
        overfull_[i].clear();
    }
    if (any) watches_.stop_all_but(needed_by_active_roles());
}

std::vector<Kind> GroupWatcherImpl::needed_by_active_roles() const {
    std::vector<Kind> needed;
    for (const RoleState& state : roles_) {
        needed.insert(needed.end(), state.needed.begin(), state.needed.end());
    }
    return needed;
}

// --- the server of the groups --------------------------------------------------------------------

const ServerIdentity& GroupWatcherImpl::server() const {
    return impl_of(*shared_->client()).server_identity;
}

std::optional<ServerIdentity> GroupWatcherImpl::server_of_groups(Role role) const {
    const RoleState& state = state_of(role);
    const bool complete = state.ready && !state.groups->dirty();
    if (!complete || !watches_.know_present_server(state.needed)) return std::nullopt;
    return server();
}

// --- from objects to groups ----------------------------------------------------------------------

void GroupWatcherImpl::on_change(const ObjectChange& change) {
    for (const RoleState& state : roles_) {
        if (state.groups) state.groups->on_change(change);
    }
}

void GroupWatcherImpl::update(bool from_queue) {
    FirstException problem;
    for (RoleState& state : roles_) {
        if (state.groups) problem.catch_from([&] { update(state, from_queue); });
    }
    problem.rethrow();
}

void GroupWatcherImpl::update(RoleState& state, bool from_queue) {
    RoleGroups& groups = *state.groups;
    if (!watches_.synced(state.needed)) return;
    if (state.ready && !groups.dirty()) return;
    FirstException problem;
    if (!state.ready && !from_queue && groups.has_other_views()) {
        attempt(problem, [&] { enqueue(); });
        return problem.rethrow();
    }
    std::vector<GroupChange> changes;
    attempt(problem, [&] {
        if (!state.ready) make_room_for_first(state);
        changes = groups.update(groups_per_handler);
        if (groups.dirty()) from_queue && !state.ready ? enqueue_first() : update_soon();
    });
    const bool overfull_changed = groups.take_overfull_change();
    if (state.ready) {
        if (!changes.empty()) problem.catch_from([&] { deliver(state, changes); });
    } else if (state.first) {
        state.first->add(changes);
        if (!groups.dirty()) attempt(problem, [&] { deliver_first(state); });
    }
    if (overfull_changed) problem.catch_from([&] { notify_of_status(state); });
    problem.rethrow();
}

/// Repeats the update later if the call throws, as without memory.
template <class Call>
void GroupWatcherImpl::attempt(FirstException& problem, const Call& call) {
    if (!problem.catch_from(call)) retries_ = true;
}

void GroupWatcherImpl::make_room_for_first(RoleState& state) {
    if (!state.first) state.first = std::make_unique<FirstDiff>();
    state.first->make_room(state.groups->dirty_count());
}

void GroupWatcherImpl::deliver_first(RoleState& state) {
    const auto complete = std::make_shared<TargetGroupDiff>();
    *complete = state.first->take(*state.groups);
    state.first.reset();
    state.ready = true;  // not before: without memory, the next update delivers it
    for_each_alive(state.observers, [&](Observer& o) { o.on_ready(complete); });
}

void GroupWatcherImpl::deliver(const RoleState& state, const std::vector<GroupChange>& changes) {
    for_each_alive(state.observers, [&](Observer& o) { o.on_changes(changes); });
}

void GroupWatcherImpl::update_soon() {
    next_update_.request(strand(), weak_from_this(),
                         [](GroupWatcherImpl& self) { self.update(false); });
}

std::function<void()> GroupWatcherImpl::queued_call() {
    return if_alive(weak_from_this(), [](GroupWatcherImpl& self) {
        self.is_queued_ = false;
        self.update(true);
    });
}

void GroupWatcherImpl::enqueue() {
    if (is_queued_) return;
    making_->first_states.request(strand(), std::weak_ptr(making_), queued_call());
    is_queued_ = true;  // not before: without memory, request() throws
}

void GroupWatcherImpl::enqueue_first() {
    if (is_queued_) return;
    making_->first_states.request_first(strand(), std::weak_ptr(making_), queued_call());
    is_queued_ = true;
}

void GroupWatcherImpl::on_status() {
    FirstException problem;
    for (const RoleState& state : roles_) problem.catch_from([&] { notify_of_status(state); });
    problem.rethrow();
}

void GroupWatcherImpl::notify_of_status(const RoleState& state) {
    for_each_alive(state.observers, [](Observer& o) { o.on_status(); });
}

// --- status --------------------------------------------------------------------------------------

std::vector<WatchStatus> GroupWatcherImpl::status(Role role) const {
    std::vector<WatchStatus> status = watches_.status(needed_kinds(role, view_.attach_metadata));
    overfull_[static_cast<std::size_t>(role)].add_to(status, main_kind(role),
                                                     making_->maker.options.max_targets);
    for (WatchStatus& watch : status) watch.cluster = view_.cluster.name;
    return status;
}

}  // namespace k8s_sd::inline v0::detail
