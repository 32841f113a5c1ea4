#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_group.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace k8s_sd::inline v0 {

/// The URLWatchers that share server, credentials, namespaces, selectors, metadata options and
/// dialect. Generates each target group once for all subscribers, and again when an object that
/// reaches its labels has changed: at once, and no other group. A URL is watched as long as a
/// subscriber's role needs it.
///
/// Discoverer is the comfortable way to use it.
///
/// \par Thread safety  subscribe() and status() may be called from any thread; subscribers are
/// called on get_executor().
class K8S_SD_EXPORT GroupWatcher : public std::enable_shared_from_this<GroupWatcher> {
 public:
    /// Called on the group's strand; must not block.
    class Subscriber {
     public:
        /// Everything the role needs has been listed: from now on on_group() is called.
        /// `for_each_group` may be called there and in later calls.
        virtual void on_ready() = 0;
        /// A group was added (`previous` null), changed, or removed (`group` null).
        virtual void on_group(const GroupChange&) = 0;
        /// All changes that arrived together were reported.
        virtual void on_batch_end() = 0;

     protected:
        ~Subscriber() = default;
    };

    /// Keeps a subscriber subscribed. May be dropped on any thread; the last one of a group stops
    /// its watchers. The subscriber may still be called until the group's strand has come to it; a
    /// subscriber that no longer exists is not called.
    class Subscription {
     public:
        Subscription() = default;
        Subscription(Subscription&&) noexcept = default;
        Subscription& operator=(Subscription&& other) noexcept;
        ~Subscription() { reset(); }
        /// Ends the subscription. See above for what may still be called.
        void reset() noexcept;
        /// Whether there is a subscription.
        explicit operator bool() const noexcept { return group_ != nullptr; }
        /// The watcher; null without a subscription.
        GroupWatcher* operator->() const noexcept { return group_.get(); }

     private:
        friend class GroupWatcher;
        std::shared_ptr<GroupWatcher> group_;
        std::weak_ptr<Subscriber> subscriber_;
        Role role_ = Role::pod;
    };

    /// The group of that key on the executor's context, a new one if there is none. It works on a
    /// strand of its own; where `executor` is a strand itself, on the executor underneath.
    /// \throws ConfigError for a server or namespace that cannot be one
    static std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&, const WatchScope&);

    /// Subscribes to the target groups of a role, and starts the watches that it needs.
    /// The subscriber is not kept alive.
    Subscription subscribe(Role, std::weak_ptr<Subscriber>);
    /// The group's strand.
    asio::any_io_executor get_executor() const;
    /// Of the watchers that `role` needs.
    std::vector<WatchStatus> status(Role) const;
    /// Every group of `role` that has targets. On the group's strand only.
    void for_each_group(Role, const std::function<void(const TargetGroupPtr&)>&) const;
    /// That of the execution context.
    const Environment& environment() const;

    /// Of the library itself; hosts call acquire().
    class Impl;
    /// Of the library itself; hosts call acquire().
    explicit GroupWatcher(std::unique_ptr<Impl>);
    GroupWatcher(const GroupWatcher&) = delete;
    GroupWatcher& operator=(const GroupWatcher&) = delete;
    ~GroupWatcher();

 private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
