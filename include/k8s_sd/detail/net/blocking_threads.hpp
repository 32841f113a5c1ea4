#pragma once

#include "k8s_sd/detail/base/immortal.hpp"
#include "k8s_sd/detail/base/per_process.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// Threads for calls that may block for long, such as those of libc's resolver. Nobody ever waits
/// for them: no context and no signal. exit() waits for a call that computes, and not for one that
/// blocks (see DetachedThread). So an object of this class must never be destroyed, a call owns
/// whatever it uses, and what blocks in it is a BlockingCall. There is a thread while there is
/// something to call. A child that the host forks has threads of its own. Thread-safe.
class BlockingThreads {
 public:
    /// \param most_threads  at the same time
    /// \param most_waiting  calls that wait for a thread
    BlockingThreads(std::size_t most_threads, std::size_t most_waiting)
        : most_threads_(most_threads), most_waiting_(most_waiting) {}
    BlockingThreads(const BlockingThreads&) = delete;
    BlockingThreads& operator=(const BlockingThreads&) = delete;

    /// Calls `call` in one of the threads. What it throws is ignored.
    /// \return false if too many wait or no thread can be started; then it is not called
    bool run(std::function<void()> call);

 private:
    struct State {
        std::mutex mutex;
        std::size_t threads = 0;
        std::deque<std::function<void()>> waiting;
    };

    static bool start_thread(State&);
    static void work(State&) noexcept;

    const std::size_t most_threads_;
    const std::size_t most_waiting_;
    PerProcess<State> state_;
};

}  // namespace k8s_sd::inline v0::detail
