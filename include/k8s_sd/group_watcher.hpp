#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_group.hpp"

#include <memory>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
class GroupRegistry;
class GroupWatcherImpl;
}  // namespace detail

/// What is watched of a scope (server, credentials, namespaces, selectors), and the target groups
/// of a view of it (dialect, metadata options). Watchers of one server with equal WatchOptions
/// share URLWatchers, see WatchOptions::share_selectors. Generates each target group once for all
/// observers, and again when an object that reaches its labels has changed: at once, and no other
/// group. A URL is watched as long as an observer's role needs it.
///
/// Discoverer is the comfortable way to use it.
///
/// \par Thread safety  subscribe() and status() may be called from any thread; observers are
/// called on get_executor().
class K8S_SD_EXPORT GroupWatcher : public std::enable_shared_from_this<GroupWatcher> {
 public:
    /// Who is told of the target groups of one role: the complete state once, then the changes.
    /// Called on the watcher's strand; must not block.
    class Observer {
     public:
        /// Everything the role needs has been listed: the complete state, which has `full` set.
        /// Observers share it. Called once, before any on_changes().
        virtual void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) = 0;
        /// What one turn of the strand has changed, at most one change a group. A group was added
        /// (`previous` null), changed, or removed (`group` null).
        virtual void on_changes(const std::vector<GroupChange>&) = 0;
        /// What on_ready() has brought from a snapshot is confirmed; comes after on_changes().
        virtual void on_confirmed() {}
        /// The status of a watch that the role may need has changed in more than the number of
        /// objects.
        virtual void on_status() {}

     protected:
        ~Observer() = default;
    };

    /// Keeps an observer subscribed. May be dropped on any thread; the last one of a watcher stops
    /// its watches. The observer may still be called until the watcher's strand has come to it; an
    /// observer that no longer exists is not called.
    class Subscription {
     public:
        Subscription() = default;
        Subscription(Subscription&&) noexcept = default;
        Subscription& operator=(Subscription&& other) noexcept;
        ~Subscription() { reset(); }
        /// Ends the subscription. See above for what may still be called.
        void reset() noexcept;
        /// Whether there is a subscription.
        explicit operator bool() const noexcept { return watcher_ != nullptr; }
        /// Of the watches that the role needs; empty without a subscription.
        std::vector<WatchStatus> status() const;

     private:
        friend class GroupWatcher;
        std::shared_ptr<GroupWatcher> watcher_;
        std::weak_ptr<Observer> observer_;
        Role role_ = Role::pod;
    };

    /// The watcher of that scope and view on the executor's context, a new one if there is none. It
    /// works on a strand that it has in common with those it shares URLWatchers with; where
    /// `executor` is a strand itself, on the executor underneath.
    /// \throws ConfigError for an empty executor, and for a server or namespace that cannot be one
    static std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&,
                                                 const ResolvedConfig&);

    /// Subscribes to the target groups of a role, and starts the watches that it needs.
    /// The observer is not kept alive.
    Subscription subscribe(Role, std::weak_ptr<Observer>);
    /// The watcher's strand.
    asio::any_io_executor get_executor() const;
    /// Of the watches that `role` needs.
    std::vector<WatchStatus> status(Role) const;
    /// That of the execution context.
    const Environment& environment() const;

    GroupWatcher(const GroupWatcher&) = delete;
    GroupWatcher& operator=(const GroupWatcher&) = delete;
    ~GroupWatcher();

 private:
    friend class detail::GroupRegistry;
    explicit GroupWatcher(std::shared_ptr<detail::GroupWatcherImpl>);

    const std::shared_ptr<detail::GroupWatcherImpl> impl_;
};

}  // namespace k8s_sd::inline v0
