#include "k8s_sd/sim/manual_clock.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The wait of a timer. Once posted, only its timer keeps it alive.
struct ManualClock::Wait {
    /// Posts the handler; a handler dropped by the timer before then is not called.
    static void post(const std::shared_ptr<Wait>& wait) {
        asio::post(wait->executor, [weak = std::weak_ptr(wait)] {
            const auto posted = weak.lock();
            if (!posted) return;
            if (const auto handler = std::exchange(posted->handler, nullptr)) handler();
        });
    }

    TimePoint when;
    asio::any_io_executor executor;
    std::function<void()> handler;
};

struct ManualClock::State {
    using WaitPtr = std::shared_ptr<Wait>;

    void add(const WaitPtr& wait) {
        {
            const std::lock_guard lock(mutex);
            if (wait->when > now) {
                waits.emplace(wait->when, wait);
                return;
            }
        }
        Wait::post(wait);
    }
    void remove(const WaitPtr& wait) noexcept {
        const std::lock_guard lock(mutex);
        const auto [first, last] = waits.equal_range(wait->when);
        const auto found =
            std::find_if(first, last, [&](const auto& w) { return w.second == wait; });
        if (found != last) waits.erase(found);
    }
    /// Advances to this time, never back. \returns the expired waits, the earliest first
    std::vector<WaitPtr> move_to(TimePoint time) {
        const std::lock_guard lock(mutex);
        now = std::max(now, time);
        const auto end = waits.upper_bound(now);
        std::vector<WaitPtr> due;
        for (auto i = waits.begin(); i != end; ++i) due.push_back(i->second);
        waits.erase(waits.begin(), end);
        return due;
    }
    TimePoint next() const noexcept {
        const std::lock_guard lock(mutex);
        return waits.empty() ? TimePoint::max() : waits.begin()->first;
    }

    mutable std::mutex mutex;
    TimePoint now = TimePoint(std::chrono::hours(24));
    std::multimap<TimePoint, WaitPtr> waits;  ///< unexpired; equal times in order of insertion
};

class ManualClock::ManualTimer final : public Timer {
 public:
    ManualTimer(std::shared_ptr<State> state, asio::any_io_executor executor)
        : state_(std::move(state)), executor_(std::move(executor)) {}
    ~ManualTimer() override { cancel(); }
    ManualTimer(const ManualTimer&) = delete;
    ManualTimer& operator=(const ManualTimer&) = delete;

    void expires_at(TimePoint when, std::function<void()> handler) override {
        cancel();
        wait_ = std::make_shared<Wait>(Wait{when, executor_, std::move(handler)});
        state_->add(wait_);
    }
    void cancel() noexcept override {
        const auto wait = std::exchange(wait_, nullptr);
        if (!wait) return;
        state_->remove(wait);
        // advance() may hold the wait on another thread.
        wait->handler = nullptr;
    }

 private:
    std::shared_ptr<State> state_;
    asio::any_io_executor executor_;
    std::shared_ptr<Wait> wait_;
};

ManualClock::ManualClock() : state_(std::make_shared<State>()) {}
ManualClock::~ManualClock() = default;

TimePoint ManualClock::now() const noexcept {
    const std::lock_guard lock(state_->mutex);
    return state_->now;
}

std::unique_ptr<Timer> ManualClock::make_timer(asio::any_io_executor executor) {
    return std::make_unique<ManualTimer>(state_, std::move(executor));
}

void ManualClock::advance(Duration time) { advance_to(now() + time); }

void ManualClock::advance_to(TimePoint time) {
    for (const auto& wait : state_->move_to(time)) Wait::post(wait);
}

std::size_t ManualClock::advance(asio::io_context& context, Duration time) {
    const auto settle = [&context] {
        context.restart();
        return context.poll();
    };
    const TimePoint end = now() + time;
    std::size_t handlers = settle();
    for (TimePoint next = next_expiry(); next <= end; next = next_expiry()) {
        advance_to(next);
        handlers += settle();
    }
    advance_to(end);
    return handlers + settle();
}

TimePoint ManualClock::next_expiry() const noexcept { return state_->next(); }

}  // namespace k8s_sd::inline v0::sim
