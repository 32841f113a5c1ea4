#include "k8s_sd/detail/async/permit_queue.hpp"

#include <boost/asio/post.hpp>

namespace k8s_sd::inline v0::detail {

/// All members but the executor are guarded by the mutex. Whoever moves the handler out must invoke
/// or destroy it.
struct PermitQueue::Request {
    asio::any_io_executor executor;
    Handler handler;
    Permit granted;
    Requests* queue = nullptr;  ///< null: no longer queued
    Requests::iterator position;
};

PermitQueue::RequestHandle PermitQueue::async_permit(asio::any_io_executor executor,
                                                     Handler handler, Urgency urgency) {
    const auto request = std::make_shared<Request>();
    request->executor = std::move(executor);
    request->handler = std::move(handler);
    {
        const std::lock_guard lock(mutex_);
        request->queue = urgency == Urgency::urgent ? &urgent_ : &normal_;
        request->position = request->queue->insert(request->queue->end(), request);
        count_waiting(1);
    }
    RequestHandle handle(shared_from_this(), request);
    hand_out();
    return handle;
}

PermitQueue::Permit PermitQueue::try_permit(Urgency urgency) {
    const std::lock_guard lock(mutex_);
    const bool first = urgent_.empty() && (urgency == Urgency::urgent || normal_.empty());
    if (!first || !has_permit(urgency)) return {};
    ++granted_;
    ++*gauges_.granted;
    return Permit(shared_from_this());
}

/// Requires the mutex.
bool PermitQueue::has_permit(Urgency urgency) const noexcept {
    const std::size_t reserved = urgency == Urgency::urgent ? 0 : limit_.reserved;
    return limit_.permits == 0 || granted_ + reserved < limit_.permits;
}

/// The queue whose first request gets the next permit; null: none. Requires the mutex.
PermitQueue::Requests* PermitQueue::next_queue() noexcept {
    if (!urgent_.empty()) return has_permit(Urgency::urgent) ? &urgent_ : nullptr;
    return !normal_.empty() && has_permit(Urgency::normal) ? &normal_ : nullptr;
}

// One call at a time: a stopped executor destroys posted handlers, their permits are returned, and
// this would recurse through the whole queue.
void PermitQueue::hand_out() noexcept {
    std::unique_lock lock(mutex_);
    if (std::exchange(handing_out_, true)) return;
    while (Requests* const queue = next_queue()) {
        std::shared_ptr<Request> next = std::move(queue->front());
        queue->pop_front();
        ++granted_;
        count_waiting(-1);
        ++*gauges_.granted;
        next->queue = nullptr;
        next->granted = Permit(shared_from_this());
        lock.unlock();
        post(next);
        next.reset();
        lock.lock();
    }
    handing_out_ = false;
}

void PermitQueue::give_back() noexcept {
    {
        const std::lock_guard lock(mutex_);
        --granted_;
    }
    --*gauges_.granted;
    hand_out();
}

void PermitQueue::post(const std::shared_ptr<Request>& request) {
    asio::post(request->executor, [self = shared_from_this(), request] { self->run(*request); });
}

void PermitQueue::run(Request& request) {
    Handler handler;
    Permit permit;
    {
        const std::lock_guard lock(mutex_);
        handler.swap(request.handler);
        std::swap(permit, request.granted);
    }
    if (handler) handler(std::move(permit));
}

void PermitQueue::withdraw(Request& request) noexcept {
    Handler handler;
    Permit permit;
    const std::lock_guard lock(mutex_);
    handler.swap(request.handler);
    std::swap(permit, request.granted);
    if (request.queue == nullptr) return;
    count_waiting(-1);
    std::exchange(request.queue, nullptr)->erase(request.position);
}

void PermitQueue::count_waiting(int change) noexcept {
    if (gauges_.waiting) *gauges_.waiting += change;
}

// --- permits and handles -------------------------------------------------------------------------

void PermitQueue::Permit::reset() noexcept {
    if (const auto queue = std::exchange(queue_, nullptr)) queue->give_back();
}

PermitQueue::Permit& PermitQueue::Permit::operator=(Permit&& other) noexcept {
    const Permit before = std::move(*this);
    queue_ = std::move(other.queue_);
    return *this;
}

void PermitQueue::RequestHandle::reset() noexcept {
    const auto request = std::exchange(request_, nullptr);
    const auto queue = std::exchange(queue_, nullptr);
    if (request) queue->withdraw(*request);
}

PermitQueue::RequestHandle& PermitQueue::RequestHandle::operator=(RequestHandle&& other) noexcept {
    const RequestHandle before = std::move(*this);
    request_ = std::move(other.request_);
    queue_ = std::move(other.queue_);
    return *this;
}

}  // namespace k8s_sd::inline v0::detail
