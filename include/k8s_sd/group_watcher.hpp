#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_group.hpp"

#include <memory>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
class GroupWatcherImpl;
}  // namespace detail

/// The watches of a scope (server, credentials, namespaces, selectors), and the target groups of a
/// view of it (dialect, metadata options). Watchers of one server with equal WatchOptions share
/// URLWatchers, see WatchOptions::share_selectors. Generates each target group once for all
/// observers, and regenerates a group at once after a change of any object with an effect on its
/// labels, without touching other groups. A URL is watched as long as an observer's role needs it.
///
/// Discoverer is the more convenient interface.
///
/// \par Thread safety  subscribe() and status() may be called from any thread; observers are
/// called on get_executor().
class K8S_SD_EXPORT GroupWatcher : public std::enable_shared_from_this<GroupWatcher> {
 public:
    /// Receives the target groups of one role: the complete state once, then the changes.
    /// Called on the watcher's strand; must not block. An exception does not keep other observers
    /// from their calls; the first one of a handler then leaves run() of the context. The call is
    /// not repeated.
    class Observer {
     public:
        /// All resources of the role have been listed: the complete state, with `full` set, shared
        /// by all observers. Called once, before any on_changes().
        virtual void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) = 0;
        /// The changes of one handler invocation on the strand, at most one change for each group:
        /// a group added (`previous` null), changed, or removed (`group` null).
        virtual void on_changes(const std::vector<GroupChange>&) = 0;
        /// The state from a snapshot, delivered by on_ready(), is confirmed; follows on_changes().
        virtual void on_confirmed() {}
        /// The status of a watch the role may need has changed in more than the number of objects.
        virtual void on_status() {}

     protected:
        ~Observer() = default;
    };

    /// Keeps an observer subscribed. May be destroyed on any thread; the last one of a watcher
    /// stops its watches. The observer may still be called until the watcher's strand has processed
    /// the release, but never after its own destruction.
    class Subscription {
     public:
        Subscription() = default;
        Subscription(Subscription&&) noexcept = default;
        Subscription& operator=(Subscription&& other) noexcept;
        ~Subscription() { reset(); }
        /// Ends the subscription. See above for calls still possible.
        void reset() noexcept;
        /// Whether there is a subscription.
        explicit operator bool() const noexcept { return watcher_ != nullptr; }
        /// The status of the role's watches; empty without a subscription.
        std::vector<WatchStatus> status() const;

     private:
        friend class GroupWatcher;
        std::shared_ptr<GroupWatcher> watcher_;
        std::weak_ptr<Observer> observer_;
        Role role_ = Role::pod;
    };

    /// The watcher of this scope and view on the executor's context, a new one if there is none. It
    /// works on one strand with all watchers it shares URLWatchers with; if `executor` is itself a
    /// strand, on its inner executor.
    /// \throws ConfigError for an empty executor, and for an invalid server or namespace
    static std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&,
                                                 const ResolvedConfig&);

    /// Subscribes to the target groups of a role, and starts its watches.
    /// The observer is not kept alive.
    Subscription subscribe(Role, std::weak_ptr<Observer>);
    /// The watcher's strand.
    asio::any_io_executor get_executor() const;
    /// The status of the watches `role` needs.
    std::vector<WatchStatus> status(Role) const;
    /// The environment of the execution context.
    const Environment& environment() const;

    GroupWatcher(const GroupWatcher&) = delete;
    GroupWatcher& operator=(const GroupWatcher&) = delete;
    ~GroupWatcher();

 private:
    friend struct detail::Access;
    explicit GroupWatcher(std::shared_ptr<detail::GroupWatcherImpl>);

    const std::shared_ptr<detail::GroupWatcherImpl> impl_;
};

}  // namespace k8s_sd::inline v0
