#pragma once

#include "k8s_sd/detail/scrape/equal_targets.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <list>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The notifications of a pool's handler, one change after the other. The handler may change the
/// pool, with the notification after those of the current change, or end the notifications.
class TargetNews {
 public:
    /// The notifications for one change.
    struct Change {
        std::shared_ptr<TargetBuilder> before, now;
        TargetSteps steps;
        bool over_limit = false;
    };

    /// \param handler  must outlive the news until end()
    explicit TargetNews(TargetHandler& handler) : handler_(&handler) {}

    /// Adds the one change in the list, without allocating memory.
    void add(std::list<Change>& change) noexcept { pending_.splice(pending_.end(), change); }
    /// Stops the notifications.
    void end() noexcept { ended_ = true; }

    /// Notifies the handler of all changes. The object must stay alive meanwhile.
    void deliver() noexcept {
        if (std::exchange(delivering_, true)) return;
        while (!pending_.empty() && !ended_) {
            std::list<Change> next;
            next.splice(next.end(), pending_, pending_.begin());
            deliver(next.front());
        }
        delivering_ = false;
    }

 private:
    void deliver(const Change& change) noexcept {
        const bool reconfigured = change.before != change.now;
        if (reconfigured && !(change.before->config() == change.now->config())) {
            handler_->reconfigure(change.before->config(), change.now->config());
        }
        call_each(change.steps.stop,
                  [this](const auto& stop) { handler_->stop(stop.id, stop.target, stop.reason); });
        call_each(change.steps.keep,
                  [this](const auto& kept) { handler_->keep(kept.id, kept.target); });
        call_each(change.steps.start,
                  [this](const auto& started) { handler_->start(started.id, started.target); });
        if (ended_) return;
        if (std::exchange(over_limit_, change.over_limit) != change.over_limit) {
            handler_->over_limit(change.over_limit);
        }
    }
    template <class List, class Call>
    void call_each(const List& list, const Call& call) const noexcept {
        for (const auto& item : list) {
            if (ended_) return;
            call(item);
        }
    }

    TargetHandler* handler_;
    std::list<Change> pending_;
    bool over_limit_ = false;
    bool delivering_ = false;
    bool ended_ = false;
};

}  // namespace k8s_sd::inline v0::detail
