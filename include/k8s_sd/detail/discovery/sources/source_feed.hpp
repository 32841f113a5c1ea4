#pragma once

#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

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
        if (follower_) return;
        follower_ = std::make_shared<SourceFollower>(source_, strand_, clock_, std::move(observer));
        source_->follow(follower_);
        if (driver_) driver_->start();
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
};

}  // namespace k8s_sd::inline v0::detail
