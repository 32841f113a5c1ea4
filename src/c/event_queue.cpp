#include "event_queue.hpp"

#include <algorithm>
#include <iterator>

namespace k8s_sd_c {

void EventQueue::admit(k8s_sd_id watch) {
    const std::lock_guard lock(mutex_);
    admitted_.insert(watch);
}

void EventQueue::push(const std::shared_ptr<Slot>& slot, EventPtr event) {
    EventPtr replaced;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    if (closed_ || !admitted_.contains(event->watch().id)) return;
    replaced = std::exchange(slot->event_, std::move(event));
    if (!replaced) waiting_.push_back(slot);
    update_fd();
}

EventPtr EventQueue::take() {
    std::shared_ptr<Slot> slot;
    EventPtr event;
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return nullptr;
        slot = std::move(waiting_.front());
        waiting_.pop_front();
        event = std::move(slot->event_);
        update_fd();
    }
    if (slot->on_taken_) slot->on_taken_();
    return event;
}

void EventQueue::drop(k8s_sd_id watch) {
    std::deque<std::shared_ptr<Slot>> dropped;  // destroyed without the mutex
    const std::lock_guard lock(mutex_);
    admitted_.erase(watch);
    const auto others =
        std::stable_partition(waiting_.begin(), waiting_.end(),
                              [&](const auto& slot) { return slot->event_->watch().id != watch; });
    std::move(others, waiting_.end(), std::back_inserter(dropped));
    waiting_.erase(others, waiting_.end());
    update_fd();
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
