#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace k8s_sd::inline v0::detail {

/// Threads for calls that may block for long, such as those of libc's resolver. Nobody ever waits
/// for them: no context, no signal and not the end of the process. So an object of this class must
/// never be destroyed, and a call owns whatever it uses. There is a thread while there is
/// something to call. A child that the host forks has threads of its own. Thread-safe.
class BlockingThreads {
 public:
    /// \param most_threads  at the same time
    /// \param most_waiting  calls that wait for a thread
    BlockingThreads(std::size_t most_threads, std::size_t most_waiting)
        : most_threads_(most_threads), most_waiting_(most_waiting), state_(make_state()) {}
    BlockingThreads(const BlockingThreads&) = delete;
    BlockingThreads& operator=(const BlockingThreads&) = delete;

    /// Calls `call` in one of the threads. What it throws is ignored.
    /// \return false if too many wait or no thread can be started; then it is not called
    bool run(std::function<void()> call);

 private:
    /// Of one process. Never destroyed.
    struct State;

    static State* make_state();
    State& state();
    static bool start_thread(State&);
    static void work(State&) noexcept;

    const std::size_t most_threads_;
    const std::size_t most_waiting_;
    std::atomic<State*> state_;
};

}  // namespace k8s_sd::inline v0::detail
