#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/base/backoff.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

void Reminder::wait(std::unique_ptr<Timer> timer, std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return;
    timer->expires_at(due_after(clock_->now(), pause), std::move(function));
    timer_.swap(timer);
}

void Reminder::cancel() noexcept {
    std::unique_ptr<Timer> timer;
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    timer_.swap(timer);
}

}  // namespace k8s_sd::inline v0::detail
