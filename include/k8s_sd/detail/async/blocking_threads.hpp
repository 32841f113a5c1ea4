#pragma once

#include "k8s_sd/detail/base/process_end.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// Threads for calls with long blocking times, such as those of libc's resolver. No context and no
/// signal waits for them. exit() waits for running computations, but not for blocked calls (see
/// DetachedThread). Therefore an object of this class must never be destroyed, a call owns all its
/// data, and blocking operations are wrapped in BlockingCall. Threads exist only while there are
/// calls. A forked child of the host has its own threads. Thread-safe.
class BlockingThreads {
 public:
    /// \param max_threads  maximum number of threads
    /// \param max_waiting  maximum number of queued calls
    BlockingThreads(std::size_t max_threads, std::size_t max_waiting)
        : max_threads_(max_threads), max_waiting_(max_waiting) {}
    BlockingThreads(const BlockingThreads&) = delete;
    BlockingThreads& operator=(const BlockingThreads&) = delete;

    /// Runs `call` in one of the threads. Exceptions are ignored.
    /// \return false if the queue is full or no thread can be started; the call is dropped
    bool run(std::function<void()> call);

 private:
    struct State {
        std::mutex mutex;
        std::size_t threads = 0;
        std::deque<std::function<void()>> waiting;
    };

    static bool start_thread(State&);
    static void work(State&) noexcept;

    const std::size_t max_threads_;
    const std::size_t max_waiting_;
    PerProcess<State> state_;
};

}  // namespace k8s_sd::inline v0::detail
