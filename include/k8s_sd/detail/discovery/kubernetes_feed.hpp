#pragma once

#include "k8s_sd/detail/discovery/snapshots/warm_targets.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/sharing/discoverer_status.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The target groups of one role of a GroupWatcher; until they are listed, those of a snapshot.
class KubernetesFeed final : public TargetFeed {
 public:
    KubernetesFeed(const asio::any_io_executor& executor, KubernetesTargets targets,
                   WarmStart warm_start)
        : targets_(std::move(targets)),
          warm_start_(std::move(warm_start)),
          watcher_(GroupWatcher::acquire(executor, targets_.config)) {}
    ~KubernetesFeed() override {
        if (warm_) warm_->stop();
    }

    const GroupWatcher& watcher() const noexcept { return *watcher_; }

    void start(std::weak_ptr<GroupWatcher::Observer> observer) override {
        if (subscription_) return;
        if (!warm_start_.directory.empty()) {
            warm_ = std::make_shared<WarmTargets>(*watcher_, targets_.config, targets_.role,
                                                  warm_start_, std::move(observer));
            warm_->start();
            observer = warm_;
        }
        subscription_ = watcher_->subscribe(targets_.role, std::move(observer));
        // It may share watches that were refused to others.
        recheck();
    }
    DiscovererStatus status() const override {
        DiscovererStatus status = discoverer_status(subscription_.status());
        status.cluster = targets_.config.view.cluster.name;
        if (status.server.empty()) status.server = targets_.config.scope.api_server.url;
        if (warm_) warm_->add_status(status);
        return status;
    }
    void recheck() override { GroupRegistry::recheck(watcher_); }

 private:
    const KubernetesTargets targets_;
    const WarmStart warm_start_;
    const std::shared_ptr<GroupWatcher> watcher_;
    std::shared_ptr<WarmTargets> warm_;  // null: no snapshot, or not started
    GroupWatcher::Subscription subscription_;
};

}  // namespace k8s_sd::inline v0::detail
