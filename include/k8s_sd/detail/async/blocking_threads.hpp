#pragma once

#include "k8s_sd/detail/base/process_end.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <list>
#include <mutex>
#include <string>

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
    /// \param max_of_group  maximum number of threads for the calls of one group
    BlockingThreads(std::size_t max_threads, std::size_t max_waiting,
                    std::size_t max_of_group = std::numeric_limits<std::size_t>::max())
        : max_threads_(max_threads), max_waiting_(max_waiting), max_of_group_(max_of_group) {}
    BlockingThreads(const BlockingThreads&) = delete;
    BlockingThreads& operator=(const BlockingThreads&) = delete;

    /// Runs `call` in one of the threads. Exceptions are ignored.
    /// \param group  calls that may block for the same reason
    /// \return false if the queue is full, or there is no memory or no thread; the call is dropped
    bool run(std::function<void()> call, const std::string& group = {});

 private:
    struct Call {
        std::string group;
        std::function<void()> function;
    };
    /// Calls move between lists: a thread needs no memory to go on.
    using Calls = std::list<Call>;
    /// A waiting call whose group has room has no thread only if there are max_threads_ of them.
    struct State {
        std::mutex mutex;
        std::size_t threads = 0;
        Calls waiting;
        Calls running;
    };

    bool has_room(const State&, const std::string& group) const noexcept;
    bool start_thread(State&) const;
    void work(State&) const noexcept;
    /// The first waiting call of a group with room, from now on running; null: none, and the thread
    /// ends.
    Call* next_call(State&) const noexcept;
    static void finish(State&, const Call&) noexcept;

    const std::size_t max_threads_;
    const std::size_t max_waiting_;
    const std::size_t max_of_group_;
    PerProcess<State> state_;
};

}  // namespace k8s_sd::inline v0::detail
