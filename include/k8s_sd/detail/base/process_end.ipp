#include "k8s_sd/detail/base/process_end.hpp"

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

struct ProcessEnd {
    std::atomic<bool> has_begun = false;
    std::mutex mutex;
    std::condition_variable idle;
    std::size_t busy = 0;  // threads in this state
};

namespace {

/// Allows for a computation between two calls of halt_at_exit() on a slow machine.
constexpr std::chrono::milliseconds max_exit_wait{500};

/// Null in a thread of the host, and during a blocking call.
thread_local ProcessEnd* end_of_busy_thread = nullptr;

ProcessEnd& process_end() {
    static const Immortal<PerProcess<ProcessEnd>> ends;
    return ends->get();
}

void become_idle(ProcessEnd& end) noexcept {
    const std::lock_guard lock(end.mutex);
    --end.busy;
    end.idle.notify_all();
}

void become_busy(ProcessEnd& end) noexcept {
    {
        const std::lock_guard lock(end.mutex);
        if (!end.has_begun) {
            ++end.busy;
            return;
        }
    }
    for (;;) ::pause();
}

void wait_for_busy_threads() {
    ProcessEnd& end = process_end();
    // A busy thread that calls exit() itself must neither be waited for nor be stopped.
    const std::size_t own = std::exchange(end_of_busy_thread, nullptr) ? 1 : 0;
    std::unique_lock lock(end.mutex);
    end.has_begun = true;
    end.idle.wait_for(lock, max_exit_wait, [&] { return end.busy <= own; });
}

}  // namespace

void wait_at_exit() { std::atexit(wait_for_busy_threads); }

DetachedThread::DetachedThread() noexcept {
    ProcessEnd& end = process_end();
    become_busy(end);
    end_of_busy_thread = &end;
}

DetachedThread::~DetachedThread() {
    if (ProcessEnd* const end = std::exchange(end_of_busy_thread, nullptr)) become_idle(*end);
}

BlockingCall::BlockingCall() noexcept : end_(std::exchange(end_of_busy_thread, nullptr)) {
    if (end_) become_idle(*end_);
}

BlockingCall::~BlockingCall() {
    if (!end_) return;
    become_busy(*end_);
    end_of_busy_thread = end_;
}

void halt_at_exit() noexcept {
    ProcessEnd* const end = end_of_busy_thread;
    if (!end || !end->has_begun.load(std::memory_order_relaxed)) return;
    become_idle(*end);
    become_busy(*end);  // never returns
}

}  // namespace k8s_sd::inline v0::detail
