#include "k8s_sd/detail/async/delivery.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

Delivery::Delivery(const asio::any_io_executor& host, asio::any_io_executor origin,
                   std::shared_ptr<Clock> clock, int calls_per_batch)
    : strand_(asio::make_strand(host)),
      any_strand_(strand_),
      origin_(std::move(origin)),
      clock_(std::move(clock)),
      calls_per_batch_(calls_per_batch),
      reminder_(clock_) {}

Delivery::~Delivery() = default;

void Delivery::wake(std::shared_ptr<Source> source) {
    if (cancelled_ || awake_.exchange(true)) return;
    try {
        asio::post(strand_, [this, source] { run(source); });
    } catch (...) {
        awake_ = false;
        run_later(source);
        throw;
    }
}

bool Delivery::cancel(std::shared_ptr<Source> source) noexcept {
    if (cancelled_.exchange(true)) return false;
    reminder_.cancel();
    try {
        // Destroy the timer on the strand, where it is used.
        asio::post(strand_, [this, source = std::move(source)] { timer_.reset(); });
    } catch (...) {
        // Without memory; the last owner destroys it.
    }
    return true;
}

void Delivery::run(const std::shared_ptr<Source>& source) {
    awake_.exchange(false);  // before polling the source: a later change wakes again
    missed_ = false;
    if (cancelled_) return;
    const TimePoint now = clock_->now();
    const std::optional<TimePoint> due = source->next_due(now);
    if (!due) return;
    if (*due > now) return run_at(*due, source);
    awake_ = true;  // until the handler on origin_ has run, also after a call that throws
    struct Rest {
        Delivery* delivery;
        const std::shared_ptr<Source>& source;
        ~Rest() {
            try {
                asio::post(delivery->origin_, [d = delivery, s = source] { d->wake_again(s); });
            } catch (...) {
                delivery->awake_ = false;
                delivery->run_later(source);
            }
        }
    };
    const Rest rest{this, source};
    for (int calls = 0; calls < calls_per_batch_ && source->deliver_next(clock_->now()); ++calls) {
    }
}

void Delivery::wake_again(const std::shared_ptr<Source>& source) {
    awake_.exchange(false);
    if (!cancelled_ && source->next_due(clock_->now())) wake(source);
}

void Delivery::run_at(TimePoint due, const std::shared_ptr<Source>& source) {
    try {
        if (!timer_) timer_ = clock_->make_timer(strand_);
        timer_->expires_at(due, [this, weak = std::weak_ptr(source)] {
            if (const auto alive = weak.lock()) run(alive);
        });
    } catch (...) {
        run_later(source);
        throw;
    }
}

void Delivery::run_later(const std::shared_ptr<Source>& source) noexcept {
    missed_ = true;
    reminder_.call_later(any_strand_, [this, weak = std::weak_ptr(source)] {
        if (const auto alive = weak.lock()) run(alive);
    });
}

}  // namespace k8s_sd::inline v0::detail
