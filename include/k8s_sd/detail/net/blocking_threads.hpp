#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// Threads for calls that may block for long, such as those of libc's resolver. Nobody ever waits
/// for them: no context, no signal and not the end of the process. So an object of this class must
/// never be destroyed, and a call owns whatever it uses. There is a thread while there is
/// something to call. Thread-safe.
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
    bool start_thread();
    void work() noexcept;

    const std::size_t most_threads_;
    const std::size_t most_waiting_;
    std::mutex mutex_;
    std::size_t threads_ = 0;
    std::deque<std::function<void()>> waiting_;
};

}  // namespace k8s_sd::inline v0::detail
