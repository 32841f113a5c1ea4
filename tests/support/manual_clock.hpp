#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Time that moves when a test says so. For one thread.
class ManualClock final : public Clock {
 public:
    TimePoint now() const noexcept override { return shared_->now; }
    std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
        return std::make_unique<ManualTimer>(shared_, std::move(executor));
    }
    /// Posts the handlers of the timers that are due by then.
    void advance(Duration time) {
        shared_->now += time;
        const auto timers = shared_->timers;
        for (ManualTimer* timer : timers) timer->fire();
    }
    /// When the earliest timer is due; TimePoint::max() without one.
    TimePoint next_expiry() const {
        TimePoint next = TimePoint::max();
        for (const ManualTimer* timer : shared_->timers) next = std::min(next, timer->expiry());
        return next;
    }

 private:
    class ManualTimer;
    struct Shared {
        TimePoint now = TimePoint(std::chrono::hours(24));
        std::vector<ManualTimer*> timers;
    };

    class ManualTimer final : public Timer {
     public:
        ManualTimer(std::shared_ptr<Shared> shared, asio::any_io_executor executor)
            : shared_(std::move(shared)), executor_(std::move(executor)) {
            shared_->timers.push_back(this);
        }
        ~ManualTimer() override { std::erase(shared_->timers, this); }
        ManualTimer(const ManualTimer&) = delete;
        ManualTimer& operator=(const ManualTimer&) = delete;

        void expires_at(TimePoint when, std::function<void()> handler) override {
            when_ = when;
            handler_ = std::make_shared<std::function<void()>>(std::move(handler));
            fire();
        }
        void cancel() noexcept override { handler_ = nullptr; }
        TimePoint expiry() const noexcept { return handler_ ? when_ : TimePoint::max(); }
        void fire() {
            if (!handler_ || when_ > shared_->now) return;
            // A new wait or a cancellation drops the handler, also one that was posted already.
            asio::post(executor_, [this, weak = std::weak_ptr(handler_)] {
                const auto handler = weak.lock();
                if (!handler) return;
                handler_ = nullptr;
                (*handler)();
            });
        }

     private:
        std::shared_ptr<Shared> shared_;
        asio::any_io_executor executor_;
        TimePoint when_{};
        std::shared_ptr<std::function<void()>> handler_;
    };

    std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace k8s_sd::test
