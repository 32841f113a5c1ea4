#include "k8s_sd/detail/net/blocking_threads.hpp"

#include <pthread.h>
#include <unistd.h>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Signals are for the host's threads: a thread that is started inherits what is blocked.
class BlockedSignals {
 public:
    BlockedSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &previous_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
    sigset_t previous_;
};

}  // namespace

struct BlockingThreads::State {
    const pid_t process = ::getpid();
    std::mutex mutex;
    std::size_t threads = 0;
    std::deque<std::function<void()>> waiting;
};

BlockingThreads::State* BlockingThreads::make_state() { return new State; }

// A child begins anew: the threads are not in it, and its copy of the mutex may be locked for ever.
BlockingThreads::State& BlockingThreads::state() {
    State* present = state_;
    if (present->process == ::getpid()) return *present;
    State* const fresh = make_state();
    if (state_.compare_exchange_strong(present, fresh)) return *fresh;
    delete fresh;
    return *present;
}

bool BlockingThreads::run(std::function<void()> call) {
    State& s = state();
    std::function<void()> refused;  // goes without the mutex: it may own what runs another call
    const std::lock_guard lock(s.mutex);
    if (s.waiting.size() >= most_waiting_) return false;
    s.waiting.push_back(std::move(call));
    if (s.threads >= most_threads_ || start_thread(s) || s.threads > 0) return true;
    refused.swap(s.waiting.back());
    s.waiting.pop_back();
    return false;
}

bool BlockingThreads::start_thread(State& s) {
    const BlockedSignals blocked;
    try {
        std::thread([&s] { work(s); }).detach();
    } catch (...) {  // no thread, or no memory for it
        return false;
    }
    ++s.threads;
    return true;
}

void BlockingThreads::work(State& s) noexcept {
    for (;;) {
        std::function<void()> call;
        {
            const std::lock_guard lock(s.mutex);
            if (s.waiting.empty()) {
                --s.threads;
                return;
            }
            call = std::move(s.waiting.front());
            s.waiting.pop_front();
        }
        try {
            call();
        } catch (...) {  // NOLINT(bugprone-empty-catch): nobody could be told
        }
    }
}

}  // namespace k8s_sd::inline v0::detail
