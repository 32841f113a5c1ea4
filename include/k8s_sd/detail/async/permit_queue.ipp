#include "k8s_sd/detail/async/permit_queue.hpp"

namespace k8s_sd::inline v0::detail {

PermitQueue::PermitQueue(Limit limit, const Gauges& gauges, std::shared_ptr<Clock> clock)
    : limit_(limit),
      granted_gauge_(gauges.granted),
      urgent_(std::make_shared<Queue>(gauges.waiting)),
      normal_(std::make_shared<Queue>(gauges.waiting)),
      reminder_(std::move(clock)) {}

PermitQueue::RequestHandle PermitQueue::async_permit(asio::any_io_executor executor,
                                                     Handler handler, Urgency urgency) {
    Queue& queue = urgency == Urgency::urgent ? *urgent_ : *normal_;
    RequestHandle handle = queue.add(std::move(executor), std::move(handler));
    hand_out();
    return handle;
}

PermitQueue::Permit PermitQueue::try_permit(Urgency urgency) {
    const std::lock_guard lock(mutex_);
    const bool first = urgent_->empty() && (urgency == Urgency::urgent || normal_->empty());
    return first && has_permit(urgency) ? grant() : Permit();
}

std::size_t PermitQueue::granted() const {
    const std::lock_guard lock(mutex_);
    return granted_;
}

/// Requires the mutex.
bool PermitQueue::has_permit(Urgency urgency) const noexcept {
    const std::size_t reserved = urgency == Urgency::urgent ? 0 : limit_.reserved;
    return limit_.permits == 0 || granted_ + reserved < limit_.permits;
}

/// The queue whose first request gets the next permit; null: none. Requires the mutex.
PermitQueue::Queue* PermitQueue::next_queue() const {
    if (!urgent_->empty()) return has_permit(Urgency::urgent) ? urgent_.get() : nullptr;
    return !normal_->empty() && has_permit(Urgency::normal) ? normal_.get() : nullptr;
}

/// Requires the mutex.
PermitQueue::Permit PermitQueue::grant() {
    ++granted_;
    if (granted_gauge_) ++*granted_gauge_;
    return Permit(shared_from_this());
}

// One call at a time: a stopped executor destroys posted handlers, their permits are returned, and
// this would recurse through the whole queue.
void PermitQueue::hand_out() noexcept {
    std::unique_lock lock(mutex_);
    if (std::exchange(handing_out_, true)) return;
    Queue* without_memory = nullptr;
    while (Queue* const queue = without_memory ? nullptr : next_queue()) {
        Permit permit = grant();
        lock.unlock();
        try {
            queue->grant_first(std::move(permit));
        } catch (...) {
            without_memory = queue;
        }
        lock.lock();
    }
    handing_out_ = false;
    lock.unlock();
    if (without_memory) hand_out_later(*without_memory);
}

/// Perhaps no permit is out that could return.
void PermitQueue::hand_out_later(const Queue& queue) noexcept {
    const asio::any_io_executor executor = queue.first_executor();
    if (!executor) return;
    reminder_.call_later(executor, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->hand_out();
    });
}

void PermitQueue::give_back() noexcept {
    {
        const std::lock_guard lock(mutex_);
        --granted_;
    }
    if (granted_gauge_) --*granted_gauge_;
    hand_out();
}

// --- permits -------------------------------------------------------------------------------------

void PermitQueue::Permit::reset() noexcept {
    if (const auto queue = std::exchange(queue_, nullptr)) queue->give_back();
}

PermitQueue::Permit& PermitQueue::Permit::operator=(Permit&& other) noexcept {
    const Permit before = std::move(*this);
    queue_ = std::move(other.queue_);
    return *this;
}

}  // namespace k8s_sd::inline v0::detail
