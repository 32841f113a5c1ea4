#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_groups.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

class SourceFollower;

/// What a TargetSource knows, and who follows it. Thread-safe. Its mutex is held for no call of
/// others, so that those who follow may hold their own when they ask.
class SourceState {
 public:
    using Groups = std::vector<TargetGroupPtr>;

    /// See TargetSource.
    void set(const Groups&);
    void update(const Groups&);
    /// Without an error: all is well again.
    void fail(error_code, std::string message);
    /// set() of what could be found out, and what could not, in one.
    void set(const Groups&, error_code, std::string message);

    void follow(const std::shared_ptr<SourceFollower>&);
    /// Afterwards the follower's executor is not used any more.
    void unfollow(const SourceFollower&) noexcept;

 private:
    friend class SourceFollower;
    void set_error(error_code, std::string message);
    void tell(const std::vector<GroupChange>&);
    GroupChange change_to(const TargetGroupPtr&) const;

    mutable std::mutex mutex_;
    TargetGroups groups_;
    bool listed_ = false;
    error_code error_;
    std::string message_;
    std::vector<std::shared_ptr<SourceFollower>> followers_;
};

/// Tells an observer of a source: on a strand, first the complete state, then what changes. What
/// has changed before the strand comes to it is told at once, the newest state of each group.
class SourceFollower final : public std::enable_shared_from_this<SourceFollower> {
 public:
    SourceFollower(std::shared_ptr<SourceState>, asio::any_io_executor strand,
                   std::shared_ptr<Clock>, std::weak_ptr<GroupWatcher::Observer>);

    DiscovererStatus status() const;

 private:
    friend class SourceState;
    // Under the mutex of the source.
    void add(std::span<const GroupChange>);
    void wake();

    void run();
    std::vector<GroupChange> take_changes();

    const std::shared_ptr<SourceState> source_;
    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    const std::weak_ptr<GroupWatcher::Observer> observer_;

    // Guarded by the mutex of the source.
    PendingChanges pending_;
    bool told_ = false;   ///< the complete state
    bool awake_ = false;  ///< run() was posted
    error_code error_;    ///< that of the source when run() last looked
    TimePoint since_{};   ///< when that took its value
};

}  // namespace k8s_sd::inline v0::detail
