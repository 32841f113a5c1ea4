#pragma once

#include "event.hpp"
#include "ready_fd.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace k8s_sd_c {

/// A place for one event in the queue: the bound of the memory for events. Its owner coalesces
/// changes until the host has taken the event.
class Slot {
 public:
    /// \param on_taken  called by the thread that takes the event, under the mutex of the queue
    explicit Slot(std::function<void()> on_taken = {}) : on_taken_(std::move(on_taken)) {}

 private:
    friend class EventQueue;
    const std::function<void()> on_taken_;
    EventPtr event_;  ///< protected by the mutex of the queue
};

/// The events that wait for the host. Thread-safe.
class EventQueue {
 public:
    /// Admits the events of a watch.
    void admit(k8s_sd_id watch);
    /// Adds an event of an admitted watch, or replaces the one in the slot.
    void push(const std::shared_ptr<Slot>&, EventPtr);
    /// Takes the oldest event; null: there is none.
    EventPtr take();
    /// Drops the events of a watch.
    void clear(k8s_sd_id watch) noexcept;
    /// Drops the events of a watch, and those to come.
    void drop(k8s_sd_id watch) noexcept;
    /// Drops all events; later ones are ignored.
    void close();

    bool closed() const;
    /// Whether take() has an event.
    bool ready() const;
    /// Waits until ready() or closed(). \param end  nullopt: no limit \return ready()
    bool wait(std::optional<std::chrono::steady_clock::time_point> end) const;
    /// Readable while ready() or closed().
    const ReadyFd& fd() const noexcept { return fd_; }

 private:
    void update_fd();

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::deque<std::shared_ptr<Slot>> waiting_;  ///< each with an event
    std::set<k8s_sd_id> admitted_;
    bool closed_ = false;
    bool signalled_ = false;
    ReadyFd fd_;
};

}  // namespace k8s_sd_c
