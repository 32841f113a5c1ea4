#pragma once

#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/groups/full_diff.hpp"
#include "k8s_sd/detail/groups/group_making.hpp"
#include "k8s_sd/detail/groups/role_groups.hpp"
#include "k8s_sd/detail/sharing/watch_set.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <boost/asio/execution_context.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// One scope and its view: requests the watches for roles with observers, and delivers target
/// groups to the observers.
///
/// Strand-confined, except where noted.
class GroupWatcherImpl final : public std::enable_shared_from_this<GroupWatcherImpl>,
                               private WatchSet::Observer {
 public:
    using Observer = GroupWatcher::Observer;

    GroupWatcherImpl(std::shared_ptr<SharedWatches>, std::shared_ptr<GroupMaking>,
                     const ResolvedConfig&);

    /// Announces an observer before it reaches the strand. Any thread.
    void expect_observer() noexcept { ++expected_; }
    /// The announced observer has reached the strand.
    void subscribe(Role, const std::weak_ptr<Observer>&);
    void unsubscribe(Role, const std::weak_ptr<Observer>&);

    /// The current server of the client.
    const ServerIdentity& server() const;
    /// The server of the role's groups; nullopt: there are none, or some may still belong to a
    /// previous server of the kubeconfig.
    std::optional<ServerIdentity> server_of_groups(Role) const;
    /// The configuration was applied again: earlier refusals may be void.
    void recheck() { shared_->recheck(); }

    // Any thread.
    std::vector<WatchStatus> status(Role) const;
    const asio::any_io_executor& strand() const noexcept { return shared_->strand(); }
    const Environment& environment() const noexcept { return shared_->environment(); }

 private:
    /// A role and the observers of its groups.
    struct RoleState {
        std::vector<std::weak_ptr<Observer>> observers;
        std::vector<Kind> needed;            // empty: the role is not active
        std::unique_ptr<RoleGroups> groups;  // null: the role is not active
        std::unique_ptr<FirstDiff> first;    // while the groups are first generated
        bool ready = false;                  // observers have the complete state
    };

    void on_change(const ObjectChange&) override;
    void on_batch_end() override { update(false); }
    /// Bookmarks come each minute, and without any a watch ends after minutes.
    void on_contact(TimePoint) override {
        if (std::exchange(retries_, false)) update(false);
    }
    void on_status() override;

    RoleState& state_of(Role role) { return roles_[static_cast<std::size_t>(role)]; }
    const RoleState& state_of(Role role) const { return roles_[static_cast<std::size_t>(role)]; }
    void activate(Role);
    void deactivate_unused();
    std::vector<Kind> needed_by_active_roles() const;
    void update(bool from_queue);
    void update(RoleState&, bool from_queue);
    template <class Call>
    void attempt(FirstException&, const Call&);
    void deliver(const RoleState&, const std::vector<GroupChange>&);
    void notify_of_status(const RoleState&);
    void make_room_for_first(RoleState&);
    void deliver_first(RoleState&);
    void update_soon();
    std::function<void()> queued_call();
    void enqueue();
    void enqueue_first();

    const std::shared_ptr<SharedWatches> shared_;
    const GroupView view_;
    const std::shared_ptr<GroupMaking> making_;
    WatchSet watches_;
    std::array<OverfullObjects, role_names.size()> overfull_;  ///< by role
    std::array<RoleState, role_names.size()> roles_;
    PostedCall next_update_;
    bool retries_ = false;    ///< an update has failed; the next contact repeats it
    bool is_queued_ = false;  ///< for an update
    std::atomic<int> expected_ = 0;
};

/// The watchers of one execution context. The registry holds weak references: observers own the
/// watchers.
class GroupRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit GroupRegistry(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&, const ResolvedConfig&);
    /// For library code on the watcher's strand.
    static const std::shared_ptr<GroupWatcherImpl>& impl_of(const GroupWatcher&);
    /// A watcher's configuration was applied again, see GroupWatcherImpl::recheck().
    /// Thread-safe.
    static void recheck(const std::shared_ptr<GroupWatcher>&);
    std::size_t size() const { return watchers_.size(); }

 private:
    void shutdown() override {}
    std::shared_ptr<GroupMaking> making_of(const SharedWatches&, const ResolvedConfig&);

    std::mutex mutex_;  // serializes acquire(), so equal watchers are created once
    WeakMap<ResolvedConfig, GroupWatcher> watchers_;
    WeakMap<GroupSettings, GroupMaking> makings_;
};

}  // namespace k8s_sd::inline v0::detail
