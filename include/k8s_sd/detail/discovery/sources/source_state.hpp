#pragma once

#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_groups.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class SourceFollower;

/// The groups of a TargetSource, and its followers. Thread-safe. It calls no foreign code under its
/// mutex, so followers may call it with their own mutex locked.
class SourceState {
 public:
    using Groups = std::vector<TargetGroupPtr>;

    /// See TargetSource.
    void set(const Groups&);
    void update(const Groups&);
    /// An empty error clears the failure.
    void fail(error_code, std::string message);
    /// set() for the known groups and fail() for the others, as one change.
    void set(const Groups&, error_code, std::string message);

    /// May be repeated.
    void follow(const std::shared_ptr<SourceFollower>&);
    /// Afterwards the follower's executor is no longer used.
    void unfollow(const SourceFollower&) noexcept;

 private:
    friend class SourceFollower;
    void set_error(error_code, std::string message);
    void notify(const std::vector<GroupChange>&, bool of_list = false);
    GroupChange change_to(const TargetGroupPtr&) const;

    mutable std::mutex mutex_;
    TargetGroups groups_;
    bool listed_ = false;
    error_code error_;
    std::string message_;
    std::vector<std::shared_ptr<SourceFollower>> followers_;
};

/// Notifies an observer of a source on a strand: first of the complete state, then of changes.
/// Changes before the strand runs are coalesced by group into one notification.
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
    void run_later() noexcept;
    void take();
    std::vector<GroupChange> take_changes();
    void deliver();

    const std::shared_ptr<SourceState> source_;
    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    const std::weak_ptr<GroupWatcher::Observer> observer_;
    Reminder reminder_;  // of a run() without memory

    // Used on the strand only: taken, and not received by the observer yet.
    std::shared_ptr<const TargetGroupDiff> state_;
    std::vector<GroupChange> changes_;

    // Guarded by the mutex of the source.
    /// The first change of each group since the last run(), by its source.
    boost::unordered_flat_map<std::string_view, GroupChange, SeededHash> changed_;
    bool delivered_ = false;  ///< the complete state was taken
    bool awake_ = false;      ///< run() was posted
    error_code error_;        ///< the source's error in the last run()
    TimePoint since_{};       ///< when it took its present value
};

/// Feeds a source with targets, for example from files. Works on a strand.
class SourceDriver {
 public:
    virtual ~SourceDriver() = default;
    // Any thread.
    /// Called once.
    virtual void start() = 0;
    /// Stops on the strand, asynchronously.
    virtual void stop() noexcept = 0;
};

/// Follows a TargetSource: the host's own, or one fed by a driver.
class SourceFeed final : public TargetFeed {
 public:
    /// \param driver  null: the source is set by its owner
    SourceFeed(std::shared_ptr<SourceState> source, asio::any_io_executor strand,
               std::shared_ptr<Clock> clock, std::shared_ptr<SourceDriver> driver)
        : source_(std::move(source)),
          strand_(std::move(strand)),
          clock_(std::move(clock)),
          driver_(std::move(driver)) {}
    ~SourceFeed() override {
        if (!follower_) return;
        source_->unfollow(*follower_);
        if (driver_) driver_->stop();
    }

    void start(std::weak_ptr<GroupWatcher::Observer> observer) override {
        if (is_started_) return;
        if (!follower_) {
            follower_ =
                std::make_shared<SourceFollower>(source_, strand_, clock_, std::move(observer));
        }
        source_->follow(follower_);
        if (driver_) driver_->start();
        is_started_ = true;  // not before: without memory, the next call starts
    }
    DiscovererStatus status() const override {
        return follower_ ? follower_->status() : DiscovererStatus{};
    }

 private:
    const std::shared_ptr<SourceState> source_;
    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<SourceDriver> driver_;
    std::shared_ptr<SourceFollower> follower_;  ///< null before start()
    bool is_started_ = false;
};

}  // namespace k8s_sd::inline v0::detail
