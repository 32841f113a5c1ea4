#include "event_queue.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd_c {

void EventQueue::admit(k8s_sd_id watch) {
    const std::lock_guard lock(mutex_);
    admitted_.insert(watch);
}

void EventQueue::push(const std::shared_ptr<Slot>& slot, EventPtr event) {
    EventPtr replaced;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    if (closed_ || !admitted_.contains(event->watch().id)) return;
    if (!slot->event_) waiting_.push_back(slot);  // first, since it may throw
    replaced = std::exchange(slot->event_, std::move(event));
    update_fd();
}

EventPtr EventQueue::take() {
    std::shared_ptr<Slot> slot;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return nullptr;
    slot = waiting_.front();
    // First, since it may throw: then the event is still there for the next call.
    if (slot->on_taken_) slot->on_taken_();
    waiting_.pop_front();
    EventPtr event = std::move(slot->event_);
    update_fd();
    return event;
}

void EventQueue::clear(k8s_sd_id watch) noexcept {
    for (;;) {
        std::shared_ptr<Slot> slot;  // destroyed without the mutex, as the event
        EventPtr event;
        const std::lock_guard lock(mutex_);
        const auto it = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& waiting) {
            return waiting->event_->watch().id == watch;
        });
        if (it == waiting_.end()) return;
        slot = std::move(*it);
        event = std::move(slot->event_);
        waiting_.erase(it);
        update_fd();
    }
}

void EventQueue::drop(k8s_sd_id watch) noexcept {
    {
        const std::lock_guard lock(mutex_);
        admitted_.erase(watch);
    }
    clear(watch);
}

void EventQueue::close() {
    std::deque<std::shared_ptr<Slot>> dropped;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(waiting_);
    update_fd();
}

bool EventQueue::closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

bool EventQueue::ready() const {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
}

bool EventQueue::wait(std::optional<std::chrono::steady_clock::time_point> end) const {
    std::unique_lock lock(mutex_);
    const auto ended = [&] { return closed_ || !waiting_.empty(); };
    if (end) {
        changed_.wait_until(lock, *end, ended);
    } else {
        changed_.wait(lock, ended);
    }
    return !waiting_.empty();
}

void EventQueue::update_fd() {
    const bool readable = closed_ || !waiting_.empty();
    if (readable == signalled_) return;
    signalled_ = readable;
    if (!readable) return fd_.reset();
    fd_.set();
    changed_.notify_all();
}

}  // namespace k8s_sd_c
